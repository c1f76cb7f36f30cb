package dev.tern.base;

/** Mixing of 64-bit values: SplitMix64 (Steele, Lea, Flood 2014) with Stafford's variant 13. */
public final class SplitMix64 {
  public static final long GAMMA = 0x9E3779B97F4A7C15L;

  private SplitMix64() {}

  /** A bijection whose every output bit depends on every input bit. */
  public static long mix(long value) {
    long z = value + GAMMA;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }

  /** A value in {@code [0, bound)} from all bits of {@code value}. */
  public static long bounded(long value, long bound) {
    return Math.unsignedMultiplyHigh(mix(value), bound);
  }
}
