package dev.tern.internal.kernel;

import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Memory;

/**
 * Reductions of runs of rows. Each element takes its rows in order, so threads change nothing. Of
 * sums, four columns at a time stay in registers over all rows of a run, which are added up in
 * blocks: one float for all would lose what is small beside it. Maxima, which take longer to
 * compute than to store, go row by row.
 */
public final class Segments {
  /** Bytes of the columns that are added up together. */
  private static final int BLOCK = 16;

  /** Rows that are added up before they are added to the sum. */
  private static final int ROWS = 64;

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
      Memory.setFloat(target + at, sumOfOne(begin + at, end, bytes));
    }
  }

  private static float sumOfOne(long begin, long end, long bytes) {
    float sum = 0;
    long row = begin;
    while (row < end) {
      float part = 0;
      for (long to = Math.min(end, row + ROWS * bytes); row < to; row += bytes) {
        part += Memory.getFloat(row);
      }
      sum += part;
    }
    return sum;
  }

  private static void sumOfFour(long begin, long end, long target, long bytes) {
    float a = 0;
    float b = 0;
    float c = 0;
    float d = 0;
    long row = begin;
    while (row < end) {
      float ofA = 0;
      float ofB = 0;
      float ofC = 0;
      float ofD = 0;
      for (long to = Math.min(end, row + ROWS * bytes); row < to; row += bytes) {
        ofA += Memory.getFloat(row);
        ofB += Memory.getFloat(row + 4);
        ofC += Memory.getFloat(row + 8);
        ofD += Memory.getFloat(row + 12);
      }
      a += ofA;
      b += ofB;
      c += ofC;
      d += ofD;
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
