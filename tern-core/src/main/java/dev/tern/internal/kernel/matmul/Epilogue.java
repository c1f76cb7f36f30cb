package dev.tern.internal.kernel.matmul;

/**
 * Work on the elements of a product as soon as they are final, while a cache has them. For example,
 * a fused kernel adds a bias and applies an activation.
 *
 * @param rows address where each worker keeps {@link MatMul#rowsBytes} of elements; 0 where they
 *     are written to C
 * @param pieces number of pieces that the rows are cut into, see {@link #start}; 0 where the
 *     product may choose
 */
public record Epilogue(Task task, long rows, int pieces) {
  /** Fewest elements that the task takes at a time, except at the end of a piece of work. */
  static final int ELEMENTS = 1 << 12;

  /** Pieces begin at a multiple of this many rows. */
  public static final int UNIT = TileLoops.ROWS;

  /** Columns of the widest C whose rows are final as soon as they are computed. */
  public static final int MOST_COLUMNS = BlockedProduct.SLAB_COLUMNS;

  /** Fewest rows that a piece should have: shorter pieces cost time. */
  public static final int FEWEST_ROWS = BlockedProduct.CHUNK_STRIPS * UNIT;

  /** No work. */
  public static final Epilogue NONE = new Epilogue((from, to, piece, worker) -> {}, 0, 0);

  /** The work on some rows; several threads do different rows at the same time. */
  @FunctionalInterface
  public interface Task {
    /**
     * Takes elements {@code from} to {@code to - 1} of C, which are whole rows. Elements are
     * counted row by row and product by product, and each is taken once.
     *
     * @param piece of these rows, if the number of pieces was given. One thread takes the rows of a
     *     piece, in ascending order
     * @param worker that calls
     */
    void run(long from, long to, int piece, int worker);
  }

  /** The first row of a piece of {@code count} rows, a multiple of {@code unit}. */
  public static int start(int count, int unit, int pieces, int piece) {
    long units = (count + unit - 1L) / unit;
    return (int) Math.min(count, units * piece / pieces * unit);
  }

  boolean isOnC() {
    return rows == 0;
  }
}
