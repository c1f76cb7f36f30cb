package dev.tern.internal.kernel.matmul;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.VectorForm;
import java.lang.foreign.Arena;
import java.util.stream.Stream;

/**
 * The tile kernel in use. Each of its parts is scalar at first and by vectors once these are
 * compiled, with the same bits: see {@link VectorForm}. One for the process; the warm-up thread
 * alone exchanges it.
 */
final class TileKernels {
  private static final int ROWS = TileLoops.ROWS;
  private static final int COLUMNS = VectorSupport.available() ? 2 * VectorSupport.lanes() : 16;
  private static final long ROW = 4L * COLUMNS;
  private static final ScalarTile SCALAR = new ScalarTile(COLUMNS);

  // What kernels are driven on: a strip of A, a panel of B, a tile of C.
  private static final int REPEATS = 8;
  private static final int DEPTH = 64;
  private static final int SHALLOW = 13;
  private static final int GROUPS = DEPTH / 4;
  private static final long STRIP_BYTES = 4L * ROWS * DEPTH;
  private static final long PANEL_BYTES = ROW * DEPTH;

  private static final VectorForm<TileLoops> LOOPS =
      VectorForm.of(
          new VectorForm.Code<>(TileLoops.class, VectorTile.class, TileKernels::driveLoops),
          SCALAR,
          TileKernels::publish);
  private static final VectorForm<PackedTile> PACKED =
      VectorForm.of(
          new VectorForm.Code<>(PackedTile.class, VectorPackedTile.class, TileKernels::drivePacked),
          SCALAR,
          TileKernels::publish);
  private static final VectorForm<BlockKernel> BLOCKS =
      VectorForm.of(
          new VectorForm.Code<>(BlockKernel.class, VectorBlocks.class, TileKernels::driveBlocks),
          SCALAR,
          TileKernels::publish);
  private static final VectorForm<RowDots> DOTS =
      VectorForm.of(
          new VectorForm.Code<>(RowDots.class, VectorDots.class, TileKernels::driveDots),
          SCALAR,
          TileKernels::publish);

  private static volatile TileKernel active = parts();

  private TileKernels() {}

  /** The fastest kernel that is ready. */
  static TileKernel active() {
    return active;
  }

  /** Whether vector kernels are being made ready for the first time. */
  static boolean isPending() {
    return Stream.of(LOOPS, PACKED, BLOCKS, DOTS).anyMatch(VectorForm::isPending);
  }

  /** Columns of a tile: the width of a packed panel of B. */
  static int columns() {
    return COLUMNS;
  }

  /** All parts by vectors, compiled or not. */
  static TileKernel vectors() {
    TileLoops all = new TwoTermTile(new VectorTile(), new VectorPackedTile());
    return new TileKernel(all, new VectorBlocks(), new VectorDots());
  }

  private static void publish() {
    active = parts();
  }

  /** The parts in use. */
  private static TileKernel parts() {
    TileLoops loops = LOOPS.active();
    boolean both = PACKED.isVector() && LOOPS.isVector();
    return new TileKernel(
        both ? new TwoTermTile(loops, PACKED.active()) : loops, BLOCKS.active(), DOTS.active());
  }

  private static VectorForm.Driver<TileLoops> driveLoops(Arena arena) {
    long a = arena.allocate(STRIP_BYTES, 64).address();
    long b = arena.allocate(PANEL_BYTES, 64).address();
    long c = arena.allocate(ROW * ROWS, 64).address();
    TileStrides packed = new TileStrides(4, 4L * ROWS, ROW, ROW, true);
    TileStrides rows = new TileStrides(4L * DEPTH, 4, ROW, ROW, true);
    TileStrides narrow = new TileStrides(64, 4, ROW, ROW / 2, true);
    return (kernel, large) -> {
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        kernel.tile(packed, a, b, c, DEPTH);
        kernel.tile(packed, a, b, c, SHALLOW);
        kernel.rows(rows, a, b, c, DEPTH);
        kernel.narrow(narrow, a, b, c, DEPTH);
      }
    };
  }

  private static VectorForm.Driver<PackedTile> drivePacked(Arena arena) {
    long a = arena.allocate(STRIP_BYTES, 64).address();
    long b = arena.allocate(PANEL_BYTES, 64).address();
    long c = arena.allocate(ROW * ROWS, 64).address();
    TileStrides strides = new TileStrides(4, 4L * ROWS, ROW, ROW, true);
    return (kernel, large) -> {
      for (int repeat = 0; repeat < 2 * REPEATS; repeat++) {
        kernel.run(strides, a, b, c, DEPTH);
      }
    };
  }

  private static VectorForm.Driver<RowDots> driveDots(Arena arena) {
    long rows = arena.allocate(STRIP_BYTES, 64).address();
    long x = arena.allocate(PANEL_BYTES, 64).address();
    long y = arena.allocate(4L * ROWS, 64).address();
    RowDots.Shape adding = new RowDots.Shape(4L * DEPTH, 4, DEPTH, true);
    RowDots.Shape odd = new RowDots.Shape(4L * DEPTH, 4, DEPTH - 1, false);
    RowDots.Shape even = new RowDots.Shape(4L * DEPTH, 4, DEPTH, false);
    return (kernel, large) -> {
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        kernel.dots(adding, rows, x, y, ROWS);
        kernel.dots(odd, rows, x, y, ROWS - 1);
        kernel.dots(even, rows, x, y, ROWS - 3);
      }
    };
  }

  private static VectorForm.Driver<BlockKernel> driveBlocks(Arena arena) {
    long a = arena.allocate(STRIP_BYTES, 64).address();
    long b = arena.allocate(PANEL_BYTES, 64).address();
    long c = arena.allocate(ROW * ROWS, 64).address();
    long packed = arena.allocate(2 * PANEL_BYTES, 64).address();
    BlockKernel.Outer whole = new BlockKernel.Outer(4, ROW, COLUMNS);
    BlockKernel.Outer part = new BlockKernel.Outer(4, ROW, COLUMNS - 1);
    return (kernel, large) -> {
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        kernel.combine(a, b, ROW, c, COLUMNS, DEPTH);
        kernel.combine(a, b, ROW, c, COLUMNS - 1, DEPTH - 1);
        kernel.outer(whole, a, b, c, ROWS);
        kernel.outer(part, a, b, c, ROWS);
        kernel.copy(c, ROW, b, ROW, ROWS, COLUMNS);
        kernel.copy(c, ROW, b, ROW, ROWS, COLUMNS - 1);
        kernel.copy(c, ROW, b, ROW, ROWS, ROWS);
        // Many groups: what runs rarely is compiled late.
        kernel.spread(b, GROUPS * ROW, GROUPS, packed, 4 * ROW);
        kernel.spreadStrips(b, GROUPS * ROW, GROUPS, packed, 4 * ROW);
      }
    };
  }
}
