package dev.tern.data;

import java.util.Arrays;
import java.util.Objects;

/**
 * Rows in columnar form, lent by a {@link DataReader} and given back by {@link #close()}.
 *
 * <p>With {@code B} rows, {@code L} labels, {@code F} dense numbers and {@code S} slots:
 *
 * <ul>
 *   <li>labels: {@code B x L}, row-major;
 *   <li>dense: {@code B x F}, row-major; a missing number is NaN;
 *   <li>slot {@code s}: compressed sparse rows, {@code ids(s)[offsets(s)[b] .. offsets(s)[b + 1])}
 *       are the ids of row {@code b}.
 * </ul>
 *
 * The arrays are the batch's own and longer than what is in use; they are exposed for speed and
 * stay valid until the batch is closed or written to. Writers fill one row at a time: labels, dense
 * numbers and ids at index {@link #size()}, then {@link #endRow()}. Not thread-safe.
 */
public final class Batch implements AutoCloseable {
  private final Schema schema;
  private final int labelDim;
  private final int denseDim;
  private final Runnable onClose;
  private int capacity;
  private int size;
  private float[] labels;
  private float[] dense;
  private final long[][] ids;
  private final int[][] offsets;

  /** A batch of its own, with room for {@code capacity} rows before it grows. */
  public Batch(Schema schema, int capacity) {
    this(schema, capacity, () -> {});
  }

  /** A lent batch: {@code onClose} gives it back to its reader. */
  public Batch(Schema schema, int capacity, Runnable onClose) {
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "batch: got capacity " + capacity + ", expected 1 or more");
    }
    this.schema = Objects.requireNonNull(schema, "schema");
    this.onClose = Objects.requireNonNull(onClose, "onClose");
    this.capacity = capacity;
    labelDim = schema.labelDim();
    denseDim = schema.denseDim();
    labels = new float[Math.multiplyExact(capacity, labelDim)];
    dense = new float[Math.multiplyExact(capacity, denseDim)];
    int slots = schema.slotCount();
    ids = new long[slots][];
    offsets = new int[slots][];
    for (int s = 0; s < slots; s++) {
      int hotness = Math.max(1, schema.slots().get(s).hotness());
      ids[s] = new long[Math.multiplyExact(capacity, hotness)];
      offsets[s] = new int[capacity + 1];
    }
  }

  public Schema schema() {
    return schema;
  }

  /** Rows in use, {@code B}. */
  public int size() {
    return size;
  }

  /** Labels, {@code B x L} row-major. */
  public float[] labels() {
    return labels;
  }

  /** Dense numbers, {@code B x F} row-major; NaN where missing. */
  public float[] dense() {
    return dense;
  }

  /** Ids of slot {@code slot}, all rows one after the other. */
  public long[] ids(int slot) {
    return ids[slot];
  }

  /** Row offsets of slot {@code slot}: {@code B + 1} values from 0, never descending. */
  public int[] offsets(int slot) {
    return offsets[slot];
  }

  /** Ids of slot {@code slot} in all rows. */
  public int idCount(int slot) {
    return offsets[slot][size];
  }

  /** Removes all rows. */
  public void clear() {
    size = 0;
    abandonRow();
  }

  /** Sets label {@code index} of the row being written. */
  public void setLabel(int index, float value) {
    ensureRow();
    labels[size * labelDim + index] = value;
  }

  /** Sets dense number {@code index} of the row being written; NaN says missing. */
  public void setDense(int index, float value) {
    ensureRow();
    dense[size * denseDim + index] = value;
  }

  /** Appends an id to slot {@code slot} of the row being written. */
  public void addId(int slot, long id) {
    ensureRow();
    int[] slotOffsets = offsets[slot];
    int end = Math.max(slotOffsets[size + 1], slotOffsets[size]);
    long[] slotIds = ids[slot];
    if (end == slotIds.length) {
      slotIds = Arrays.copyOf(slotIds, Math.multiplyExact(2, end));
      ids[slot] = slotIds;
    }
    slotIds[end] = id;
    slotOffsets[size + 1] = end + 1;
  }

  /** Ends the row being written: all its labels and dense numbers must be set. */
  public void endRow() {
    ensureRow();
    size++;
    for (int[] slotOffsets : offsets) {
      slotOffsets[size] = Math.max(slotOffsets[size], slotOffsets[size - 1]);
      if (size < capacity) {
        slotOffsets[size + 1] = 0;
      }
    }
  }

  /** Drops what was written of the row not yet ended. */
  public void abandonRow() {
    if (size < capacity) {
      for (int[] slotOffsets : offsets) {
        slotOffsets[size + 1] = 0;
      }
    }
  }

  /** Appends row {@code row} of {@code source}, which must have the same numbers of columns. */
  public void appendRow(Batch source, int row) {
    ensureRow();
    System.arraycopy(source.labels, row * labelDim, labels, size * labelDim, labelDim);
    System.arraycopy(source.dense, row * denseDim, dense, size * denseDim, denseDim);
    for (int s = 0; s < ids.length; s++) {
      int from = source.offsets[s][row];
      int count = source.offsets[s][row + 1] - from;
      int end = offsets[s][size];
      if (end + count > ids[s].length) {
        ids[s] = Arrays.copyOf(ids[s], Math.max(2 * ids[s].length, Math.addExact(end, count)));
      }
      System.arraycopy(source.ids[s], from, ids[s], end, count);
      offsets[s][size + 1] = end + count;
    }
    endRow();
  }

  private void ensureRow() {
    if (size < capacity) {
      return;
    }
    capacity = Math.multiplyExact(2, capacity);
    labels = Arrays.copyOf(labels, Math.multiplyExact(capacity, labelDim));
    dense = Arrays.copyOf(dense, Math.multiplyExact(capacity, denseDim));
    for (int s = 0; s < offsets.length; s++) {
      offsets[s] = Arrays.copyOf(offsets[s], capacity + 1);
    }
  }

  /** Gives the batch back to its reader, which may fill it again. */
  @Override
  public void close() {
    onClose.run();
  }
}
