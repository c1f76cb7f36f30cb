/**
 * CUDA C++ of plans: the second printer of a plan's steps, beside the bytecode of the CPU. It does
 * the same IEEE operations in the same order, so both give the same bits.
 */
@org.jspecify.annotations.NullMarked
package dev.tern.internal.cuda.text;
