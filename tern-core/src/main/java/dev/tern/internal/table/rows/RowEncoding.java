package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowFormat;

/**
 * How the weights of a row are stored, for the loops that read rows.
 *
 * @param scaleAt of {@link Form#INT8}: bytes from a row to its scale
 */
public record RowEncoding(Form form, int scaleAt) {
  /** The forms of a weight. */
  enum Form {
    F32,
    F16,
    BF16,
    /** See {@link RowFormat#INT8}. */
    INT8
  }

  /**
   * Rows of {@link RowFormat#STORED}.
   *
   * @param storage F32, F16 or BF16
   */
  public static RowEncoding of(DType storage) {
    Form narrow = storage == DType.F16 ? Form.F16 : Form.BF16;
    return new RowEncoding(storage == DType.F32 ? Form.F32 : narrow, 0);
  }

  /** Rows of {@link RowFormat#INT8}, of {@code width} weights. */
  public static RowEncoding int8(int width) {
    return new RowEncoding(Form.INT8, ScalarBytes.scaleAt(width));
  }
}
