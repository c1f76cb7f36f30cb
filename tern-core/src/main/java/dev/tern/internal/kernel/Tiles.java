package dev.tern.internal.kernel;

import java.lang.foreign.Arena;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The tile kernel in use: scalar at first, vectors once compiled; both give the same bits. */
final class Tiles {
  private static final int REPEATS = 8;
  private static final int DEPTH = 64;
  private static final int SHALLOW = 13;
  private static final int GROUPS = DEPTH / 4;
  private static final int COLUMNS = VectorSupport.available() ? 2 * VectorSupport.lanes() : 16;
  private static volatile TileKernel active =
      VectorSupport.available() && Warmup.EAGER
          ? new TwoTermTile(new VectorTile(), new VectorPackedTile())
          : new ScalarTile(COLUMNS);

  /** Once it is ready; of the warm-up thread. */
  private static @Nullable PackedTile packed;

  /** Kernels that may still come into use. */
  private static final AtomicInteger PENDING = new AtomicInteger();

  static {
    if (VectorSupport.available() && !Warmup.EAGER) {
      PENDING.set(2);
      Warmup.enqueue(() -> Optional.of(new TileWarmup()));
      Warmup.enqueue(() -> Optional.of(new PackedWarmup()));
    }
  }

  private Tiles() {}

  static TileKernel active() {
    return active;
  }

  /** Whether vector kernels are being made ready. */
  static boolean isPending() {
    return PENDING.get() > 0;
  }

  /** Columns of a tile. */
  static int columns() {
    return COLUMNS;
  }

  /**
   * The vector kernel in turn with kernels that do nothing. Matrix products hardly go without it.
   */
  private static final class TileWarmup implements Warmup.Candidate {
    private final TileKernel[] turns = {
      new VectorTile(), new Idle(), new OtherIdle(), new ThirdIdle()
    };
    private final Arena arena = Arena.ofConfined();
    private final long a = arena.allocate(4L * TileKernel.ROWS * DEPTH, 64).address();
    private final long b = arena.allocate(4L * COLUMNS * DEPTH, 64).address();
    private final long c = arena.allocate(4L * COLUMNS * TileKernel.ROWS, 64).address();
    private final long packed = arena.allocate(2 * 4L * COLUMNS * DEPTH, 64).address();

    @Override
    public void round(boolean large) {
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (TileKernel turn : turns) {
          drive(turn, a, b, c, packed);
        }
      }
    }

    @Override
    public void adopt() {
      use(turns[0]);
      giveUp();
    }

    @Override
    public void renew() {
      turns[0] = (TileKernel) FreshCode.copyOf(VectorTile.class);
    }

    @Override
    public void giveUp() {
      PENDING.decrementAndGet();
      arena.close();
    }
  }

  /** The faster loop over packed operands, which joins the kernel. */
  private static final class PackedWarmup implements Warmup.Candidate {
    private static final int ATTEMPTS = 3;
    private static final PackedTile IDLE = (a, aTurn, b, bTurn, start, row, c, cRow, k) -> {};
    private static final PackedTile IDLE_2 = (a, aTurn, b, bTurn, start, row, c, cRow, k) -> {};
    private static final PackedTile IDLE_3 = (a, aTurn, b, bTurn, start, row, c, cRow, k) -> {};

    private final PackedTile[] turns = {new VectorPackedTile(), IDLE, IDLE_2, IDLE_3};
    private final Arena arena = Arena.ofConfined();
    private final long a = arena.allocate(4L * TileKernel.ROWS * DEPTH, 64).address();
    private final long b = arena.allocate(4L * COLUMNS * DEPTH, 64).address();
    private final long c = arena.allocate(4L * COLUMNS * TileKernel.ROWS, 64).address();

    @Override
    public void round(boolean large) {
      long row = 4L * COLUMNS;
      long stripTurn = 4L * TileKernel.ROWS * PackedTile.TURN;
      for (int repeat = 0; repeat < 2 * REPEATS; repeat++) {
        for (PackedTile turn : turns) {
          turn.run(a, stripTurn, b, row * PackedTile.TURN, c, row, c, row, DEPTH);
        }
      }
    }

    @Override
    public void adopt() {
      packed = turns[0];
      if (!(active instanceof ScalarTile)) {
        use(active);
      }
      giveUp();
    }

    @Override
    public int attempts() {
      return ATTEMPTS;
    }

    @Override
    public void renew() {
      turns[0] = (PackedTile) FreshCode.copyOf(VectorPackedTile.class);
    }

    @Override
    public void giveUp() {
      PENDING.decrementAndGet();
      arena.close();
    }
  }

  private static void use(TileKernel kernel) {
    active = packed == null ? kernel : new TwoTermTile(kernel, packed);
  }

  private static void drive(TileKernel kernel, long a, long b, long c, long packed) {
    long row = 4L * COLUMNS;
    kernel.tile(a, 4L * TileKernel.ROWS, b, row, c, row, c, row, DEPTH);
    kernel.tile(a, 4L * TileKernel.ROWS, b, row, c, row, c, row, SHALLOW);
    kernel.rows(a, 4L * DEPTH, 4, b, row, c, row, c, row, DEPTH);
    kernel.narrow(a, 64, 4, b, row, c, row / 2, c, row / 2, DEPTH);
    kernel.combine(a, b, row, c, COLUMNS, DEPTH);
    kernel.combine(a, b, row, c, COLUMNS - 1, DEPTH - 1);
    kernel.outer(a, 4, b, c, row, TileKernel.ROWS, COLUMNS);
    kernel.outer(a, 4, b, c, row, TileKernel.ROWS, COLUMNS - 1);
    kernel.dots(a, 4L * DEPTH, b, c, 4, TileKernel.ROWS, DEPTH, true);
    kernel.dots(a, 4L * DEPTH, b, c, 4, TileKernel.ROWS, DEPTH - 1, false);
    kernel.copy(c, row, b, row, TileKernel.ROWS, COLUMNS);
    kernel.copy(c, row, b, row, TileKernel.ROWS, COLUMNS - 1);
    kernel.copy(c, row, b, row, TileKernel.ROWS, TileKernel.ROWS);
    // Many groups: what runs rarely is compiled late.
    kernel.spread(b, GROUPS * row, GROUPS, packed, 4 * row);
    kernel.spreadStrips(b, GROUPS * row, GROUPS, packed, 4 * row);
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
        long aStep,
        long b,
        long bStep,
        long start,
        long startRow,
        long c,
        long cRow,
        int k) {}

    @Override
    public void narrow(
        long a,
        long aRow,
        long aStep,
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
    public void outer(long x, long xStep, long y, long c, long cRow, int rows, int columns) {}

    @Override
    public void dots(
        long rows, long rowStep, long x, long y, long yStep, int count, int k, boolean add) {}

    @Override
    public void copy(long from, long fromRow, long to, long toRow, int rows, int columns) {}

    @Override
    public void spread(long from, long step, int groups, long to, long groupBytes) {}

    @Override
    public void spreadStrips(long from, long step, int groups, long to, long groupBytes) {}
  }

  private static final class OtherIdle extends Idle {}

  private static final class ThirdIdle extends Idle {}
}
