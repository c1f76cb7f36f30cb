package dev.tern.internal.table.rows;

/**
 * Normal numbers from uniform ones: the quantiles of the normal distribution with mean 0 and
 * deviation 1 (Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution",
 * Applied Statistics 37, 1988, PPND7), accurate to about 1 part in 10<sup>7</sup>. The same bits on
 * all machines.
 */
final class NormalQuantile {
  private static final double UNIT = 0x1p-24;

  private NormalQuantile() {}

  /** The quantile of {@code (bits + 1/2) / 2^24}, for 24 bits: {@code of(1 << 23)} is about 0. */
  static float of(int bits) {
    double p = (bits + 0.5) * UNIT;
    double q = p - 0.5;
    if (Math.abs(q) <= 0.425) {
      double r = 0.180625 - q * q;
      return (float)
          (q
              * polynomial(r, 3.3871327179, 50.434271938, 159.29113202, 59.109374720)
              / polynomial(r, 1, 17.895169469, 78.757757664, 67.187563600));
    }
    // The root is at most 4.2 for 24 bits; the formula holds up to 5.
    double r = Math.sqrt(-StrictMath.log(q < 0 ? p : 1 - p)) - 1.6;
    double z =
        polynomial(r, 1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103)
            / polynomial(r, 1, 0.73700164250, 0.12021132975, 0);
    return (float) (q < 0 ? -z : z);
  }

  /** {@code a + b r + c r^2 + d r^3}. */
  private static double polynomial(double r, double a, double b, double c, double d) {
    return ((d * r + c) * r + b) * r + a;
  }
}
