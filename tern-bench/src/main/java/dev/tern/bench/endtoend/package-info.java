/**
 * A model's whole life in small: trained, published, served under load, trained on, killed and
 * begun again, with its scores compared to the bit.
 */
@NullMarked
package dev.tern.bench.endtoend;

import org.jspecify.annotations.NullMarked;
