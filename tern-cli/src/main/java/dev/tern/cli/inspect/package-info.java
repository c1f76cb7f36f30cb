/** What {@code tern data inspect} shows of rows: statistics of columns, and a page of rows. */
@NullMarked
package dev.tern.cli.inspect;

import org.jspecify.annotations.NullMarked;
