package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The DELTA_BINARY_PACKED encoding: a first value, then blocks of differences, each block with its
 * smallest difference and its miniblocks' bit widths before the packed rests. Arithmetic wraps.
 *
 * <p>The array must have {@link ParquetRuns#SLACK} bytes more than the data.
 */
final class ParquetDelta {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int MAX_BLOCK = 1 << 16;

  private byte[] data = new byte[ParquetRuns.SLACK];
  private int position;
  private int end;
  private int miniblocks;
  private int perMiniblock;

  /** Values not yet taken, the one in {@link #value} among them. */
  private long left;

  /** The next value to be taken. */
  private long value;

  private long minDelta;

  /** Where the bit widths of the block at hand are, and which miniblock is next. */
  private int widths;

  private int miniblock;

  /** Bits of a packed rest in the miniblock at hand. */
  private int width;

  private long[] deltas = new long[32];
  private int nextDelta;
  private int deltaCount;

  /** Starts on {@code data[from, to)}. */
  void open(byte[] data, int from, int to) {
    this.data = data;
    position = from;
    end = to;
    long block = varint();
    long minis = varint();
    left = varint();
    value = zigzag(varint());
    if (block < 1 || block > MAX_BLOCK || minis < 1 || minis > block || block % (8 * minis) != 0) {
      throw new DataException(
          "got delta blocks of "
              + block
              + " values in "
              + minis
              + " parts, expected at most "
              + MAX_BLOCK
              + " in parts of eights"
              + ParquetFile.REWRITE);
    }
    if (left < 0 || left > Integer.MAX_VALUE) {
      throw new DataException("got " + left + " delta values" + ParquetFile.REWRITE);
    }
    miniblocks = (int) minis;
    perMiniblock = (int) (block / minis);
    miniblock = miniblocks;
    nextDelta = 0;
    deltaCount = 0;
    if (deltas.length < perMiniblock) {
      deltas = new long[perMiniblock];
    }
  }

  /** Takes {@code count} values into {@code out} from index {@code at}. */
  void read(long[] out, int at, int count) {
    if (count > left) {
      throw new DataException("got fewer delta values than the page's count" + ParquetFile.REWRITE);
    }
    for (int i = at; i < at + count; i++) {
      out[i] = value;
      left--;
      if (left > 0) {
        if (nextDelta == deltaCount) {
          nextMiniblock();
        }
        value += deltas[nextDelta];
        nextDelta++;
      }
    }
  }

  /** Goes over all values, none of which may have been taken; returns the index after the data. */
  int skipAll() {
    while (left > 1) {
      step();
      left -= Math.min(left - 1, perMiniblock);
    }
    left = 0;
    return position;
  }

  private void nextMiniblock() {
    step();
    unpack(position - bytes(width), perMiniblock);
    nextDelta = 0;
    deltaCount = perMiniblock;
  }

  /** Goes over one miniblock, and the head of its block before the first. */
  private void step() {
    if (miniblock == miniblocks) {
      minDelta = zigzag(varint());
      widths = position;
      position += miniblocks;
      miniblock = 0;
    }
    if (position > end) {
      throw exhausted();
    }
    width = data[widths + miniblock] & 0xFF;
    if (width > 64) {
      throw new DataException("got delta values of " + width + " bits" + ParquetFile.REWRITE);
    }
    miniblock++;
    position += bytes(width);
    if (position > end) {
      throw exhausted();
    }
  }

  private int bytes(int width) {
    return perMiniblock / 8 * width;
  }

  private void unpack(int from, int count) {
    if (width == 0) {
      Arrays.fill(deltas, 0, count, minDelta);
      return;
    }
    long mask = width == 64 ? -1L : (1L << width) - 1;
    long bit = 8L * from;
    for (int i = 0; i < count; i++) {
      int index = (int) (bit >>> 3);
      int shift = (int) (bit & 7);
      long bits = (long) LONG.get(data, index) >>> shift;
      if (shift + width > 64) {
        bits |= (data[index + 8] & 0xFFL) << (64 - shift);
      }
      deltas[i] = minDelta + (bits & mask);
      bit += width;
    }
  }

  private long varint() {
    long result = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (position >= end) {
        throw exhausted();
      }
      byte next = data[position];
      position++;
      result |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return result;
      }
    }
    throw new DataException("got a number longer than 10 bytes" + ParquetFile.REWRITE);
  }

  private static long zigzag(long encoded) {
    return encoded >>> 1 ^ -(encoded & 1);
  }

  private static DataException exhausted() {
    return new DataException("got delta values cut short" + ParquetFile.REWRITE);
  }
}
