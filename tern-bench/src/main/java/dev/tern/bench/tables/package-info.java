/** Benchmarks of embedding tables and of checkpoints; soak tests and crashes. */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.tables;
