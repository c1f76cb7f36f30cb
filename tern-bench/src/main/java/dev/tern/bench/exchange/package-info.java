/** Benchmarks and fuzzing of the transport between the workers of one training. */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.exchange;
