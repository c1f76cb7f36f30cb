package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The structures that calls take, by the offsets of {@code cuda.h}, equal in CUDA 12 and 13. */
final class CudaStructs {
  private static final int PINNED = 1;
  private static final int ON_DEVICE = 1;
  private static final int READ_WRITE = 3;
  private static final int COOPERATIVE = 2;
  private static final int ATTRIBUTE_BYTES = 72;

  private CudaStructs() {}

  /** {@code CUmemAllocationProp}: memory of a device. */
  static MemorySegment allocation(Arena arena, int device) {
    MemorySegment out = arena.allocate(32, 8);
    out.set(JAVA_INT, 0, PINNED);
    out.set(JAVA_INT, 8, ON_DEVICE);
    out.set(JAVA_INT, 12, device);
    return out;
  }

  /** {@code CUmemAccessDesc}: a device reads and writes. */
  static MemorySegment access(Arena arena, int device) {
    MemorySegment out = arena.allocate(12, 4);
    out.set(JAVA_INT, 0, ON_DEVICE);
    out.set(JAVA_INT, 4, device);
    out.set(JAVA_INT, 8, READ_WRITE);
    return out;
  }

  /** {@code CUlaunchConfig} with one attribute: all blocks work at the same time. */
  static MemorySegment cooperative(Arena arena, CudaGrid grid, long stream) {
    MemorySegment attribute = arena.allocate(ATTRIBUTE_BYTES, 8);
    attribute.set(JAVA_INT, 0, COOPERATIVE);
    attribute.set(JAVA_INT, 8, 1);
    MemorySegment out = arena.allocate(56, 8);
    shape(out, 0, grid);
    out.set(JAVA_LONG, 32, stream);
    out.set(JAVA_LONG, 40, attribute.address());
    out.set(JAVA_INT, 48, 1);
    return out;
  }

  /** {@code CUDA_KERNEL_NODE_PARAMS} of version 2. */
  static MemorySegment kernelNode(
      Arena arena, long kernel, CudaGrid grid, MemorySegment parameters) {
    MemorySegment out = arena.allocate(72, 8);
    out.set(JAVA_LONG, 0, kernel);
    shape(out, 8, grid);
    out.set(JAVA_LONG, 40, parameters.address());
    return out;
  }

  private static void shape(MemorySegment out, long at, CudaGrid grid) {
    out.set(JAVA_INT, at, grid.x());
    out.set(JAVA_INT, at + 4, grid.y());
    out.set(JAVA_INT, at + 8, grid.z());
    out.set(JAVA_INT, at + 12, grid.threadsX());
    out.set(JAVA_INT, at + 16, grid.threadsY());
    out.set(JAVA_INT, at + 20, grid.threadsZ());
    out.set(JAVA_INT, at + 24, grid.sharedBytes());
  }
}
