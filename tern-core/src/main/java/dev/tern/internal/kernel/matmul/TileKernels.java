package dev.tern.internal.kernel.matmul;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.VectorForm;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The tile kernel in use. Each part is scalar until its vector form is compiled, which gives the
 * same bits: see {@link VectorForm}. There is one for the process: any thread may read {@link
 * #active}, the warm-up thread alone exchanges it. A run of a product uses the same one throughout.
 */
final class TileKernels {
  private static final int ROWS = TileLoops.ROWS;
  private static final int COLUMNS = VectorSupport.available() ? 2 * VectorSupport.lanes() : 16;
  private static final long ROW = 4L * COLUMNS;
  private static final ScalarTile SCALAR = new ScalarTile(COLUMNS);

  /** Memory that a kernel is run on: a strip of A, a panel of B, a tile of C. */
  private record Operands(long a, long b, long c) {
    Operands(Arena arena) {
      this(
          Memory.allocate(arena, STRIP_BYTES, 64, "warm-up").address(),
          Memory.allocate(arena, PANEL_BYTES, 64, "warm-up").address(),
          Memory.allocate(arena, ROW * ROWS, 64, "warm-up").address());
    }
  }

  private static final int REPEATS = 4;
  private static final int DEPTH = 64;
  private static final int SHALLOW = 3;

  /** Terms of a tile: few, as each costs 50 microseconds until the code is compiled. */
  private static final int TERMS = 4;

  private static final int GROUPS = 6;
  private static final long STRIP_BYTES = 4L * ROWS * DEPTH;
  private static final long PANEL_BYTES = ROW * DEPTH;

  private static final VectorForm<TileLoops> LOOPS =
      form(TileLoops.class, VectorTile.class, TileKernels::driveLoops);
  private static final VectorForm<PackedTile> PACKED =
      form(PackedTile.class, VectorPackedTile.class, TileKernels::drivePacked);
  private static final VectorForm<BlockKernel> BLOCKS =
      form(BlockKernel.class, VectorBlocks.class, TileKernels::driveBlocks);
  private static final VectorForm<RowDots> DOTS =
      form(RowDots.class, VectorDots.class, TileKernels::driveDots);

  private static volatile TileKernel active = parts();

  private TileKernels() {}

  private static <K> VectorForm<K> form(
      Class<K> kind, Class<? extends K> vectors, Function<Arena, VectorForm.Driver<K>> driver) {
    VectorForm.Code<K> code = new VectorForm.Code<>(kind, vectors, driver);
    return VectorForm.of(code, kind.cast(SCALAR), () -> active = parts());
  }

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

  /** The parts in use. */
  private static TileKernel parts() {
    TileLoops loops = LOOPS.active();
    boolean both = PACKED.isVector() && LOOPS.isVector();
    return new TileKernel(
        both ? new TwoTermTile(loops, PACKED.active()) : loops, BLOCKS.active(), DOTS.active());
  }

  private static VectorForm.Driver<TileLoops> driveLoops(Arena arena) {
    Operands at = new Operands(arena);
    TileStrides packed = new TileStrides(4, 4L * ROWS, ROW, ROW, false);
    TileStrides rows = new TileStrides(4L * DEPTH, 4, ROW, ROW, false);
    TileStrides narrow = new TileStrides(64, 4, ROW, ROW / 2, false);
    Consumer<TileLoops> run =
        kernel -> {
          for (int repeat = 0; repeat < REPEATS / 2; repeat++) {
            boolean isFurther = repeat % 2 > 0;
            kernel.tile(packed.further(isFurther), at.a, at.b, at.c, TERMS);
            kernel.tile(packed.further(!isFurther), at.a, at.b, at.c, SHALLOW);
            kernel.rows(rows.further(isFurther), at.a, at.b, at.c, TERMS);
            kernel.narrow(narrow.further(isFurther), at.a, at.b, at.c, TERMS);
          }
        };
    return new VectorForm.Driver<>(
        kernel -> {
          kernel.tile(packed, at.a, at.b, at.c, -1);
          kernel.rows(rows, at.a, at.b, at.c, -1);
          kernel.narrow(narrow, at.a, at.b, at.c, -1);
        },
        run);
  }

  private static VectorForm.Driver<PackedTile> drivePacked(Arena arena) {
    Operands at = new Operands(arena);
    TileStrides strides = new TileStrides(4, 4L * ROWS, ROW, ROW, false);
    return new VectorForm.Driver<>(
        kernel -> kernel.run(strides, at.a, at.b, at.c, -1),
        kernel -> {
          for (int repeat = 0; repeat < REPEATS; repeat++) {
            kernel.run(strides.further(repeat % 2 > 0), at.a, at.b, at.c, TERMS);
          }
        });
  }

  private static VectorForm.Driver<RowDots> driveDots(Arena arena) {
    Operands at = new Operands(arena);
    RowDots.Shape adding = new RowDots.Shape(4L * DEPTH, 4, DEPTH, true);
    RowDots.Shape odd = new RowDots.Shape(4L * DEPTH, 4, DEPTH - 1, false);
    RowDots.Shape entry = new RowDots.Shape(4L * DEPTH, 4, -DEPTH, false);
    RowDots.Shape even = new RowDots.Shape(4L * DEPTH, 4, DEPTH, false);
    return new VectorForm.Driver<>(
        kernel -> kernel.dots(entry, at.a, at.b, at.c, 1),
        kernel -> {
          for (int repeat = 0; repeat < REPEATS; repeat++) {
            kernel.dots(adding, at.a, at.b, at.c, ROWS);
            kernel.dots(odd, at.a, at.b, at.c, ROWS - 1);
            kernel.dots(even, at.a, at.b, at.c, ROWS - 3);
          }
        });
  }

  private static VectorForm.Driver<BlockKernel> driveBlocks(Arena arena) {
    Operands at = new Operands(arena);
    long packed = Memory.allocate(arena, 2 * PANEL_BYTES, 64, "warm-up").address();
    BlockKernel.Outer whole = new BlockKernel.Outer(4, ROW, COLUMNS);
    BlockKernel.Outer none = new BlockKernel.Outer(4, ROW, -COLUMNS);
    BlockKernel.Outer part = new BlockKernel.Outer(4, ROW, COLUMNS - 1);
    return new VectorForm.Driver<>(
        kernel -> {
          kernel.combine(at.a, at.b, ROW, at.c, -COLUMNS, 5);
          kernel.outer(none, at.a, at.b, at.c, 1);
          kernel.copy(at.c, ROW, at.b, ROW, -1, COLUMNS);
          kernel.copy(at.c, ROW, at.b, ROW, -1, COLUMNS - 1);
          kernel.spread(at.b, GROUPS * ROW, -1, packed, 4 * ROW);
          kernel.spreadStrips(at.b, GROUPS * ROW, -1, packed, 4 * ROW);
          kernel.interleave(at.b, ROW, -1, packed);
        },
        kernel -> {
          for (int repeat = 0; repeat < REPEATS; repeat++) {
            kernel.combine(at.a, at.b, ROW, at.c, COLUMNS, DEPTH);
            kernel.combine(at.a, at.b, ROW, at.c, COLUMNS - 1, DEPTH - 1);
            kernel.outer(whole, at.a, at.b, at.c, ROWS);
            kernel.outer(part, at.a, at.b, at.c, ROWS);
            kernel.copy(at.c, ROW, at.b, ROW, ROWS, COLUMNS);
            kernel.copy(at.c, ROW, at.b, ROW, ROWS, COLUMNS - 1);
            kernel.copy(at.c, ROW, at.b, ROW, ROWS, ROWS);
            // Many groups, as the JIT compiles loops that run often.
            kernel.spread(at.b, GROUPS * ROW, GROUPS, packed, 4 * ROW);
            kernel.spreadStrips(at.b, GROUPS * ROW, GROUPS, packed, 4 * ROW);
            kernel.interleave(at.b, ROW, COLUMNS + 1, packed);
          }
        });
  }
}
