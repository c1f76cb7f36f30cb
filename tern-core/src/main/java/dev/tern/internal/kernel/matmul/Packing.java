package dev.tern.internal.kernel.matmul;

import static dev.tern.internal.memory.Memory.ALL;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.ValueLayout;
import java.util.Objects;

/**
 * Copies blocks of a matrix into the order in which {@link TileKernel} reads them. A block has up
 * to {@code width} lines: rows of A for a strip, columns of B for a panel. Number {@code p} of line
 * {@code i} becomes float {@code p * width + i} of the packed block; missing lines become zeros.
 * For example, two lines 1 2 3 and 4 5 6 are packed with width 3 as 1 4 0 2 5 0 3 6 0.
 *
 * @param line bytes between lines
 * @param step bytes between the numbers of a line
 * @param width lines in a packed block
 */
record Packing(long line, long step, int width) {
  private static final ValueLayout.OfLong PAIR = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long LOW = 0xFFFFFFFFL;
  private static final long LIMIT = 1L << 60;
  private static final int ROWS_AT_A_TIME = 4;

  /**
   * Packs one block.
   *
   * @param from address of the first line
   * @param lines number of lines, at most {@code width}
   * @param count numbers in each line
   * @param to address of the packed block
   */
  void pack(TileKernel kernel, long from, int lines, int count, long to) {
    if (lines < width) {
      Memory.zero(to, 4L * width * count);
    }
    if (line == 4) {
      kernel.blocks().copy(from, step, to, 4L * width, count, lines);
    } else if (step == 4) {
      interleave(kernel, from, lines, count, to);
    } else {
      for (int i = 0; i < lines; i++) {
        strided(from + i * line, step, count, to + 4L * i, 4L * width);
      }
    }
  }

  /** Bytes between blocks that are packed side by side, each line of {@code count} numbers. */
  long groupBytes(int count) {
    return isStrips() ? stripBytes(count) : 4L * width * count;
  }

  /**
   * Bytes between packed strips. There is room for two more numbers, and the number of cache lines
   * is odd, so that strips packed side by side do not all use the same sets of a cache.
   */
  static long stripBytes(int terms) {
    return ((4L * TileLoops.ROWS * terms + 8 + 63) / 64 | 1) * 64;
  }

  private boolean isStrips() {
    return width == TileLoops.ROWS;
  }

  /**
   * Packs blocks whose lines are neighbouring columns in memory: each line begins 4 bytes after the
   * one before. It takes four rows of memory at a time, and reads each row from end to end.
   *
   * @param from address of the first block
   * @param lines in memory from the first block on
   * @param groups number of blocks, all of {@code width} lines
   * @param count numbers in each line
   * @param to address of the first packed block; others follow at {@link #groupBytes}
   */
  void packSideBySide(TileKernel kernel, long from, int lines, int groups, int count, long to) {
    boolean strips = isStrips();
    long groupBytes = groupBytes(count);
    int wide = strips ? Math.clamp((lines - 2) / width, 0, groups) : groups;
    int whole = count / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
    long row = 4L * width;
    for (int p = 0; p < whole; p += ROWS_AT_A_TIME) {
      if (strips) {
        long rest = from + p * step + wide * row;
        kernel.blocks().spreadStrips(from + p * step, step, wide, to + p * row, groupBytes);
        spreadStrips(rest, step, groups - wide, to + wide * groupBytes + p * row, groupBytes);
      } else {
        kernel.blocks().spread(from + p * step, step, groups, to + p * row, groupBytes);
      }
    }
    for (int group = 0; group < groups; group++) {
      long source = from + whole * step + group * row;
      long target = to + group * groupBytes + whole * row;
      kernel.blocks().copy(source, step, target, row, count - whole, width);
    }
  }

  /** {@link BlockKernel#spreadStrips} without vectors; moves exactly six floats a piece. */
  static void spreadStrips(long from, long step, int groups, long to, long groupBytes) {
    long first = Objects.checkIndex(from, LIMIT);
    long second = Objects.checkIndex(from + step, LIMIT);
    long third = Objects.checkIndex(from + 2 * step, LIMIT);
    long fourth = Objects.checkIndex(from + 3 * step, LIMIT);
    long target = to;
    for (int group = 0; group < groups; group++) {
      long at = 24L * group;
      long y = Objects.checkIndex(target, LIMIT);
      ALL.set(PAIR, y, ALL.get(PAIR, first + at));
      ALL.set(PAIR, y + 8, ALL.get(PAIR, first + at + 8));
      ALL.set(PAIR, y + 16, ALL.get(PAIR, first + at + 16));
      ALL.set(PAIR, y + 24, ALL.get(PAIR, second + at));
      ALL.set(PAIR, y + 32, ALL.get(PAIR, second + at + 8));
      ALL.set(PAIR, y + 40, ALL.get(PAIR, second + at + 16));
      ALL.set(PAIR, y + 48, ALL.get(PAIR, third + at));
      ALL.set(PAIR, y + 56, ALL.get(PAIR, third + at + 8));
      ALL.set(PAIR, y + 64, ALL.get(PAIR, third + at + 16));
      ALL.set(PAIR, y + 72, ALL.get(PAIR, fourth + at));
      ALL.set(PAIR, y + 80, ALL.get(PAIR, fourth + at + 8));
      ALL.set(PAIR, y + 88, ALL.get(PAIR, fourth + at + 16));
      target += groupBytes;
    }
  }

  /** Packs lines whose numbers lie side by side ({@code step} is 4), without zeros. */
  void interleave(TileKernel kernel, long from, int lines, int count, long to) {
    if (lines == TileLoops.ROWS && isStrips()) {
      kernel.blocks().interleave(from, line, count, to);
      return;
    }
    long toStep = 4L * width;
    int i = 0;
    for (; i + 4 <= lines; i += 4) {
      interleaveFour(from + i * line, line, count, to + 4L * i, toStep);
    }
    if (i + 2 <= lines) {
      interleaveTwo(from + i * line, line, count, to + 4L * i, toStep);
      i += 2;
    }
    if (i < lines) {
      strided(from + i * line, 4, count, to + 4L * i, toStep);
    }
  }

  /** {@link BlockKernel#interleave} without vectors, two numbers of each line at a time. */
  static void interleaveSix(long from, long line, int count, long to) {
    long one = Objects.checkIndex(from, LIMIT);
    long two = Objects.checkIndex(from + line, LIMIT);
    long three = Objects.checkIndex(from + 2 * line, LIMIT);
    long four = Objects.checkIndex(from + 3 * line, LIMIT);
    long five = Objects.checkIndex(from + 4 * line, LIMIT);
    long six = Objects.checkIndex(from + 5 * line, LIMIT);
    long target = Objects.checkIndex(to, LIMIT);
    int p = 0;
    for (; p + 2 <= count; p += 2) {
      long at = 4L * p;
      long y = target + 24L * p;
      long u = ALL.get(PAIR, one + at);
      long v = ALL.get(PAIR, two + at);
      ALL.set(PAIR, y, (u & LOW) | (v << 32));
      ALL.set(PAIR, y + 24, (u >>> 32) | (v & ~LOW));
      u = ALL.get(PAIR, three + at);
      v = ALL.get(PAIR, four + at);
      ALL.set(PAIR, y + 8, (u & LOW) | (v << 32));
      ALL.set(PAIR, y + 32, (u >>> 32) | (v & ~LOW));
      u = ALL.get(PAIR, five + at);
      v = ALL.get(PAIR, six + at);
      ALL.set(PAIR, y + 16, (u & LOW) | (v << 32));
      ALL.set(PAIR, y + 40, (u >>> 32) | (v & ~LOW));
    }
    if (p < count) {
      for (int i = 0; i < TileLoops.ROWS; i++) {
        Memory.setInt(target + 24L * p + 4L * i, Memory.getInt(one + i * line + 4L * p));
      }
    }
  }

  /** Four lines, two numbers of each at a time: 8 bytes are read and written at once. */
  private static void interleaveFour(long from, long line, int count, long to, long toStep) {
    long one = Objects.checkIndex(from, LIMIT);
    long two = Objects.checkIndex(from + line, LIMIT);
    long three = Objects.checkIndex(from + 2 * line, LIMIT);
    long four = Objects.checkIndex(from + 3 * line, LIMIT);
    long target = to;
    int p = 0;
    for (; p + 2 <= count; p += 2) {
      long at = 4L * p;
      long t = ALL.get(PAIR, one + at);
      long u = ALL.get(PAIR, two + at);
      long v = ALL.get(PAIR, three + at);
      long w = ALL.get(PAIR, four + at);
      long y = Objects.checkIndex(target, LIMIT);
      ALL.set(PAIR, y, (t & LOW) | (u << 32));
      ALL.set(PAIR, y + 8, (v & LOW) | (w << 32));
      y = Objects.checkIndex(y + toStep, LIMIT);
      ALL.set(PAIR, y, (t >>> 32) | (u & ~LOW));
      ALL.set(PAIR, y + 8, (v >>> 32) | (w & ~LOW));
      target += 2 * toStep;
    }
    if (p < count) {
      for (int i = 0; i < 4; i++) {
        Memory.setInt(target + 4L * i, Memory.getInt(from + i * line + 4L * p));
      }
    }
  }

  /** Two lines, two numbers of each at a time. */
  private static void interleaveTwo(long from, long line, int count, long to, long toStep) {
    long one = Objects.checkIndex(from, LIMIT);
    long two = Objects.checkIndex(from + line, LIMIT);
    long target = to;
    int p = 0;
    for (; p + 2 <= count; p += 2) {
      long x = ALL.get(PAIR, one + 4L * p);
      long y = ALL.get(PAIR, two + 4L * p);
      long z = Objects.checkIndex(target, LIMIT);
      ALL.set(PAIR, z, (x & LOW) | (y << 32));
      ALL.set(PAIR, Objects.checkIndex(z + toStep, LIMIT), (x >>> 32) | (y & ~LOW));
      target += 2 * toStep;
    }
    if (p < count) {
      Memory.setFloat(target, Memory.getFloat(from + 4L * p));
      Memory.setFloat(target + 4, Memory.getFloat(from + line + 4L * p));
    }
  }

  private static void strided(long from, long step, int count, long to, long toStep) {
    for (int p = 0; p < count; p++) {
      Memory.setFloat(to + p * toStep, Memory.getFloat(from + p * step));
    }
  }
}
