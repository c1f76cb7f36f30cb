package dev.tern.cli.run;

/**
 * A value with an interval.
 *
 * <p>Of repeated measurements it is their mean, with an interval that holds the mean of ever more
 * of them in 95 of 100 cases: {@code mean +- t s / sqrt(n)}, with Student's {@code t} of {@code n -
 * 1} degrees of freedom and the standard deviation {@code s}. For example, 1, 2 and 3: mean 2,
 * {@code s} 1, {@code t} 4.303, so -0.48 to 4.48.
 *
 * <p>Of a rate of {@code k} in {@code n} it is Wilson's interval (1927). For example, 3 of 10: 0.3,
 * 0.108 to 0.603.
 */
public record Spread(double mean, double low, double high) {
  /** Student's t at 0.975 by degrees of freedom, from 1 on. */
  private static final double[] T = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042
  };

  private static final double Z = 1.959964;

  /** The rate of {@code hits} in {@code count}, which is above 0; hits may be a part of one. */
  public static Spread ofRate(double hits, double count) {
    double rate = hits / count;
    double square = Z * Z / count;
    double center = (rate + square / 2) / (1 + square);
    double half = Z * Math.sqrt((rate * (1 - rate) + square / 4) / count) / (1 + square);
    return new Spread(rate, Math.max(0, center - half), Math.min(1, center + half));
  }

  /** The mean of {@code count} values with this sum and sum of squares; of one value, itself. */
  public static Spread ofSums(double sum, double squares, double count) {
    double mean = sum / count;
    if (count < 2) {
      return new Spread(mean, mean, mean);
    }
    double variance = Math.max(0, squares / count - mean * mean) * count / (count - 1);
    double half = Z * Math.sqrt(variance / count);
    return new Spread(mean, mean - half, mean + half);
  }

  /** The interval in words. */
  public String interval(int decimals) {
    return Format.fixed(low, decimals) + " to " + Format.fixed(high, decimals);
  }

  /** Of two values or more; NaN among them makes all NaN. */
  public static Spread of(double[] values) {
    int n = values.length;
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    double mean = sum / n;
    double squares = 0;
    for (double value : values) {
      squares += (value - mean) * (value - mean);
    }
    double half = t(n - 1) * Math.sqrt(squares / (n - 1) / n);
    return new Spread(mean, mean - half, mean + half);
  }

  /** Beyond the table by the first term of its expansion, which is good to 0.002 there. */
  private static double t(int freedom) {
    return freedom <= T.length ? T[freedom - 1] : Z + (Z * Z * Z + Z) / (4.0 * freedom);
  }
}
