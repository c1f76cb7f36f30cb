package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;

/**
 * The loops that read rows: copy them, or pool them. Weights are widened to F32. {@link
 * UpdateLoops} has the loops that change rows.
 *
 * <p>Rows are short (8 to 64 floats) and many, so the inner loop always runs over rows, and its
 * body is straight-line code for a few columns. A loop over the columns of one row would spend its
 * time on entering and leaving the loop. {@link VectorRows} takes the columns of whole vectors, the
 * methods here the rest, or all without the module {@code jdk.incubator.vector}. Both compute each
 * element by the same operations in the same order, so they give the same bits.
 *
 * <p>Any number of threads may read at once, each into a block of its own, while no row changes.
 */
public final class RowReads {
  /** Rows per round over the columns: few enough that they stay in the nearest cache. */
  private static final int BLOCK = 64;

  /** What a weight is; for INT8 see {@link Int8Rows}. */
  enum Form {
    F32,
    F16,
    BF16,
    INT8
  }

  final Form form;
  final int scaleAt; // for INT8, bytes from a row to its scale
  private final boolean plain;
  final int lanes;

  private RowReads(boolean vectors, Form form, int scaleAt) {
    this.form = form;
    this.scaleAt = scaleAt;
    plain = form == Form.F32;
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
  }

  /** Loops over rows with weights of F32, F16 or BF16. */
  public static RowReads of(boolean vectors, DType storage) {
    Form narrow = storage == DType.F16 ? Form.F16 : Form.BF16;
    return new RowReads(vectors, storage == DType.F32 ? Form.F32 : narrow, 0);
  }

  /** Loops over rows of {@link Int8Rows} with {@code width} weights. */
  public static RowReads int8(boolean vectors, int width) {
    return new RowReads(vectors, Form.INT8, Int8Rows.scaleAt(width));
  }

  /** Loops over the rows of a table, with vectors if this process has them. */
  public static RowReads fastest(TableConfig config) {
    return switch (config.format()) {
      case STORED -> of(VectorSupport.available(), config.storage());
      case INT8 -> int8(VectorSupport.available(), config.width());
    };
  }

  /** Weight {@code j} of the row at an address. */
  public float get(long row, int j) {
    return switch (form) {
      case F32 -> Memory.getFloat(row + 4L * j);
      case F16 -> Halves.widen(DType.F16, Memory.getShort(row + 2L * j));
      case BF16 -> Halves.widen(DType.BF16, Memory.getShort(row + 2L * j));
      case INT8 -> Int8Rows.get(row, scaleAt, j);
    };
  }

  /** Copies rows: row {@code i} of {@code out} becomes the one at {@code rows[inverse[i]]}. */
  public void gather(long[] rows, int[] inverse, MatrixBlock out) {
    int from = out.from;
    int to = out.to;
    int block = out.end - out.begin <= 2L * lanes ? Math.max(1, to - from) : BLOCK;
    for (int first = from; first < to; first += block) {
      out.rows(first, Math.min(to, first + block));
      int j = out.begin;
      for (; plain && j <= out.end - 2L * lanes; j += 2 * lanes) {
        VectorRows.gather2(rows, inverse, out, j);
      }
      for (; j <= out.end - lanes; j += lanes) {
        switch (form) {
          case F32 -> VectorRows.gather(rows, inverse, out, j);
          case F16 -> VectorRows.gatherF16(rows, inverse, out, j);
          case BF16 -> VectorRows.gatherBf16(rows, inverse, out, j);
          case INT8 -> VectorRows.gatherInt8(scaleAt, rows, inverse, out, j);
        }
      }
      for (; j < out.end; j++) {
        if (plain) {
          gatherF32(rows, inverse, out, j);
        } else {
          gather(rows, inverse, out, j);
        }
      }
    }
    out.rows(from, to);
  }

  /**
   * Pools bags: row {@code b} of {@code out} becomes the sum of the rows in bag {@code b}, each
   * times its {@link PooledBags#factor}, in order of position; zeros for an empty bag.
   */
  public void pool(RowLookup lookup, PooledBags bags, MatrixBlock out) {
    int j = out.begin;
    for (; plain && j <= out.end - 2L * lanes; j += 2 * lanes) {
      VectorRows.pool2(lookup, bags, out, j);
    }
    for (; j <= out.end - lanes; j += lanes) {
      switch (form) {
        case F32 -> VectorRows.pool(lookup, bags, out, j);
        case F16 -> VectorRows.poolF16(lookup, bags, out, j);
        case BF16 -> VectorRows.poolBf16(lookup, bags, out, j);
        case INT8 -> VectorRows.poolInt8(scaleAt, lookup, bags, out, j);
      }
    }
    for (; j < out.end; j++) {
      if (plain) {
        poolF32(lookup, bags, out, j);
      } else {
        pool(lookup, bags, out, j);
      }
    }
  }

  private static void gatherF32(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      Memory.setFloat(out.at(i, j), Memory.getFloat(rows[inverse[i]] + 4L * j));
    }
  }

  private void gather(long[] rows, int[] inverse, MatrixBlock out, int j) {
    for (int i = out.from; i < out.to; i++) {
      Memory.setFloat(out.at(i, j), get(rows[inverse[i]], j));
    }
  }

  private static void poolF32(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      float sum = 0;
      for (int i = bags.begin(b); i < end; i++) {
        sum = Math.fma(bags.factor(scale, i), Memory.getFloat(lookup.row(i) + 4L * j), sum);
      }
      Memory.setFloat(out.at(b, j), sum);
    }
  }

  private void pool(RowLookup lookup, PooledBags bags, MatrixBlock out, int j) {
    for (int b = out.from; b < out.to; b++) {
      int end = bags.end(b);
      float scale = bags.scale(b);
      float sum = 0;
      for (int i = bags.begin(b); i < end; i++) {
        sum = Math.fma(bags.factor(scale, i), get(lookup.row(i), j), sum);
      }
      Memory.setFloat(out.at(b, j), sum);
    }
  }
}
