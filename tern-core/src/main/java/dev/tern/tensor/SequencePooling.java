package dev.tern.tensor;

/** How {@link Ragged#pool} reduces the rows of a sequence to one row. */
public enum SequencePooling {
  /** Their sum, weighted where there are weights. */
  SUM,
  /** Their mean; with weights, the weighted sum divided by the sum of the weights. */
  MEAN,
  /**
   * Their sum divided by sqrt(n) for n rows; with weights, by sqrt of the sum of squared weights.
   */
  SQRT,
  /** The maximum of each column. */
  MAX,
  /** The first row. */
  FIRST,
  /** The last row. */
  LAST
}
