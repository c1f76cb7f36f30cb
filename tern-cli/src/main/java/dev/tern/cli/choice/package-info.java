/** Arguments that several commands share, each written once. */
@NullMarked
package dev.tern.cli.choice;

import org.jspecify.annotations.NullMarked;
