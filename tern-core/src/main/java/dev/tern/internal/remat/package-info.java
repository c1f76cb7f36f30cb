/**
 * Values under a hard budget: which to evict when room is needed, how to compute them again, and
 * what an equal step before teaches about both.
 */
@NullMarked
package dev.tern.internal.remat;

import org.jspecify.annotations.NullMarked;
