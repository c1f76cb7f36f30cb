package dev.tern.embedding;

/**
 * The loops over rows of {@link RowFormat#INT8}: columns go to {@link VectorBytes} as far as whole
 * vectors reach, the rest to {@link ScalarBytes}.
 */
final class ByteLoops implements NarrowLoops {
  private final int scaleAt;
  private final int lanes;

  /**
   * @param width weights of a row
   * @param lanes columns of a vector
   */
  ByteLoops(int width, int lanes) {
    scaleAt = ScalarBytes.scaleAt(width);
    this.lanes = lanes;
  }

  @Override
  public float get(long row, int j) {
    return ScalarBytes.get(row, scaleAt, j);
  }

  @Override
  public void gather(
      long[] rows, int[] inverse, int from, int to, int begin, int end, long out, long stride) {
    int j = begin;
    for (; j <= end - lanes; j += lanes) {
      VectorBytes.gather(rows, scaleAt, inverse, from, to, out, stride, j);
    }
    for (; j < end; j++) {
      ScalarBytes.gather(rows, scaleAt, inverse, from, to, out, stride, j);
    }
  }

  @Override
  public void pool(
      long[] rows,
      int[] inverse,
      int[] offsets,
      int from,
      int to,
      Combiner combiner,
      int begin,
      int end,
      long out,
      long stride) {
    int j = begin;
    for (; j <= end - lanes; j += lanes) {
      VectorBytes.pool(rows, scaleAt, inverse, offsets, from, to, combiner, out, stride, j);
    }
    for (; j < end; j++) {
      ScalarBytes.pool(rows, scaleAt, inverse, offsets, from, to, combiner, out, stride, j);
    }
  }

  @Override
  public void poolWeighted(
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
      long stride) {
    int j = begin;
    for (; j <= end - lanes; j += lanes) {
      VectorBytes.poolWeighted(
          rows, scaleAt, inverse, offsets, from, to, combiner, weights, out, stride, j);
    }
    for (; j < end; j++) {
      ScalarBytes.poolWeighted(
          rows, scaleAt, inverse, offsets, from, to, combiner, weights, out, stride, j);
    }
  }
}
