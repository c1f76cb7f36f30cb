/**
 * What files that a configuration describes are written in, and which of their columns are read.
 */
@NullMarked
package dev.tern.cli.files;

import org.jspecify.annotations.NullMarked;
