package dev.tern.internal.table.index;

/** Hash functions for the id index, initial weights, row policies and the rounding of BF16. */
public final class Hashing {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /** Constants of {@link #noise}. */
  public static final int COLUMN = 0x9E3779B9;

  public static final int NOISE_1 = 0x7FEB352D;
  public static final int NOISE_2 = 0x846CA68B;

  private Hashing() {}

  /** A bijection; each output bit depends on each input bit: splitmix64 (Steele et al. 2014). */
  public static long mix(long x) {
    long z = x + GOLDEN;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** The number whose {@link #mix} is {@code hash}. */
  static long unmix(long hash) {
    long z = (hash ^ (hash >>> 31) ^ (hash >>> 62)) * 0x319642B2D24D8EC3L;
    z = (z ^ (z >>> 27) ^ (z >>> 54)) * 0x96DE1B173F119089L;
    return (z ^ (z >>> 30) ^ (z >>> 60)) - GOLDEN;
  }

  /** Number {@code n} of the random sequence with seed {@code key}. */
  public static long draw(long key, long n) {
    return mix(key + n * GOLDEN);
  }

  /**
   * 16 random bits for a column of the row with seed {@code key}: the upper half of Wellons's
   * lowbias32, without its last step, which changes only the lower half.
   */
  public static int noise(int key, int column) {
    int x = key + column * COLUMN;
    x = (x ^ (x >>> 16)) * NOISE_1;
    x = (x ^ (x >>> 15)) * NOISE_2;
    return x >>> 16;
  }
}
