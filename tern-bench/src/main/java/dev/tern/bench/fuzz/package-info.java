/** Random programs, allocations and damaged files, held against plain references. */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.fuzz;
