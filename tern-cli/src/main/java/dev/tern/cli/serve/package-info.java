/** {@code tern serve}: its options, its signals, and the question whether a server is ready. */
@NullMarked
package dev.tern.cli.serve;

import org.jspecify.annotations.NullMarked;
