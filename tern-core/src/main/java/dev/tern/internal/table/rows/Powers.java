package dev.tern.internal.table.rows;

/**
 * Powers of a number by repeated squaring: cheap, and the same bits on every machine. Example: the
 * 6th power is the product of the 2nd and the 4th.
 */
public final class Powers {
  private final double[] squared = new double[Integer.SIZE - 1];

  public Powers(double base) {
    double power = base;
    for (int i = 0; i < squared.length; i++) {
      squared[i] = power;
      power *= power;
    }
  }

  /** The base to the power of {@code exponent}, 0 or more. */
  public double of(int exponent) {
    double product = 1;
    for (int left = exponent; left > 0; left &= left - 1) {
      product *= squared[Integer.numberOfTrailingZeros(left)];
    }
    return product;
  }
}
