/** What files that a configuration describes are written in. */
@NullMarked
package dev.tern.cli.files;

import org.jspecify.annotations.NullMarked;
