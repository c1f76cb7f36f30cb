/** Search for good values of configuration keys: {@code tern tune}. */
@NullMarked
package dev.tern.cli.tune;

import org.jspecify.annotations.NullMarked;
