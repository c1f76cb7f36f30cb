package dev.tern.internal.table.rows;

import static dev.tern.internal.memory.Memory.getFloat;
import static dev.tern.internal.memory.Memory.getShort;
import static dev.tern.internal.memory.Memory.setFloat;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.table.rows.RowEncoding.Form;

/** The loops of {@link RowLoops} on one column, {@code j}. */
final class ScalarRows {
  private ScalarRows() {}

  /** Weight {@code j} of the row at an address, stored as a {@link RowEncoding} says. */
  static float get(Form form, int scaleAt, long row, int j) {
    if (form == Form.F32) {
      return getFloat(row + 4L * j);
    }
    if (form == Form.INT8) {
      return ScalarBytes.get(row, scaleAt, j);
    }
    return Halves.widen(form == Form.F16 ? DType.F16 : DType.BF16, getShort(row + 2L * j));
  }

  static void gather(RowEncoding encoding, long[] rows, int[] inverse, MatrixBlock out, int j) {
    Form form = encoding.form();
    int scaleAt = encoding.scaleAt();
    long base = out.base + 4L * j;
    long stride = out.stride;
    int to = out.to;
    for (int i = out.from; i < to; i++) {
      setFloat(base + i * stride, get(form, scaleAt, rows[inverse[i]], j));
    }
  }

  static void pool(
      RowEncoding encoding, RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    Form form = encoding.form();
    int scaleAt = encoding.scaleAt();
    long[] rows = lookup.addresses;
    int[] inverse = lookup.inverse;
    int[] offsets = bags.offsets;
    float[] weights = bags.weights;
    for (int b = out.from; b < out.to; b++) {
      int end = offsets[b + 1];
      float scale = bags.scale(b);
      float sum = 0;
      for (int i = offsets[b]; i < end; i++) {
        float factor = PooledBags.factor(weights, scale, i);
        sum = Math.fma(factor, get(form, scaleAt, rows[inverse[i]], j), sum);
      }
      setFloat(out.base + b * out.stride + 4L * j, sum);
    }
  }
}
