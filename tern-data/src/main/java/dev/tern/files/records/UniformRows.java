package dev.tern.files.records;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Copies rows that lie at equal distances, each laid out like the first, into a batch: slot by
 * slot, so that ids are written one after the other. Rows of few kilobytes at a time stay in the
 * cache between columns.
 */
final class UniformRows {
  /** Bytes to copy at a time: what a first-level cache holds. */
  static final int BLOCK = 1 << 14;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int MAGNITUDE = 0x7FFF_FFFF;
  private static final int INFINITE = 0x7F80_0000;

  private final int labels;
  private final boolean intLabels;
  private final int dense;
  private final RawOptions.Dense denseForm;
  private final KeyType keys;
  private final ReadPolicy.Labels[] values;

  /** Byte of the first label of a row, counted from the row. */
  private final int labelsAt;

  /** Bytes from one row to the next. */
  int stride;

  /** Of each slot: byte of its first key, counted from the row, and how many keys there are. */
  final int[] keysAt;

  final int[] keyCounts;

  /** Rows with {@code labels} labels from byte {@code labelsAt} on, then the dense numbers. */
  UniformRows(
      Schema schema,
      int labelsAt,
      int labels,
      boolean intLabels,
      RawOptions.Dense denseForm,
      KeyType keys,
      ReadPolicy policy) {
    this.labelsAt = labelsAt;
    this.labels = labels;
    this.intLabels = intLabels;
    this.denseForm = denseForm;
    this.keys = keys;
    values = policy.labels(schema.labels());
    dense = schema.denseDim();
    keysAt = new int[schema.slotCount()];
    keyCounts = new int[schema.slotCount()];
  }

  /**
   * Appends {@code rows} rows, the first at {@code data[at]}; false, and nothing appended, where
   * they hold a label or a dense number that is a fault.
   */
  boolean append(Batch batch, byte[] data, int at, int rows) {
    int size = batch.size();
    batch.resize(size + rows);
    boolean sound =
        (values.length == 0
                || values[0].equals(ReadPolicy.Labels.NONE)
                || putLabels(batch, size, data, at, rows))
            && putDense(batch, size, data, at, rows);
    if (!sound) {
      batch.resize(size);
      return false;
    }
    for (int slot = 0; slot < keysAt.length; slot++) {
      putIds(batch, slot, size, data, at, rows);
    }
    return true;
  }

  private boolean putLabels(Batch batch, int size, byte[] data, int at, int rows) {
    float[] out = batch.labels();
    boolean sound = true;
    for (int row = 0; row < rows; row++) {
      int from = at + row * stride + labelsAt;
      for (int i = 0; i < labels; i++) {
        int bits = (int) INT.get(data, from + 4 * i);
        float label = intLabels ? bits : Float.intBitsToFloat(bits);
        sound &= values[i].accepts(label);
        out[(size + row) * labels + i] = values[i].of(label);
      }
    }
    return sound;
  }

  private boolean putDense(Batch batch, int size, byte[] data, int at, int rows) {
    float[] out = batch.dense();
    boolean sound = true;
    for (int row = 0; row < rows; row++) {
      int from = at + row * stride + labelsAt + 4 * labels;
      int to = (size + row) * dense;
      sound &=
          switch (denseForm) {
            case FLOAT -> putFloats(data, from, out, to);
            case INT -> putInts(data, from, out, to);
            case INT_LOG -> putLogs(data, from, out, to);
          };
    }
    return sound;
  }

  private boolean putFloats(byte[] data, int from, float[] out, int to) {
    boolean infinite = false;
    for (int i = 0; i < dense; i++) {
      int bits = (int) INT.get(data, from + 4 * i);
      infinite |= (bits & MAGNITUDE) == INFINITE;
      out[to + i] = Float.intBitsToFloat(bits);
    }
    return !infinite;
  }

  private boolean putInts(byte[] data, int from, float[] out, int to) {
    for (int i = 0; i < dense; i++) {
      out[to + i] = (int) INT.get(data, from + 4 * i);
    }
    return true;
  }

  private boolean putLogs(byte[] data, int from, float[] out, int to) {
    int signs = 0;
    for (int i = 0; i < dense; i++) {
      int value = (int) INT.get(data, from + 4 * i);
      signs |= value;
      out[to + i] = log(value);
    }
    return signs >= 0;
  }

  /** ln(x + 1) as HugeCTR takes it: x and the sum in single precision. */
  static float log(int value) {
    return (float) Math.log(value + 1f);
  }

  private void putIds(Batch batch, int slot, int size, byte[] data, int at, int rows) {
    int count = keyCounts[slot];
    int[] offsets = batch.offsets(slot);
    int end = offsets[size];
    for (int row = 1; row <= rows; row++) {
      offsets[size + row] = end + row * count;
    }
    long[] ids = batch.ensureIds(slot, Math.addExact(end, Math.multiplyExact(rows, count)));
    int from = at + keysAt[slot];
    for (int k = 0; k < count; k++) {
      int key = from + k * keys.bytes();
      switch (keys) {
        case U32 -> putUnsigned(data, key, rows, ids, end + k, count);
        case I32 -> putInts(data, key, rows, ids, end + k, count);
        case I64 -> putLongs(data, key, rows, ids, end + k, count);
      }
    }
  }

  private void putUnsigned(byte[] data, int from, int rows, long[] ids, int to, int step) {
    for (int row = 0; row < rows; row++) {
      ids[to + row * step] = (int) INT.get(data, from + row * stride) & 0xFFFF_FFFFL;
    }
  }

  private void putInts(byte[] data, int from, int rows, long[] ids, int to, int step) {
    for (int row = 0; row < rows; row++) {
      ids[to + row * step] = (int) INT.get(data, from + row * stride);
    }
  }

  private void putLongs(byte[] data, int from, int rows, long[] ids, int to, int step) {
    for (int row = 0; row < rows; row++) {
      ids[to + row * step] = (long) LONG.get(data, from + row * stride);
    }
  }
}
