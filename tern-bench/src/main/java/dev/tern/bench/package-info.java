/** Benchmarks: micro-benchmarks and end-to-end suites, with the scripts that run their peers. */
@org.jspecify.annotations.NullMarked
package dev.tern.bench;
