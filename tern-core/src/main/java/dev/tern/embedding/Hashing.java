package dev.tern.embedding;

/** The one mixing function behind the id index and the initial weights. */
final class Hashing {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private Hashing() {}

  /**
   * A bijection of 64-bit numbers whose every output bit depends on every input bit: splitmix64.
   */
  static long mix(long x) {
    long z = x + GOLDEN;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Number {@code n} of the sequence that {@code key} stands for. */
  static long draw(long key, long n) {
    return mix(key + n * GOLDEN);
  }
}
