package dev.tern.embedding;

import dev.tern.base.DType;

/**
 * The loops of {@link RowLoops} that read or write weights of two bytes: columns go to {@link
 * VectorHalves} as far as whole vectors reach, the rest to {@link ScalarHalves}.
 */
final class HalfLoops implements NarrowLoops {
  private final DType storage;
  private final int lanes;

  /**
   * @param storage F16 or BF16
   * @param lanes columns of a vector
   */
  HalfLoops(DType storage, int lanes) {
    this.storage = storage;
    this.lanes = lanes;
  }

  @Override
  public float get(long row, int j) {
    return ScalarHalves.get(storage, row, j);
  }

  @Override
  public void gather(
      long[] rows, int[] inverse, int from, int to, int begin, int end, long out, long stride) {
    int j = begin;
    for (; j <= end - lanes; j += lanes) {
      if (storage == DType.F16) {
        VectorHalves.gatherF16(rows, inverse, from, to, out, stride, j);
      } else {
        VectorHalves.gatherBf16(rows, inverse, from, to, out, stride, j);
      }
    }
    for (; j < end; j++) {
      ScalarHalves.gather(storage, rows, inverse, from, to, out, stride, j);
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
      if (storage == DType.F16) {
        VectorHalves.poolF16(rows, inverse, offsets, from, to, combiner, out, stride, j);
      } else {
        VectorHalves.poolBf16(rows, inverse, offsets, from, to, combiner, out, stride, j);
      }
    }
    for (; j < end; j++) {
      ScalarHalves.pool(storage, rows, inverse, offsets, from, to, combiner, out, stride, j);
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
      if (storage == DType.F16) {
        VectorHalves.poolWeightedF16(
            rows, inverse, offsets, from, to, combiner, weights, out, stride, j);
      } else {
        VectorHalves.poolWeightedBf16(
            rows, inverse, offsets, from, to, combiner, weights, out, stride, j);
      }
    }
    for (; j < end; j++) {
      ScalarHalves.poolWeighted(
          storage, rows, inverse, offsets, from, to, combiner, weights, out, stride, j);
    }
  }

  /**
   * Rounds {@code count} rows of {@code width} packed floats at {@code weights} to {@code rows}.
   *
   * @param keys what the noise of each row depends on, besides the column
   */
  void store(long[] rows, int[] keys, int count, int width, long weights) {
    long stride = 4L * width;
    int j = 0;
    for (; j <= width - lanes; j += lanes) {
      if (storage == DType.F16) {
        VectorHalves.storeF16(rows, count, weights, stride, j);
      } else {
        VectorHalves.storeBf16(rows, keys, count, weights, stride, j);
      }
    }
    for (; j < width; j++) {
      if (storage == DType.F16) {
        ScalarHalves.storeF16(rows, count, weights, stride, j);
      } else {
        ScalarHalves.storeBf16(rows, keys, count, weights, stride, j);
      }
    }
  }
}
