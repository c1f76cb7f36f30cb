package dev.tern.embedding;

/** The loops of {@link RowLoops} that read weights in less than four bytes, widening them. */
sealed interface NarrowLoops permits HalfLoops, ByteLoops {
  /** Weight {@code j} of the row at an address. */
  float get(long row, int j);

  /**
   * Columns {@code [begin, end)} of positions {@code from} to {@code to - 1}, widened, column
   * {@code j} of the first to {@code out + 4 * j}.
   */
  void gather(
      long[] rows, int[] inverse, int from, int to, int begin, int end, long out, long stride);

  /** As {@link RowLoops#pool}. */
  void pool(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      int begin,
      int end,
      long out,
      long stride);

  /** As {@link RowLoops#poolWeighted}. */
  void poolWeighted(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      float[] weights,
      int begin,
      int end,
      long out,
      long stride);
}
