package dev.tern.internal.cuda.run;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.tern.internal.cuda.driver.CublasLt;
import dev.tern.internal.cuda.driver.CudaDevice;
import dev.tern.internal.cuda.driver.CudaGrid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Collects the launches of a step. Their parameters live as long as the arena. */
final class Launches {
  /** Threads of a block, unless a kernel says otherwise. */
  static final int THREADS = 256;

  /** Blocks that a multiprocessor is given at most: more only add work to begin and end. */
  private static final int BLOCKS_EACH = 8;

  private static final int SHARED_BYTES = 48 << 10;

  private final CudaDevice device;
  private final KernelLibrary.Kernels kernels;
  private final Arena arena;
  private final List<Launch> launches = new ArrayList<>();
  private final List<AutoCloseable> held;

  /**
   * @param held what the launches use is added here, to be closed after their last run
   */
  Launches(
      CudaDevice device, KernelLibrary.Kernels kernels, Arena arena, List<AutoCloseable> held) {
    this.device = device;
    this.kernels = kernels;
    this.arena = arena;
    this.held = held;
  }

  List<Launch> toList() {
    return List.copyOf(launches);
  }

  /** Blocks for so many threads, which take several shares each where these are many. */
  int blocks(long threads) {
    long most = (long) BLOCKS_EACH * device.limits().multiprocessors();
    return (int) Math.clamp((threads + THREADS - 1) / THREADS, 1, most);
  }

  /** Blocks of so many samples, one each, or several where these are many. */
  int samples(int count) {
    return Math.clamp(count, 1, 2 * BLOCKS_EACH * device.limits().multiprocessors());
  }

  /** The side of the tiles of products: the larger where these give most multiprocessors work. */
  int tile(int m, int n, int layers) {
    long large = (m + 127L) / 128 * ((n + 127L) / 128) * layers;
    return 4 * large >= 3L * device.limits().multiprocessors() ? 128 : 64;
  }

  /** The most bytes of shared memory that a block gets without asking for more. */
  static boolean fitsShared(long bytes) {
    return bytes <= SHARED_BYTES;
  }

  /** Adds a copy. */
  void copy(long from, long to, long bytes) {
    if (bytes > 0) {
      launches.add(stream -> device.driver().memory().copy(to, from, bytes, stream));
    }
  }

  /** Adds a product of a library. */
  void add(CublasLt.Product product, long a, long b, long c, long workspace) {
    held.add(product);
    launches.add(stream -> product.run(a, b, c, workspace, stream));
  }

  /** Adds a launch with a thread for each share of the work; nothing where there is none. */
  void add(String kernel, long threads, Object... values) {
    if (threads > 0) {
      add(kernel, CudaGrid.of(blocks(threads), THREADS), values);
    }
  }

  /** The same for a kernel that was written for the plan. */
  void addWritten(String kernel, long threads, Object... values) {
    if (threads > 0) {
      CudaGrid grid = CudaGrid.of(blocks(threads), THREADS);
      add(kernels.written().applyAsLong(kernel), grid, values);
    }
  }

  /** Adds a launch; values are {@code Long} (also addresses), {@code Integer} and {@code Float}. */
  void add(String kernel, CudaGrid grid, Object... values) {
    add(kernels.fixed().applyAsLong(kernel), grid, values);
  }

  private void add(long kernel, CudaGrid grid, Object... values) {
    MemorySegment all = arena.allocate(8L * values.length, 8);
    MemorySegment pointers = arena.allocate(ADDRESS, values.length);
    for (int i = 0; i < values.length; i++) {
      MemorySegment value = all.asSlice(8L * i, 8);
      switch (values[i]) {
        case Long number -> value.set(JAVA_LONG, 0, number);
        case Integer number -> value.set(JAVA_INT, 0, number);
        case Float number -> value.set(JAVA_FLOAT, 0, number);
        default -> throw new AssertionError("a parameter of " + values[i].getClass());
      }
      pointers.setAtIndex(ADDRESS, i, value);
    }
    launches.add(stream -> device.driver().modules().launch(kernel, grid, pointers, stream));
  }
}
