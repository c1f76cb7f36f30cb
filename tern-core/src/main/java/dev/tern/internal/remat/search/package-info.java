/** Finds out how a recorded step runs fastest within a budget of memory. */
@org.jspecify.annotations.NullMarked
package dev.tern.internal.remat.search;
