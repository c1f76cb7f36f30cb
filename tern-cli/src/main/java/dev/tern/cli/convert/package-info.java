/** {@code tern export} and {@code tern import}: models in the formats of other tools. */
@NullMarked
package dev.tern.cli.convert;

import org.jspecify.annotations.NullMarked;
