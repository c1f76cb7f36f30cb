package dev.tern.metrics;

/** The tails of the standard normal distribution. */
final class NormalTail {
  /** Terms of the fraction, which is exact to a double from {@link #FAR} on. */
  private static final int TERMS = 120;

  private static final double FAR = 2;

  private NormalTail() {}

  /**
   * The probability of a value at least as far from 0 as {@code z}: {@code erfc(|z| / sqrt(2))}, to
   * about 13 digits. For example 0.05 for 1.959964.
   */
  static double bothSides(double z) {
    double x = Math.abs(z) / Math.sqrt(2);
    if (Double.isNaN(x) || x == Double.POSITIVE_INFINITY) {
      return x == Double.POSITIVE_INFINITY ? 0 : x;
    }
    return x < FAR ? 1 - near(x) : far(x);
  }

  /** erf(x) by a series of positive terms (Abramowitz and Stegun 7.1.6). */
  private static double near(double x) {
    double term = x;
    double sum = x;
    for (int n = 1; term > sum * 1e-18; n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * StrictMath.exp(-x * x) * sum;
  }

  /** erfc(x) by its continued fraction (Abramowitz and Stegun 7.1.14), from the end. */
  private static double far(double x) {
    double below = x;
    for (int n = TERMS; n >= 1; n--) {
      below = x + n / 2.0 / below;
    }
    return StrictMath.exp(-x * x) / (Math.sqrt(Math.PI) * below);
  }
}
