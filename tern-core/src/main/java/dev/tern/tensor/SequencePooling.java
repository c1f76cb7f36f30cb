package dev.tern.tensor;

/** How {@link Ragged#pool} makes one row of the rows of a sequence. */
public enum SequencePooling {
  /** Their sum, weighted where there are weights. */
  SUM,
  /** Their mean; the weighted sum by the sum of the weights. */
  MEAN,
  /** Their sum by the square root of their number, or of the sum of the squared weights. */
  SQRT,
  /** The largest of each column. */
  MAX,
  /** The first row. */
  FIRST,
  /** The last row. */
  LAST
}
