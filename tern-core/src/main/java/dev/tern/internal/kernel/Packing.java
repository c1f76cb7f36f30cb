package dev.tern.internal.kernel;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Copies blocks of matrices into the order in which {@link TileKernel} reads them: {@code width}
 * lines side by side, so that number {@code p} of line {@code i} stands at {@code p * width + i}.
 * Lines beyond the block are zeros. Strides are bytes.
 */
final class Packing {
  private static final ValueLayout.OfLong PAIR = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long LOW = 0xFFFFFFFFL;
  private static final long LIMIT = 1L << 60;
  private static final int ROWS_AT_A_TIME = 4;

  private Packing() {}

  /** Packs {@code lines} lines of {@code count} numbers each. */
  static void pack(
      TileKernel kernel,
      long from,
      long line,
      long step,
      int lines,
      int count,
      long to,
      int width) {
    if (lines < width) {
      Memory.zero(to, 4L * width * count);
    }
    if (line == 4) {
      kernel.copy(from, step, to, 4L * width, count, lines);
    } else if (step == 4) {
      interleave(from, line, lines, count, to, 4L * width);
    } else {
      for (int i = 0; i < lines; i++) {
        strided(from + i * line, step, count, to + 4L * i, 4L * width);
      }
    }
  }

  /**
   * Packs {@code groups} blocks that lie side by side, each of {@code width} lines which are
   * columns in memory. A few rows at a time, so that every row is read from end to end.
   *
   * @param groupBytes from one packed block to the next
   */
  static void packSideBySide(
      TileKernel kernel,
      long from,
      long step,
      int groups,
      int width,
      int count,
      long to,
      long groupBytes) {
    long row = 4L * width;
    for (int p = 0; p < count; p += ROWS_AT_A_TIME) {
      int rows = Math.min(ROWS_AT_A_TIME, count - p);
      for (int group = 0; group < groups; group++) {
        long source = from + p * step + group * row;
        kernel.copy(source, step, to + group * groupBytes + p * row, row, rows, width);
      }
    }
  }

  private static void interleave(long from, long line, int lines, int count, long to, long toStep) {
    int i = 0;
    for (; i + 2 <= lines; i += 2) {
      interleaveTwo(from + i * line, from + (i + 1) * line, count, to + 4L * i, toStep);
    }
    if (i < lines) {
      strided(from + i * line, 4, count, to + 4L * i, toStep);
    }
  }

  /** Two lines, two numbers of each at a time: 8 bytes are read and written at once. */
  private static void interleaveTwo(long first, long second, int count, long to, long toStep) {
    long one = Objects.checkIndex(first, LIMIT);
    long two = Objects.checkIndex(second, LIMIT);
    long target = to;
    int p = 0;
    for (; p + 2 <= count; p += 2) {
      long x = ALL.get(PAIR, one + 4L * p);
      long y = ALL.get(PAIR, two + 4L * p);
      ALL.set(PAIR, target, (x & LOW) | (y << 32));
      ALL.set(PAIR, target + toStep, (x >>> 32) | (y & ~LOW));
      target += 2 * toStep;
    }
    if (p < count) {
      Memory.setFloat(target, Memory.getFloat(first + 4L * p));
      Memory.setFloat(target + 4, Memory.getFloat(second + 4L * p));
    }
  }

  private static void strided(long from, long step, int count, long to, long toStep) {
    for (int p = 0; p < count; p++) {
      Memory.setFloat(to + p * toStep, Memory.getFloat(from + p * step));
    }
  }
}
