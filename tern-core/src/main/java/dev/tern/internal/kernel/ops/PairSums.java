package dev.tern.internal.kernel.ops;

import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.warmup.VectorForm;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;

/**
 * The sum of the dot products of all pairs of the vectors of each row, in linear time, and its
 * gradient. With vectors x<sub>1</sub> ... x<sub>n</sub> and their sum s, the sum over pairs is
 * (s·s - x<sub>1</sub>·x<sub>1</sub> - ... - x<sub>n</sub>·x<sub>n</sub>) / 2 (Rendle 2010,
 * Factorization Machines, lemma 3.1).
 */
public final class PairSums {
  private static final int WARM_ROWS = 3;

  /** Rows without vectors, of which only lanes are added up: many, as entries do not reach that. */
  private static final int BARE_ROWS = 200;

  /** Sizes of warm-up rows: vectors, perhaps none, and elements beyond whole sets of lanes. */
  private static final int[][] SIZES = {{8, 0}, {7, 1}, {6, 0}, {1, 1}, {0, 0}};

  private static final VectorForm<PairKernel> KERNEL =
      VectorForm.of(
          new VectorForm.Code<>(PairKernel.class, VectorPairs.class, PairSums::drive),
          new ScalarPairs(),
          () -> {});

  private final PairKernel.Row row;

  /** Sums over rows of {@code n} vectors, each of {@code d} floats. */
  public PairSums(int n, int d) {
    row = new PairKernel.Row(n, d);
  }

  /** Bytes of scratch memory that one call of {@link #forward} needs. */
  public static long scratchBytes() {
    return (long) VectorPairs.BLOCK * ReductionLanes.BYTES;
  }

  /** Computes rows {@code from} to {@code to - 1}: {@code [b, n, d]} at x to {@code [b]} at out. */
  public void forward(long x, long out, long scratch, int from, int to) {
    KERNEL.active().forward(row, x + from * row.bytes(), out + 4L * from, scratch, to - from);
  }

  /**
   * Computes the gradients of x, rows {@code from} to {@code to - 1}, from gradients {@code [b]}.
   */
  public void backward(long x, long gradient, long out, int from, int to) {
    long skip = from * row.bytes();
    KERNEL.active().backward(row, x + skip, gradient + 4L * from, out + skip, to - from);
  }

  private static VectorForm.Driver<PairKernel> drive(Arena arena) {
    int d = 2 * ReductionLanes.COUNT;
    long bytes = 4L * WARM_ROWS * 8 * (d + 1);
    long x = Memory.allocate(arena, bytes, 64, "warm-up").address();
    long gradient = Memory.allocate(arena, bytes, 64, "warm-up").address();
    long result = Memory.allocate(arena, 4L * BARE_ROWS, 64, "warm-up").address();
    long scratch = Memory.allocate(arena, scratchBytes(), 64, "warm-up").address();
    PairKernel.Row[] rows = new PairKernel.Row[SIZES.length];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new PairKernel.Row(SIZES[i][0], d + SIZES[i][1]);
    }
    PairKernel.Row entry = new PairKernel.Row(-1, d);
    return new VectorForm.Driver<>(
        kernel -> {
          kernel.forward(entry, x, result, scratch, 1);
          kernel.backward(entry, x, result, gradient, 1);
        },
        kernel -> {
          for (PairKernel.Row row : rows) {
            kernel.forward(row, x, result, scratch, row.n() > 0 ? WARM_ROWS : BARE_ROWS);
            kernel.backward(row, x, result, gradient, WARM_ROWS);
          }
        });
  }
}
