package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CudaGrid;
import java.lang.foreign.MemorySegment;

/**
 * A launch of a kernel, made once.
 *
 * @param kernel its handle
 * @param parameters pointers to the values of its parameters
 */
record Launch(long kernel, CudaGrid grid, MemorySegment parameters) {}
