package dev.tern.internal.kernel.matmul;

/**
 * Work on the elements of a product as soon as they are final, while a cache has them. For example,
 * a fused kernel adds a bias and applies an activation.
 *
 * @param task the work
 * @param rows address where each worker keeps {@link #rowsBytes} of elements; 0 where they are
 *     written to C
 * @param pieces number of pieces that the rows are cut into, see {@link #start}; 0 where the
 *     product may choose
 */
public record Epilogue(Task task, long rows, int pieces) {
  /** Fewest elements that it takes at a time, except at the end of a piece of work. */
  static final int ELEMENTS = 1 << 12;

  /** Pieces begin at a multiple of so many rows. */
  public static final int UNIT = TileLoops.ROWS;

  /** Columns of the widest C whose rows are final as soon as they are computed. */
  public static final int MOST_COLUMNS = BlockedProduct.SLAB_COLUMNS;

  /** Fewest rows that a piece should have: shorter pieces cost time. */
  public static final int FEWEST_ROWS = BlockedProduct.CHUNK_STRIPS * UNIT;

  /** A C that takes so many times the memory of all workers' rows is worth leaving out. */
  private static final int WORTH_KEEPING = 4;

  /** No work. */
  public static final Epilogue NONE = new Epilogue((from, to, piece, worker) -> {}, 0, 0);

  /** The work on some rows; several threads do different rows at the same time. */
  @FunctionalInterface
  public interface Task {
    /**
     * Takes elements {@code from} to {@code to - 1} of C, which are whole rows. Elements are
     * counted row by row and product by product, and each is taken once.
     *
     * @param piece the piece of these rows, if the number of pieces was given. One thread takes the
     *     rows of a piece, in ascending order
     * @param worker the thread that calls
     */
    void run(long from, long to, int piece, int worker);
  }

  /** The first of {@code count} rows, a multiple of {@code unit}, that belongs to a piece. */
  public static int start(int count, int unit, int pieces, int piece) {
    long units = (count + unit - 1L) / unit;
    return (int) Math.min(count, units * piece / pieces * unit);
  }

  /** Whether {@code batch} products of these sizes, with a dense C, can have an epilogue. */
  public static boolean isTakenBy(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k) || batch == 1 && MatMul.takesEpilogue(m, n, k);
  }

  /**
   * Whether the epilogue can take rows from where each of {@code threads} workers keeps them, and
   * this saves much of the memory of C.
   */
  public static boolean mayKeepRows(int batch, int m, int n, int k, int threads) {
    long rows = threads * rowsBytes(batch, m, n, k);
    boolean isLarge = 4L * batch * m * n >= WORTH_KEEPING * rows;
    boolean isBatch = BatchProduct.pays(batch, m, n, k);
    return isLarge && (isBatch || batch == 1 && MatMul.handsOnRows(m, n, k));
  }

  /** Bytes of the rows that each worker keeps for such an epilogue. */
  public static long rowsBytes(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k)
        ? BatchProduct.rowsBytes(m, n)
        : BlockedProduct.rowsBytes(n);
  }

  boolean isOnC() {
    return rows == 0;
  }
}
