package dev.tern.internal.kernel.ops;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;

/**
 * Moves rows of floats by an index, I32 or I64.
 *
 * @param op names who reads it
 * @param address of the index
 * @param rows that it may speak of
 * @param gaps whether -1 stands for no row
 */
public record RowIndex(String op, long address, DType type, int rows, boolean gaps) {
  /** Rows of {@code width} words of 4 bytes for places {@code from} to {@code to - 1}. */
  public void gather(long table, long out, int from, int to, int width) {
    long bytes = 4L * width;
    for (int i = from; i < to; i++) {
      long row = at(i);
      if (row < 0) {
        Memory.zero(out + i * bytes, bytes);
      } else if (width == 1) {
        Memory.setInt(out + 4L * i, Memory.getInt(table + 4 * row));
      } else {
        Memory.copy(table + row * bytes, out + i * bytes, bytes);
      }
    }
  }

  /** Adds {@code count} rows of {@code values} to the zeroed rows of {@code out}, in order. */
  public void scatterAdd(long values, long out, int count, int width) {
    long bytes = 4L * width;
    Memory.zero(out, rows * bytes);
    for (int i = 0; i < count; i++) {
      long row = at(i);
      if (row >= 0) {
        add(values + i * bytes, out + row * bytes, bytes);
      }
    }
  }

  /** Four at a time: loads of the next need not wait for stores of the last. */
  private static void add(long source, long target, long bytes) {
    long at = 0;
    for (; at + 16 <= bytes; at += 16) {
      float a = Memory.getFloat(target + at) + Memory.getFloat(source + at);
      float b = Memory.getFloat(target + at + 4) + Memory.getFloat(source + at + 4);
      float c = Memory.getFloat(target + at + 8) + Memory.getFloat(source + at + 8);
      float d = Memory.getFloat(target + at + 12) + Memory.getFloat(source + at + 12);
      Memory.setFloat(target + at, a);
      Memory.setFloat(target + at + 4, b);
      Memory.setFloat(target + at + 8, c);
      Memory.setFloat(target + at + 12, d);
    }
    for (; at < bytes; at += 4) {
      Memory.setFloat(target + at, Memory.getFloat(target + at) + Memory.getFloat(source + at));
    }
  }

  /**
   * Checks that each of {@code count} places names a row, or none where that may be.
   *
   * @throws IndexOutOfBoundsException for the first that does not
   */
  public void check(int count) {
    for (int place = 0; place < count; place++) {
      at(place);
    }
  }

  private long at(int place) {
    long at = address + (long) place * type.bytes();
    long row = type == DType.I64 ? Memory.getLong(at) : Memory.getInt(at);
    if ((row < 0 || row >= rows) && !(gaps && row == -1)) {
      throw new IndexOutOfBoundsException(
          op + ": got index " + row + " at position " + place + ", expected 0 to " + (rows - 1));
    }
    return row;
  }
}
