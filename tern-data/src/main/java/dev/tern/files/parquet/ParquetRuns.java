package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The run-length / bit-packed hybrid of Parquet's "RLE" encoding: levels, dictionary indices and
 * booleans. A run is a varint header and then either one value repeated, or groups of eight values
 * packed from the lowest bit.
 *
 * <p>Packed values are taken with one 8-byte load each, so the array must have {@link #SLACK} bytes
 * more than the data.
 */
final class ParquetRuns {
  /** Bytes an array must have beyond the data. */
  static final int SLACK = 8;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] data = new byte[SLACK];
  private int position;
  private int end;
  private int width;

  /** Values left in the run at hand. */
  private long left;

  private boolean packed;
  private int repeated;

  /** Bit after the last value taken of a packed run, from the start of the array. */
  private long bit;

  /** Starts on {@code data[from, to)} with values of {@code width} bits, 0 to 32. */
  void open(byte[] data, int from, int to, int width) {
    if (width < 0 || width > 32) {
      throw new DataException("got values of " + width + " bits, expected 0 to 32");
    }
    this.data = data;
    this.width = width;
    position = from;
    end = to;
    left = 0;
  }

  /** Starts on zeros without end. */
  void openZeros() {
    open(data, 0, 0, 0);
    packed = false;
    repeated = 0;
    left = Long.MAX_VALUE;
  }

  /**
   * Starts on {@code count} values of {@code width} bits in the deprecated encoding BIT_PACKED: one
   * after the other from the highest bit on, without runs.
   */
  void openBitPacked(byte[] source, int from, int count, int width) {
    byte[] turned = new byte[packedBytes(count, width) + SLACK];
    for (int i = 0; i < count; i++) {
      for (int b = 0; b < width; b++) {
        long at = 8L * from + (long) i * width + b;
        int set = source[(int) (at >>> 3)] >> (7 - (at & 7)) & 1;
        long to = (long) i * width + width - 1 - b;
        turned[(int) (to >>> 3)] |= (byte) (set << (to & 7));
      }
    }
    open(turned, 0, 0, width);
    packed = true;
    left = count;
    bit = 0;
  }

  /** Bytes that {@code count} values of {@code width} bits take. */
  static int packedBytes(int count, int width) {
    return Math.toIntExact(((long) count * width + 7) / 8);
  }

  /** Takes {@code count} values into {@code out} from index 0. */
  void read(int[] out, int count) {
    int done = 0;
    while (done < count) {
      if (left == 0) {
        nextRun();
      }
      int n = (int) Math.min(left, count - done);
      if (packed) {
        unpack(out, done, n);
      } else {
        Arrays.fill(out, done, done + n, repeated);
      }
      left -= n;
      done += n;
    }
  }

  /** Takes {@code count} values if they all are {@code value} and lie in one run; else none. */
  boolean takeRepeated(int value, int count) {
    if (left == 0 && count > 0) {
      nextRun();
    }
    if (packed || repeated != value || left < count) {
      return false;
    }
    left -= count;
    return true;
  }

  private void unpack(int[] out, int at, int count) {
    byte[] bytes = data;
    long mask = (1L << width) - 1;
    long from = bit;
    int step = width;
    for (int i = 0; i < count; i++) {
      out[at + i] = (int) ((long) LONG.get(bytes, (int) (from >>> 3)) >>> (from & 7) & mask);
      from += step;
    }
    bit = from;
  }

  private void nextRun() {
    do {
      readRun();
    } while (left == 0);
  }

  private void readRun() {
    long header = varint();
    long count = header >>> 1;
    packed = (header & 1) == 1;
    if (packed) {
      // The last group may be cut short by writers that do not fill it.
      long bits = Math.min(count * 8 * width, 8L * (end - position));
      left = width == 0 ? count * 8 : bits / width;
      bit = 8L * position;
      position += (int) ((bits + 7) / 8);
    } else {
      int bytes = (width + 7) / 8;
      if (bytes > end - position) {
        throw exhausted();
      }
      repeated = (int) ((long) LONG.get(data, position) & (1L << (8 * bytes)) - 1);
      position += bytes;
      left = count;
    }
  }

  private long varint() {
    long value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      if (position >= end) {
        throw exhausted();
      }
      byte next = data[position];
      position++;
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new DataException("got a run header longer than 5 bytes" + ParquetFile.REWRITE);
  }

  private static DataException exhausted() {
    return new DataException("got fewer values than the page's count" + ParquetFile.REWRITE);
  }
}
