/** What a CUDA device reaches. */
@org.jspecify.annotations.NullMarked
package dev.tern.bench.device;
