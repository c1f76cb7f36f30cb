/** What a trained model makes of columns: {@code tern importance} and {@code tern explain}. */
@NullMarked
package dev.tern.cli.understand;

import org.jspecify.annotations.NullMarked;
