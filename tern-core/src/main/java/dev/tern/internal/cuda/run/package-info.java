/** Runs plans on a CUDA device. */
@org.jspecify.annotations.NullMarked
package dev.tern.internal.cuda.run;
