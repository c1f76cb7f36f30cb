package dev.tern.internal.kernel;

import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Memory;

/**
 * Reductions of runs of rows. Each element takes its rows in order, so threads change nothing. Of
 * sums, four columns at a time stay in registers over all rows of a run; maxima, which take longer
 * to compute than to store, go row by row.
 */
public final class Segments {
  /** Bytes of the columns that are added up together. */
  private static final int BLOCK = 16;

  private Segments() {}

  /**
   * Reduces the rows of sequences {@code from} to {@code to - 1}.
   *
   * @param values rows of {@code width} floats
   * @param offsets I32, checked
   * @param out one row for each sequence
   */
  public static void reduce(
      Op.Reduce.Kind kind, long values, long offsets, long out, int from, int to, int width) {
    long bytes = 4L * width;
    for (int s = from; s < to; s++) {
      long begin = values + Memory.getInt(offsets + 4L * s) * bytes;
      long end = values + Memory.getInt(offsets + 4L * s + 4) * bytes;
      long target = out + s * bytes;
      switch (kind) {
        case SUM -> sum(begin, end, target, bytes);
        case MAX -> max(begin, end, target, bytes);
      }
    }
  }

  private static void sum(long begin, long end, long target, long bytes) {
    long at = 0;
    for (; at + BLOCK <= bytes; at += BLOCK) {
      sumOfFour(begin + at, end, target + at, bytes);
    }
    for (; at < bytes; at += 4) {
      float sum = 0;
      for (long row = begin + at; row < end; row += bytes) {
        sum += Memory.getFloat(row);
      }
      Memory.setFloat(target + at, sum);
    }
  }

  private static void sumOfFour(long begin, long end, long target, long bytes) {
    float a = 0;
    float b = 0;
    float c = 0;
    float d = 0;
    for (long row = begin; row < end; row += bytes) {
      a += Memory.getFloat(row);
      b += Memory.getFloat(row + 4);
      c += Memory.getFloat(row + 8);
      d += Memory.getFloat(row + 12);
    }
    Memory.setFloat(target, a);
    Memory.setFloat(target + 4, b);
    Memory.setFloat(target + 8, c);
    Memory.setFloat(target + 12, d);
  }

  private static void max(long begin, long end, long target, long bytes) {
    for (long at = 0; at < bytes; at += 4) {
      Memory.setFloat(target + at, Float.NEGATIVE_INFINITY);
    }
    for (long row = begin; row < end; row += bytes) {
      for (long at = 0; at < bytes; at += 4) {
        float most = Math.max(Memory.getFloat(target + at), Memory.getFloat(row + at));
        Memory.setFloat(target + at, most);
      }
    }
  }
}
