/** What commands say while they work: progress, notes and warnings, on standard error. */
@NullMarked
package dev.tern.cli.notes;

import org.jspecify.annotations.NullMarked;
