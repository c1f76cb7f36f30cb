package dev.tern.internal.kernel;

import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.Memory;

/** Reductions of runs of rows. Each element takes its rows in order, so threads change nothing. */
public final class Segments {
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
    if (begin == end) {
      Memory.zero(target, bytes);
      return;
    }
    Memory.copy(begin, target, bytes);
    for (long row = begin + bytes; row < end; row += bytes) {
      for (long at = 0; at < bytes; at += 4) {
        float sum = Memory.getFloat(target + at) + Memory.getFloat(row + at);
        Memory.setFloat(target + at, sum);
      }
    }
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
