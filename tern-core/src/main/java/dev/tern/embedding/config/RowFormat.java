package dev.tern.embedding.config;

/** How the rows of a table lie in memory. */
public enum RowFormat {
  /** Weights as {@link TableConfig#storage} says, then optimizer state: as training needs them. */
  STORED,

  /**
   * For reading alone: a weight is a whole number of 8 bits, -127 to 127, times the scale of its
   * row, one float; there is no optimizer state. Rows come from an import only, and cannot be
   * trained or exported.
   *
   * <p>The scale is the largest magnitude in the row divided by 127, so a weight is off by at most
   * half the scale, plus 2<sup>-16</sup> of it for rounding. A row without a magnitude above
   * 2<sup>-119</sup> reads as zeros. A row with a weight that is not finite reads as NaN.
   */
  INT8;
}
