package dev.tern.internal.kernel.ops;

import dev.tern.base.DType;
import dev.tern.internal.memory.Memory;

/**
 * Moves rows of floats by an index of rows, I32 or I64.
 *
 * @param op names the op in errors
 * @param address of the index
 * @param rows number of rows; elements of the index are 0 to {@code rows - 1}
 * @param gaps whether an element may be -1, for no row
 */
public record RowIndex(String op, long address, DType type, int rows, boolean gaps) {
  /**
   * Copies the rows that the index names, or zeros for no row, to places {@code from} to {@code to
   * - 1} of {@code out}. A row has {@code width} words of 4 bytes.
   */
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

  /**
   * Zeros rows {@code [from, to)} of {@code out}, then adds the rows that belong there of {@code
   * count} rows of {@code values}, in order.
   */
  public void scatterAdd(long values, long out, int count, int width, int from, int to) {
    long bytes = 4L * width;
    Memory.zero(out + from * bytes, (to - from) * bytes);
    for (int i = 0; i < count; i++) {
      long row = at(i);
      if (row >= from && row < to) {
        add(values + i * bytes, out + row * bytes, bytes);
      }
    }
  }

  /** Adds four floats at a time, so that loads need not wait for earlier stores. */
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

  /** Checks the first {@code count} elements; one out of range is an IndexOutOfBoundsException. */
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
