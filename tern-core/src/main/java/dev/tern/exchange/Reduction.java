package dev.tern.exchange;

/**
 * How the numbers that ranks hold at one place become one number. Numbers are combined along a
 * balanced binary tree over the ranks: of 5 ranks {@code ((0 + 1) + (2 + 3)) + 4}. The bits
 * therefore depend on the numbers and on how many ranks there are, never on who was faster. Where
 * the number of ranks is a power of two, the tree of half as many ranks, each with the sum of two,
 * gives the same bits.
 *
 * <p>Numbers lie in the byte order of the machine. The least and the greatest of floats are those
 * of {@link Math#min(float, float)} and {@link Math#max(float, float)}: NaN wins, and -0 is less
 * than 0.
 */
public enum Reduction {
  /** The sum of floats, rounded after each addition. */
  FLOAT_SUM(Float.BYTES),
  /** The least float. */
  FLOAT_MIN(Float.BYTES),
  /** The greatest float. */
  FLOAT_MAX(Float.BYTES),
  /** The sum of doubles, rounded after each addition. */
  DOUBLE_SUM(Double.BYTES),
  /** The least double. */
  DOUBLE_MIN(Double.BYTES),
  /** The greatest double. */
  DOUBLE_MAX(Double.BYTES),
  /** The sum of longs, modulo 2^64. */
  LONG_SUM(Long.BYTES),
  /** The least long. */
  LONG_MIN(Long.BYTES),
  /** The greatest long. */
  LONG_MAX(Long.BYTES);

  private final int elementBytes;

  Reduction(int elementBytes) {
    this.elementBytes = elementBytes;
  }

  /** Bytes of one number: 4 or 8. */
  public int elementBytes() {
    return elementBytes;
  }
}
