package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.table.rows.RowEncoding.Form;

/**
 * The loops that read rows: copy them, or pool them. Weights are widened to F32.
 *
 * <p>Rows are short (8 to 64 floats) and many, so the inner loop always runs over rows, and its
 * body is straight-line code for a few columns. A loop over the columns of one row would spend its
 * time on entering and leaving the loop. Columns go to {@link VectorRows} as far as whole vectors
 * reach, the rest to {@link ScalarRows}; where the module {@code jdk.incubator.vector} is absent,
 * all of them. Both compute every element by the same operations in the same order, so results do
 * not depend on which did it.
 *
 * <p>Threads: immutable, so any number of threads may read through one of these at once, each into
 * a block of its own. The rows must not change meanwhile. Loops that change rows are in {@link
 * UpdateLoops}.
 */
public final class RowLoops {
  /** Rows per round over the columns: few enough that they stay in the nearest cache. */
  private static final int BLOCK = 64;

  private final RowEncoding encoding;
  private final int lanes;

  public RowLoops(boolean vectors, RowEncoding encoding) {
    this.encoding = encoding;
    lanes = vectors ? VectorRows.LANES : Integer.MAX_VALUE;
  }

  /** Loops over rows stored as {@code storage}, with vectors where this process has them. */
  static RowLoops fastest(DType storage) {
    return new RowLoops(VectorSupport.available(), RowEncoding.of(storage));
  }

  /** Loops over the rows of a table, with vectors where this process has them. */
  public static RowLoops fastest(TableConfig config) {
    return switch (config.format()) {
      case STORED -> fastest(config.storage());
      case INT8 -> new RowLoops(VectorSupport.available(), RowEncoding.int8(config.width()));
    };
  }

  /** Weight {@code j} of the row at an address. */
  public float get(long row, int j) {
    return ScalarRows.get(encoding.form(), encoding.scaleAt(), row, j);
  }

  /**
   * Copies rows: row {@code i} of {@code out} becomes the row at {@code rows[inverse[i]]}.
   *
   * @param out with the numbers of positions for rows
   */
  public void gather(long[] rows, int[] inverse, MatrixBlock out) {
    int from = out.from;
    int to = out.to;
    int block = out.end - out.begin <= 2L * lanes ? Math.max(1, to - from) : BLOCK;
    for (int first = from; first < to; first += block) {
      out.rows(first, Math.min(to, first + block));
      int j = out.begin;
      for (; encoding.form() == Form.F32 && j <= out.end - 2L * lanes; j += 2 * lanes) {
        VectorRows.gather2(rows, inverse, out, j);
      }
      for (; j <= out.end - lanes; j += lanes) {
        VectorRows.gather(encoding, rows, inverse, out, j);
      }
      for (; j < out.end; j++) {
        ScalarRows.gather(encoding, rows, inverse, out, j);
      }
    }
    out.rows(from, to);
  }

  /**
   * Pools bags: row {@code b} of {@code out} becomes the sum over the positions {@code i} of bag
   * {@code b} of {@link PooledBags#factor} times the row of position {@code i}, added up in order
   * of position; zeros for an empty bag.
   */
  public void pool(RowLookup lookup, PooledBags bags, MatrixBlock out) {
    int j = out.begin;
    for (; encoding.form() == Form.F32 && j <= out.end - 2L * lanes; j += 2 * lanes) {
      VectorRows.pool2(lookup, bags, out, j);
    }
    for (; j <= out.end - lanes; j += lanes) {
      VectorRows.pool(encoding, lookup, bags, out, j);
    }
    for (; j < out.end; j++) {
      ScalarRows.pool(encoding, lookup, bags, out, j);
    }
  }
}
