/** Benchmarks of off-heap memory: blocks, budgets, recomputation and the checked mode. */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.memory;
