package dev.tern.internal.table.rows;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.setFloat;

/** The loops of {@link RowLoops} on one column, {@code j}. */
final class ScalarRows {
  private ScalarRows() {}

  static void gather(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      setFloat(out.at(i, j), getFloat(rows[inverse[i]] + 4L * j));
    }
  }

  static void gather(RowEncoding encoding, long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      setFloat(out.at(i, j), encoding.get(rows[inverse[i]], j));
    }
  }

  static void pool(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      float sum = 0;
      for (int i = bags.begin(b); i < end; i++) {
        sum = Math.fma(bags.factor(scale, i), getFloat(lookup.row(i) + 4L * j), sum);
      }
      setFloat(out.at(b, j), sum);
    }
  }

  static void pool(
      RowEncoding encoding, RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      float sum = 0;
      for (int i = bags.begin(b); i < end; i++) {
        sum = Math.fma(bags.factor(scale, i), encoding.get(lookup.row(i), j), sum);
      }
      setFloat(out.at(b, j), sum);
    }
  }
}
