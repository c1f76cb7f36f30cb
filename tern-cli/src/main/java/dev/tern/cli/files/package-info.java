/**
 * The files that a configuration describes: {@link dev.tern.cli.files.DataSource} opens them, knows
 * which of their columns are read, and refuses rows that no model can learn from.
 */
@NullMarked
package dev.tern.cli.files;

import org.jspecify.annotations.NullMarked;
