package dev.tern.internal.kernel.ops;

import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Memory;

/**
 * The sum or maximum of each run of rows, column by column. Rows are taken in order, so the number
 * of threads changes nothing. A sum keeps four columns in registers over all rows of a run. It adds
 * up {@value #ROWS} rows at a time, then their sums, as a long sum would lose small numbers.
 *
 * @param width floats of a row
 */
public record SegmentReduction(Op.Reduce.Kind kind, int width) {
  /** Bytes of the columns that a sum keeps in registers. */
  private static final int BLOCK = 16;

  /** Rows that are added up before they are added to the sum. */
  private static final int ROWS = 64;

  /**
   * Reduces runs {@code from} to {@code to - 1}. Run {@code s} has the rows from offset {@code s}
   * to offset {@code s + 1}.
   *
   * @param values address of the rows
   * @param offsets address of offsets, I32, checked
   * @param out address of one row for each run
   */
  public void reduce(long values, long offsets, long out, int from, int to) {
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
