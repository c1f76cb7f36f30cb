/**
 * {@code tern data}: commands that convert, generate, inspect, split and verify files of rows,
 * without a model.
 */
@NullMarked
package dev.tern.cli.data;

import org.jspecify.annotations.NullMarked;
