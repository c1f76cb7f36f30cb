/**
 * {@code tern serve} and {@code tern publish}: their options, their signals, and the question
 * whether a server is ready.
 */
@NullMarked
package dev.tern.cli.serve;

import org.jspecify.annotations.NullMarked;
