package dev.tern.files.parquet;

import dev.tern.base.DataException;

/** The dictionary of a column chunk, already converted: its pages are then mere look-ups. */
final class ParquetDictionary {
  private final boolean floating;
  private final boolean mayFail;
  private final ParquetMisfits misfits = new ParquetMisfits(0);
  private long[] longs = {};
  private float[] floats = {};
  private int entries = -1;

  /**
   * @param floating whether entries are floats; else they are longs
   * @param mayFail whether some may be misfits
   */
  ParquetDictionary(boolean floating, boolean mayFail) {
    this.floating = floating;
    this.mayFail = mayFail;
  }

  /** Forgets the dictionary of the chunk before. */
  void startChunk() {
    entries = -1;
  }

  boolean isThere() {
    return entries >= 0;
  }

  /** Makes room for {@code count} entries, which {@link #put} fills. */
  void start(int count) {
    if (floating) {
      floats = floats.length < count ? new float[count] : floats;
    } else {
      longs = longs.length < count ? new long[count] : longs;
    }
    if (mayFail) {
      misfits.reset(count);
    }
    entries = count;
  }

  /** Entries {@code from} on are the first {@code count} of these. */
  void put(int from, int count, long[] longs, float[] floats, ParquetMisfits misfits) {
    if (floating) {
      System.arraycopy(floats, 0, this.floats, from, count);
    } else {
      System.arraycopy(longs, 0, this.longs, from, count);
    }
    for (int i = 0; mayFail && i < count; i++) {
      this.misfits.take(from + i, misfits, i);
    }
  }

  /** Takes the entries at {@code count} indices. */
  void lookUp(int[] indices, int count, long[] longs, float[] floats, ParquetMisfits misfits) {
    requireWithin(indices, count);
    if (floating) {
      for (int i = 0; i < count; i++) {
        floats[i] = this.floats[indices[i]];
      }
    } else {
      for (int i = 0; i < count; i++) {
        longs[i] = this.longs[indices[i]];
      }
    }
    for (int i = 0; mayFail && i < count; i++) {
      misfits.take(i, this.misfits, indices[i]);
    }
  }

  private void requireWithin(int[] indices, int count) {
    // Indices are compared as unsigned: one test finds all that lie outside.
    int largest = Integer.MIN_VALUE;
    for (int i = 0; i < count; i++) {
      largest = Math.max(largest, indices[i] + Integer.MIN_VALUE);
    }
    if (count > 0 && largest >= entries + Integer.MIN_VALUE) {
      throw new DataException(
          "got dictionary index "
              + Integer.toUnsignedString(largest - Integer.MIN_VALUE)
              + " of "
              + entries
              + " entries"
              + ParquetFile.REWRITE);
    }
  }
}
