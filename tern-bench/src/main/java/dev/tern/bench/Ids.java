package dev.tern.bench;

import java.util.SplittableRandom;

/** Streams of ids below a bound, uniform or Zipf-like, the same for the same seed. */
public final class Ids {
  private final SplittableRandom random;
  private final int bound;
  private final double exponent;

  private Ids(int bound, double exponent, long seed) {
    this.bound = bound;
    this.exponent = exponent;
    random = new SplittableRandom(seed);
  }

  public static Ids uniform(int bound, long seed) {
    return new Ids(bound, 0, seed);
  }

  /** Rank r is drawn in proportion to about {@code r ^ -exponent}; the exponent is above 1. */
  public static Ids zipf(int bound, double exponent, long seed) {
    return new Ids(bound, exponent, seed);
  }

  public long next() {
    if (exponent == 0) {
      return scatter(random.nextInt(bound), bound);
    }
    double power = 1 - exponent;
    double last = Math.pow(bound, power);
    double x = Math.pow(1 + random.nextDouble() * (last - 1), 1 / power);
    return scatter(Math.min(bound - 1, (int) x - 1), bound);
  }

  /** A permutation of the numbers below {@code bound}, so that frequent ids are not neighbours. */
  public static long scatter(int rank, int bound) {
    return rank * 1_000_003L % bound;
  }
}
