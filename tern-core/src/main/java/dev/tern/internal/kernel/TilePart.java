package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Has a part of the tile kernel compiled, in turn with kernels that do nothing: see {@link Warmup}.
 */
final class TilePart<K> implements Warmup.Candidate {
  /**
   * What is compiled.
   *
   * @param idle kernels that do nothing, each of a class of its own
   */
  record Code<K>(
      Class<K> kind,
      Class<? extends K> type,
      List<? extends K> idle,
      BiConsumer<K, Operands> drive) {
    K fresh() {
      return kind.cast(FreshCode.copyOf(type));
    }
  }

  /** Memory that it is driven on: a strip of A, a panel of B, a tile of C, packed panels. */
  private record Operands(long a, long b, long c, long packed) {
    Operands(Arena arena) {
      this(
          Memory.allocate(arena, 4L * ROWS * DEPTH, 64, "warm-up").address(),
          Memory.allocate(arena, ROW * DEPTH, 64, "warm-up").address(),
          Memory.allocate(arena, ROW * ROWS, 64, "warm-up").address(),
          Memory.allocate(arena, 2 * ROW * DEPTH, 64, "warm-up").address());
    }
  }

  private static final int ROWS = TileLoops.ROWS;
  private static final int COLUMNS = Tiles.columns();
  private static final long ROW = 4L * COLUMNS;
  private static final int REPEATS = 8;
  private static final int DEPTH = 64;
  private static final int SHALLOW = 13;
  private static final int GROUPS = DEPTH / 4;

  /** A machine that is always busy must not keep the JIT so. */
  private static final int MOST_WITHDRAWALS = 3;

  private static final List<Idle> IDLE = List.of(new Idle(), new OtherIdle(), new ThirdIdle());

  static final Code<TileLoops> LOOPS =
      new Code<>(TileLoops.class, VectorTile.class, IDLE, TilePart::drive);
  static final Code<BlockKernel> BLOCKS =
      new Code<>(BlockKernel.class, VectorBlocks.class, IDLE, TilePart::drive);
  static final Code<RowDots> DOTS =
      new Code<>(RowDots.class, VectorDots.class, IDLE, TilePart::drive);
  static final Code<PackedTile> PACKED =
      new Code<>(
          PackedTile.class,
          VectorPackedTile.class,
          List.of(
              (a, aTurn, b, bTurn, start, startRow, c, cRow, k) -> {},
              (a, aTurn, b, bTurn, start, startRow, c, cRow, k) -> {},
              (a, aTurn, b, bTurn, start, startRow, c, cRow, k) -> {}),
          TilePart::drive);

  private final Code<K> code;
  private final Consumer<Optional<K>> use;
  private final Runnable end;
  private final List<K> turns = new ArrayList<>();
  private final Arena arena = Arena.ofConfined();
  private final Operands operands = new Operands(arena);
  private int withdrawals;

  /**
   * @param use takes the kernel into use, or, given none, out of use
   * @param end runs after it first was, or if there will be none
   */
  TilePart(Code<K> code, Consumer<Optional<K>> use, Runnable end) {
    this.code = code;
    this.use = use;
    this.end = end;
    turns.add(code.fresh());
    turns.addAll(code.idle());
  }

  @Override
  public void round(boolean large) {
    for (int repeat = 0; repeat < REPEATS; repeat++) {
      for (int i = 0; i < turns.size(); i++) {
        code.drive().accept(turns.get(i), operands);
      }
    }
  }

  @Override
  public void adopt() {
    use.accept(Optional.of(turns.get(0)));
    if (withdrawals == 0) {
      end.run();
    }
    if (!isWatched()) {
      arena.close();
    }
  }

  @Override
  public boolean isWatched() {
    return withdrawals < MOST_WITHDRAWALS;
  }

  @Override
  public void withdraw() {
    withdrawals++;
    use.accept(Optional.empty());
  }

  @Override
  public int busyRounds() {
    return Warmup.MANY_ROUNDS;
  }

  @Override
  public void renew() {
    turns.set(0, code.fresh());
  }

  @Override
  public void giveUp() {
    if (withdrawals == 0) {
      end.run();
    }
    arena.close();
  }

  private static void drive(TileLoops kernel, Operands at) {
    long c = at.c;
    kernel.tile(at.a, 4L * ROWS, at.b, ROW, c, ROW, c, ROW, DEPTH);
    kernel.tile(at.a, 4L * ROWS, at.b, ROW, c, ROW, c, ROW, SHALLOW);
    kernel.rows(at.a, 4L * DEPTH, 4, at.b, ROW, c, ROW, c, ROW, DEPTH);
    kernel.narrow(at.a, 64, 4, at.b, ROW, c, ROW / 2, c, ROW / 2, DEPTH);
  }

  private static void drive(PackedTile kernel, Operands at) {
    long strip = 4L * ROWS * PackedTile.TURN;
    long panel = ROW * PackedTile.TURN;
    kernel.run(at.a, strip, at.b, panel, at.c, ROW, at.c, ROW, DEPTH);
    kernel.run(at.a, strip, at.b, panel, at.c, ROW, at.c, ROW, DEPTH);
  }

  private static void drive(RowDots kernel, Operands at) {
    kernel.dots(at.a, 4L * DEPTH, at.b, at.c, 4, ROWS, DEPTH, true);
    kernel.dots(at.a, 4L * DEPTH, at.b, at.c, 4, ROWS - 1, DEPTH - 1, false);
    kernel.dots(at.a, 4L * DEPTH, at.b, at.c, 4, ROWS - 3, DEPTH, false);
  }

  private static void drive(BlockKernel kernel, Operands at) {
    kernel.combine(at.a, at.b, ROW, at.c, COLUMNS, DEPTH);
    kernel.combine(at.a, at.b, ROW, at.c, COLUMNS - 1, DEPTH - 1);
    kernel.outer(at.a, 4, at.b, at.c, ROW, ROWS, COLUMNS);
    kernel.outer(at.a, 4, at.b, at.c, ROW, ROWS, COLUMNS - 1);
    kernel.copy(at.c, ROW, at.b, ROW, ROWS, COLUMNS);
    kernel.copy(at.c, ROW, at.b, ROW, ROWS, COLUMNS - 1);
    kernel.copy(at.c, ROW, at.b, ROW, ROWS, ROWS);
    // Many groups: what runs rarely is compiled late.
    kernel.spread(at.b, GROUPS * ROW, GROUPS, at.packed, 4 * ROW);
    kernel.spreadStrips(at.b, GROUPS * ROW, GROUPS, at.packed, 4 * ROW);
  }

  private static class Idle implements TileLoops, BlockKernel, RowDots {
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
