package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Writes values to the place at hand of a raw batch: to the row after its last one, or, where it
 * goes column by column, to any of its rows. Ids of a slot come in the order of rows either way.
 * One thread at a time.
 */
final class RowCells {
  static final VarHandle FLOAT =
      MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final int denseDim;
  private final int labelDim;

  /** By slot the ids so far. */
  private final int[] ends;

  private final boolean[] weighted;
  private final Batch none;
  private Batch raw;
  private int row;
  private int rows;
  private boolean byColumn;

  /** The weight of the row to be appended. */
  private float rowWeight = 1;

  RowCells(Schema schema) {
    denseDim = schema.denseDim();
    labelDim = schema.labelDim();
    ends = new int[schema.slotCount()];
    weighted = new boolean[ends.length];
    for (int s = 0; s < ends.length; s++) {
      weighted[s] = schema.slots().get(s).weighted();
    }
    none = new Batch(schema, 1);
    raw = none;
  }

  /** Rows from here on are appended to those of a batch. */
  void append(Batch batch) {
    raw = batch;
    byColumn = false;
    row = batch.size();
    rowWeight = 1;
    batch.abandonRow();
    for (int s = 0; s < ends.length; s++) {
      ends[s] = batch.offsets(s)[row];
    }
  }

  /** The rows of a batch are replaced by {@code count} new ones, column by column. */
  void replace(Batch batch, int count) {
    raw = batch;
    byColumn = true;
    rows = count;
    row = 0;
    batch.clear();
    batch.resize(count);
  }

  /** Lets go of the batch. */
  void release() {
    append(none);
  }

  Batch batch() {
    return raw;
  }

  boolean byColumn() {
    return byColumn;
  }

  /** The row at hand. */
  int row() {
    return row;
  }

  /** Rows in all, of a batch that is filled by column. */
  int rows() {
    return rows;
  }

  boolean hasWeights(int slot) {
    return weighted[slot];
  }

  /** Goes to the first row of a column, whose slot is {@code slot} if it is not negative. */
  void beginColumn(int slot) {
    row = 0;
    if (slot >= 0) {
      ends[slot] = 0;
    }
  }

  /** Goes to the next row of a column. */
  void nextRow(int slot) {
    if (slot >= 0) {
      raw.offsets(slot)[row + 1] = ends[slot];
    }
    row++;
  }

  /** Fills a dense number of all rows from little-endian floats. */
  void fillDense(int index, byte[] values, int from) {
    float[] dense = raw.dense();
    for (int r = 0; r < rows; r++) {
      dense[r * denseDim + index] = (float) FLOAT.get(values, from + 4 * r);
    }
    row = rows;
  }

  /** Fills a slot of one id a row in all rows from little-endian integers. */
  void fillIds(int slot, boolean text, byte[] values, int from) {
    long[] ids = raw.ensureIds(slot, rows);
    int[] offsets = raw.offsets(slot);
    for (int r = 0; r < rows; r++) {
      long value = (long) LONG.get(values, from + 8 * r);
      ids[r] = text ? TextHash.ofInteger(value) : value;
      offsets[r + 1] = r + 1;
    }
    row = rows;
    ends[slot] = rows;
  }

  void setDense(int index, float value) {
    if (byColumn) {
      raw.dense()[row * denseDim + index] = value;
    } else {
      raw.setDense(index, value);
    }
  }

  void setLabel(int index, float value) {
    if (byColumn) {
      raw.labels()[row * labelDim + index] = value;
    } else {
      raw.setLabel(index, value);
    }
  }

  void setRowWeight(float value) {
    if (byColumn) {
      raw.rowWeights()[row] = value;
    } else {
      rowWeight = value;
    }
  }

  /** The ids of a slot so far. */
  int end(int slot) {
    return ends[slot];
  }

  void addId(int slot, long id) {
    int end = ends[slot]++;
    raw.ensureIds(slot, end + 1)[end] = id;
    if (weighted[slot]) {
      raw.ensureWeights(slot, end + 1)[end] = 1;
    }
  }

  /** Gives the last id of a slot a weight. */
  void weigh(int slot, float weight) {
    raw.weights(slot)[ends[slot] - 1] = weight;
  }

  /** Ends a row of a batch that is appended to. */
  void endRow() {
    raw.resize(row + 1);
    if (raw.rowWeights().length > 0) {
      raw.rowWeights()[row] = rowWeight;
      rowWeight = 1;
    }
    row++;
    for (int s = 0; s < ends.length; s++) {
      raw.offsets(s)[row] = ends[s];
    }
    endWeights();
  }

  /** Copies a dense number and a slot, if not negative, from the last row of a batch to all. */
  void repeat(Batch one, int dense, int slot) {
    int from = one.size() - 1;
    for (int r = 0; dense >= 0 && r < raw.size(); r++) {
      raw.dense()[r * denseDim + dense] = one.dense()[from * denseDim + dense];
    }
    if (slot >= 0) {
      int first = one.offsets(slot)[from];
      int count = one.idCount(slot, from);
      int all = Math.multiplyExact(count, raw.size());
      long[] ids = raw.ensureIds(slot, all);
      float[] weights = weighted[slot] ? raw.ensureWeights(slot, all) : one.weights(slot);
      for (int r = 0; r < raw.size(); r++) {
        System.arraycopy(one.ids(slot), first, ids, r * count, count);
        if (weighted[slot]) {
          System.arraycopy(one.weights(slot), first, weights, r * count, count);
        }
        raw.offsets(slot)[r + 1] = (r + 1) * count;
      }
      ends[slot] = all;
    }
  }

  /** Makes the batch know how many ids have a weight. */
  void endWeights() {
    for (int s = 0; s < ends.length; s++) {
      if (weighted[s]) {
        raw.ensureWeights(s, ends[s]);
      }
    }
  }
}
