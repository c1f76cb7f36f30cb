package dev.tern.internal.kernel;

import com.sun.management.ThreadMXBean;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/** The tile kernel in use: scalar at first, vectors once compiled; both give the same bits. */
final class Tiles {
  private static final int ROUNDS = 4_000;
  private static final int DEPTH = 64;
  private static final int COLUMNS = VectorSupport.available() ? 2 * VectorSupport.lanes() : 16;
  private static volatile TileKernel active =
      VectorSupport.available() && Warmup.EAGER ? new VectorTile() : new ScalarTile(COLUMNS);

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      Warmup.enqueue(Tiles::warm);
    }
  }

  private Tiles() {}

  static TileKernel active() {
    return active;
  }

  /** Columns of a tile. */
  static int columns() {
    return COLUMNS;
  }

  /**
   * Drives the vector kernel until it allocates nothing, which means it is compiled. It takes turns
   * with kernels that do nothing: with one receiver the JIT would compile the kernel's methods into
   * this loop, and leave those that others call to the interpreter.
   */
  private static void warm(ThreadMXBean bean) {
    TileKernel kernel = new VectorTile();
    TileKernel[] turns = {kernel, new Idle(), new OtherIdle(), new ThirdIdle()};
    try (Arena arena = Arena.ofConfined()) {
      long a = arena.allocate(4L * TileKernel.ROWS * DEPTH, 64).address();
      long b = arena.allocate(4L * COLUMNS * DEPTH, 64).address();
      long c = arena.allocate(4L * COLUMNS * TileKernel.ROWS, 64).address();
      Memory.zero(c, 4L * COLUMNS * TileKernel.ROWS);
      int quiet = 0;
      for (int round = 0; round < ROUNDS && quiet < 3; round++) {
        long before = bean.getCurrentThreadAllocatedBytes();
        for (int call = 0; call < 16 * turns.length; call++) {
          drive(turns[call % turns.length], a, b, c);
        }
        quiet = bean.getCurrentThreadAllocatedBytes() - before < 64 ? quiet + 1 : 0;
      }
      if (quiet >= 3) {
        active = kernel;
      }
    }
  }

  private static void drive(TileKernel kernel, long a, long b, long c) {
    long row = 4L * COLUMNS;
    kernel.tile(a, 4L * TileKernel.ROWS, b, row, c, row, c, row, DEPTH);
    kernel.rows(a, 4L * DEPTH, b, row, c, row, c, row, DEPTH);
    kernel.combine(a, b, row, c, COLUMNS, DEPTH);
    kernel.combine(a, b, row, c, COLUMNS - 1, DEPTH - 1);
    kernel.dots(a, 4L * DEPTH, b, c, 4, TileKernel.ROWS, DEPTH, true);
    kernel.dots(a, 4L * DEPTH, b, c, 4, TileKernel.ROWS, DEPTH - 1, false);
    kernel.copy(c, row, b, row, TileKernel.ROWS, COLUMNS);
    kernel.copy(c, row, b, row, TileKernel.ROWS, COLUMNS - 1);
    kernel.copy(c, row, b, row, TileKernel.ROWS, TileKernel.ROWS);
  }

  private static class Idle implements TileKernel {
    @Override
    public int columns() {
      return COLUMNS;
    }

    @Override
    public void tile(
        long a,
        long aStep,
        long b,
        long bStep,
        long start,
        long startRow,
        long c,
        long cRow,
        int k) {}

    @Override
    public void rows(
        long a,
        long aRow,
        long b,
        long bStep,
        long start,
        long startRow,
        long c,
        long cRow,
        int k) {}

    @Override
    public void combine(long x, long rows, long rowStep, long y, int count, int k) {}

    @Override
    public void dots(
        long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean add) {}

    @Override
    public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {}
  }

  private static final class OtherIdle extends Idle {}

  private static final class ThirdIdle extends Idle {}
}
