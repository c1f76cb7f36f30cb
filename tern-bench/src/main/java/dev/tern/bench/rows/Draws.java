package dev.tern.bench.rows;

/** The numbers that {@code peers/train.py} draws; see the head of that script for the formulas. */
record Draws(long seed) {
  private static final double ALPHA = 1.05;

  /** Number {@code index} of a stream, in [0, 1). */
  double uniform(int stream, long index) {
    long z = ((seed << 40) + ((long) stream << 32) + index + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (z >>> 11) * 0x1p-53;
  }

  /** An id below {@code size} by a power law. */
  long id(int stream, long index, long size) {
    double exponent = 1 - ALPHA;
    double top = Math.pow(size + 1, exponent);
    double y = Math.pow((top - 1) * uniform(stream, index) + 1, 1 / exponent);
    return Math.clamp((long) Math.floor(y) - 1, 0, size - 1);
  }
}
