package dev.tern.internal.kernel.matmul;

/**
 * What becomes of the elements of a product as soon as they are final, while a cache has them.
 *
 * @param task what is done
 * @param rows where each worker keeps the elements at hand, in {@link #rowsBytes}; 0 where they are
 *     written to C
 * @param pieces how many pieces the rows of a product are cut into, at {@link #start} with {@link
 *     #UNIT}; 0 where the product may choose
 */
public record Epilogue(Task task, long rows, int pieces) {
  /** Elements that it takes at a time at least, but for the last of a piece of work. */
  static final int ELEMENTS = 1 << 12;

  /** Pieces begin at multiples of so many rows. */
  public static final int UNIT = TileLoops.ROWS;

  /** Columns of the widest C whose rows are final as soon as they are computed. */
  public static final int MOST_COLUMNS = BlockedProduct.SLAB_COLUMNS;

  /** Rows that a piece should have: fewer cost time. */
  public static final int FEWEST_ROWS = BlockedProduct.CHUNK_STRIPS * UNIT;

  /** A C that takes so many times the memory of all workers' rows need not be. */
  private static final int WORTH_KEEPING = 4;

  /** For products that nothing follows at once. */
  public static final Epilogue NONE = new Epilogue((from, to, piece, worker) -> {}, 0, 0);

  /** Called once for each element, by several threads. */
  @FunctionalInterface
  public interface Task {
    /**
     * Elements {@code from} to {@code to - 1} of C, counted row by row and product by product,
     * whole rows at least, are final.
     *
     * @param piece of which they are part, where the number of pieces was given; those of a piece
     *     come in ascending order, from one thread
     * @param worker which thread calls
     */
    void run(long from, long to, int piece, int worker);
  }

  /** Where a piece begins, of {@code count} rows or else, at a multiple of {@code unit}. */
  public static int start(int count, int unit, int pieces, int piece) {
    long units = (count + unit - 1L) / unit;
    return (int) Math.min(count, units * piece / pieces * unit);
  }

  /** Whether {@code batch} products of these sizes, with a dense C, can have an epilogue. */
  public static boolean isTakenBy(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k) || batch == 1 && MatMul.takesEpilogue(m, n, k);
  }

  /**
   * Whether they can have one that takes rows from where each of so many workers keeps them, in far
   * less memory than C.
   */
  public static boolean mayKeepRows(int batch, int m, int n, int k, int threads) {
    long rows = threads * rowsBytes(batch, m, n, k);
    boolean isLarge = 4L * batch * m * n >= WORTH_KEEPING * rows;
    boolean isBatch = BatchProduct.pays(batch, m, n, k);
    return isLarge && (isBatch || batch == 1 && MatMul.handsOnRows(m, n, k));
  }

  /** Bytes of the rows that a worker keeps for such an epilogue. */
  public static long rowsBytes(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k)
        ? BatchProduct.rowsBytes(m, n)
        : BlockedProduct.rowsBytes(n);
  }

  boolean isOnC() {
    return rows == 0;
  }
}
