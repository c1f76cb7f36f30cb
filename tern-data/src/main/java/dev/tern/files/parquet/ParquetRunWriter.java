package dev.tern.files.parquet;

import dev.tern.internal.files.RecordBuffer;

/**
 * Writes what {@link ParquetRuns} reads: runs of eight and more equal values by their length, the
 * others packed in groups of eight, the last of which is filled up with zeros.
 */
final class ParquetRunWriter {
  private final RecordBuffer out;

  ParquetRunWriter(RecordBuffer out) {
    this.out = out;
  }

  /** Bits that values from 0 to {@code largest} need. */
  static int width(int largest) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(largest);
  }

  /** Writes {@code values[from, to)}, each of {@code width} bits. */
  void write(int[] values, int from, int to, int width) {
    int packed = from;
    int at = from;
    while (at < to) {
      int end = at + 1;
      while (end < to && values[end] == values[at]) {
        end++;
      }
      // A run may start only where a packed group ends.
      int aligned = at + (packed - at & 7);
      if (end - aligned >= 8) {
        pack(values, packed, aligned, width);
        repeat(values[aligned], end - aligned, width);
        packed = end;
      }
      at = end;
    }
    pack(values, packed, to, width);
  }

  private void repeat(int value, int count, int width) {
    putVarint((long) count << 1);
    for (int shift = 0; shift < width; shift += 8) {
      out.putByte(value >>> shift);
    }
  }

  private void pack(int[] values, int from, int to, int width) {
    if (from == to) {
      return;
    }
    int groups = (to - from + 7) / 8;
    putVarint((long) groups << 1 | 1);
    long bits = 0;
    int held = 0;
    for (int i = from; i < from + 8 * groups; i++) {
      bits |= (i < to ? values[i] & 0xFFFF_FFFFL : 0) << held;
      held += width;
      while (held >= 8) {
        out.putByte((int) bits);
        bits >>>= 8;
        held -= 8;
      }
    }
  }

  private void putVarint(long value) {
    long rest = value;
    while (rest > 0x7F) {
      out.putByte((int) ((rest & 0x7F) | 0x80));
      rest >>>= 7;
    }
    out.putByte((int) rest);
  }
}
