package dev.tern.internal.cuda.driver;

/**
 * How many blocks and threads a kernel is launched with.
 *
 * @param x blocks, at least 1
 * @param y blocks, 1 to 65,535
 * @param z blocks, 1 to 65,535
 * @param threadsX threads of a block; the product of all three is at most 1,024
 * @param threadsY threads of a block
 * @param threadsZ threads of a block, at most 64
 * @param sharedBytes bytes of dynamic shared memory of a block
 */
public record CudaGrid(
    int x, int y, int z, int threadsX, int threadsY, int threadsZ, int sharedBytes) {
  /** A row of {@code blocks} blocks with {@code threads} threads each. */
  public static CudaGrid of(int blocks, int threads) {
    return new CudaGrid(blocks, 1, 1, threads, 1, 1, 0);
  }

  /** The same with {@code bytes} bytes of dynamic shared memory a block. */
  public CudaGrid withSharedBytes(int bytes) {
    return new CudaGrid(x, y, z, threadsX, threadsY, threadsZ, bytes);
  }

  @Override
  public String toString() {
    return "%d x %d x %d blocks of %d x %d x %d threads with %d bytes of shared memory"
        .formatted(x, y, z, threadsX, threadsY, threadsZ, sharedBytes);
  }
}
