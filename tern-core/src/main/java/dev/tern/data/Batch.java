package dev.tern.data;

import dev.tern.tensor.Levels;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Rows in columnar form, lent by a {@link DataReader} and given back by {@link #close()}.
 *
 * <p>With {@code B} rows, {@code L} labels, {@code F} dense numbers and {@code S} slots:
 *
 * <ul>
 *   <li>labels: {@code B x L}, row-major;
 *   <li>dense: {@code B x F}, row-major; a missing number is NaN;
 *   <li>slot {@code s}: compressed sparse rows, {@code ids(s)[offsets(s)[b] .. offsets(s)[b + 1])}
 *       are the ids of row {@code b}; in a slot with weights, {@code weights(s)} holds one for each
 *       of them;
 *   <li>in rows with weights, {@link Schema#weighted}, one for each row: finite, 0 or more.
 * </ul>
 *
 * The arrays are exposed for speed. They are longer than the part in use, and valid until the batch
 * is closed or written to. Writers fill one row at a time: labels, dense numbers and ids at index
 * {@link #size()}, then {@link #endRow()}. Not thread-safe.
 */
public final class Batch implements AutoCloseable {
  /** The weights of a slot or of rows without weights. */
  private static final float[] UNWEIGHTED = {};

  private final Schema schema;
  private final int labelDim;
  private final int denseDim;
  private final @Nullable BatchPool lender;

  /** Whether the loan ended. Guarded by the lender. */
  private boolean givenBack;

  private int capacity;
  private int size;
  private boolean closed;
  private float[] labels;
  private float[] dense;

  /** The weight of each row; {@link #UNWEIGHTED} for rows without. */
  private float[] rowWeights;

  /** The group of each row where {@link #grouped}; room for more else. */
  private long[] groups = {};

  private boolean grouped;

  private final long[][] ids;
  private final int[][] offsets;

  /** Of each slot the weights of its ids; {@link #UNWEIGHTED} for a slot without. */
  private final float[][] weights;

  /** Whether some slot has weights. */
  private final boolean weighs;

  /** For each slot with weights, the number of leading ids whose weight is set. */
  private final int[] weighed;

  /** For each slot, the number of leading rows that are known to hold exactly one id. */
  private final int[] oneHotRows;

  /** A batch that belongs to no pool, with room for {@code capacity} rows before it grows. */
  public Batch(Schema schema, int capacity) {
    this(schema, capacity, null);
  }

  /** A batch that {@code lender} lends. */
  Batch(Schema schema, int capacity, @Nullable BatchPool lender) {
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "batch: got capacity " + capacity + ", expected 1 or more");
    }
    this.schema = Objects.requireNonNull(schema, "schema");
    this.lender = lender;
    this.capacity = capacity;
    labelDim = schema.labelDim();
    denseDim = schema.denseDim();
    labels = new float[Math.multiplyExact(capacity, labelDim)];
    dense = new float[Math.multiplyExact(capacity, denseDim)];
    rowWeights = schema.weighted() ? new float[capacity] : UNWEIGHTED;
    int slots = schema.slotCount();
    ids = new long[slots][];
    offsets = new int[slots][];
    oneHotRows = new int[slots];
    weights = new float[slots][];
    weighs = schema.slots().stream().anyMatch(Slot::weighted);
    weighed = new int[slots];
    for (int s = 0; s < slots; s++) {
      Slot slot = schema.slots().get(s);
      int hotness = Math.max(1, slot.hotness());
      ids[s] = new long[Math.multiplyExact(capacity, hotness)];
      offsets[s] = new int[capacity + 1];
      weights[s] = slot.weighted() ? new float[ids[s].length] : UNWEIGHTED;
    }
    abandonRow();
  }

  /** An empty batch that {@code lender} lends, over the arrays of one that it got back. */
  Batch(Batch before, BatchPool lender) {
    schema = before.schema;
    labelDim = before.labelDim;
    denseDim = before.denseDim;
    this.lender = lender;
    capacity = before.capacity;
    labels = before.labels;
    dense = before.dense;
    rowWeights = before.rowWeights;
    groups = before.groups;
    ids = before.ids;
    offsets = before.offsets;
    oneHotRows = before.oneHotRows;
    weights = before.weights;
    weighs = before.weighs;
    weighed = before.weighed;
    clear();
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

  /** The weight of each row, or an array of length 0 for rows that all count alike. */
  public float[] rowWeights() {
    return rowWeights;
  }

  /** How often row {@code row} counts: its weight, or 1 in rows without weights. */
  public float rowWeight(int row) {
    return rowWeights == UNWEIGHTED ? 1 : rowWeights[row];
  }

  /** The ids of slot {@code slot} in all rows, row after row. */
  public long[] ids(int slot) {
    return ids[slot];
  }

  /**
   * The weights of the ids of slot {@code slot}, one for each, or an array of length 0 for a slot
   * without weights.
   */
  public float[] weights(int slot) {
    return weights[slot];
  }

  /** Row offsets of slot {@code slot}: {@code B + 1} values from 0, never descending. */
  public int[] offsets(int slot) {
    return offsets[slot];
  }

  /** A copy of the row offsets of slot {@code slot}, as levels of a ragged tensor. */
  public Levels levels(int slot) {
    return Levels.ofOffsets(Arrays.copyOf(offsets[slot], size + 1));
  }

  /**
   * The first of rows {@code [first, end)} in which two slots have different numbers of ids; -1
   * where there is none.
   */
  public int firstUnequal(int slot, int other, int first, int end) {
    int[] one = offsets[slot];
    int[] two = offsets[other];
    int row = first;
    while (row < end && one[row + 1] - one[row] == two[row + 1] - two[row]) {
      row++;
    }
    return row < end ? row : -1;
  }

  /** The number of ids that a row has in slot {@code slot}. */
  public int idCount(int slot, int row) {
    return offsets[slot][row + 1] - offsets[slot][row];
  }

  /** The number of ids of slot {@code slot} in all rows. */
  public int idCount(int slot) {
    return offsets[slot][size];
  }

  /** Whether {@link #close} was called since the rows were written. */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Says which rows belong together, for a loss that compares rows ({@code Loss.Pairwise}). Neither
   * a file nor another batch takes it over: it lasts until {@link #clear}.
   *
   * @param of a number for each row in use, equal for rows of one group; {@link
   *     dev.tern.data.encode.TextHash#EMPTY} for a row of none
   */
  public void setGroups(long[] of) {
    if (of.length < size) {
      throw new IllegalArgumentException(
          "batch: got the groups of %d rows, expected those of %d; give one for each"
              .formatted(of.length, size));
    }
    if (groups.length < size) {
      groups = new long[capacity];
    }
    System.arraycopy(of, 0, groups, 0, size);
    grouped = true;
  }

  /** Whether it is known which rows belong together. */
  public boolean isGrouped() {
    return grouped;
  }

  /** The group of a row, as {@link #setGroups} was told. */
  public long group(int row) {
    return groups[row];
  }

  /** Removes all rows. */
  public void clear() {
    closed = false;
    grouped = false;
    size = 0;
    Arrays.fill(oneHotRows, 0);
    Arrays.fill(weighed, 0);
    abandonRow();
  }

  /** Sets label {@code index} of the row being written. */
  public void setLabel(int index, float value) {
    ensureRow();
    labels[size * labelDim + index] = value;
  }

  /** Sets dense number {@code index} of the row being written; NaN for a missing one. */
  public void setDense(int index, float value) {
    ensureRow();
    dense[size * denseDim + index] = value;
  }

  /**
   * Sets the weight of the row being written, which is 1 otherwise.
   *
   * @throws IllegalArgumentException if rows have no weights, or the weight is not finite or below
   *     0
   */
  public void setRowWeight(float weight) {
    if (rowWeights == UNWEIGHTED || !isRowWeight(weight)) {
      throw new IllegalArgumentException(
          "batch: got the weight %s for a row, expected %s"
              .formatted(
                  weight,
                  rowWeights == UNWEIGHTED
                      ? "none; give the schema a column of weights"
                      : "a finite number of 0 or more; mend the data"));
    }
    ensureRow();
    rowWeights[size] = weight;
  }

  /** Whether a row may count so often: finite, 0 or more. */
  public static boolean isRowWeight(float weight) {
    return weight >= 0 && weight < Float.POSITIVE_INFINITY;
  }

  /**
   * Appends an id to slot {@code slot} of the row being written, with the weight 1 if it has one.
   */
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

  /**
   * Appends an id with a weight to slot {@code slot} of the row being written.
   *
   * @throws IllegalArgumentException if the slot has no weights, or the weight is not finite
   */
  public void addId(int slot, long id, float weight) {
    if (weights[slot] == UNWEIGHTED || !Float.isFinite(weight)) {
      throw new IllegalArgumentException(
          "slot %s: got the weight %s for an id, expected %s"
              .formatted(
                  schema.slots().get(slot).name(),
                  weight,
                  weights[slot] == UNWEIGHTED
                      ? "none; make it a slot with weights"
                      : "a finite number; mend the data"));
    }
    addId(slot, id);
    int end = offsets[slot][size + 1];
    fillWeights(slot, end - 1);
    weightsFor(slot, end)[end - 1] = weight;
    weighed[slot] = end;
  }

  /**
   * Gives the ids of slot {@code slot} before {@code end} whose weight was not set the weight 1.
   */
  private void fillWeights(int slot, int end) {
    if (weighed[slot] < end) {
      Arrays.fill(weightsFor(slot, end), weighed[slot], end, 1);
      weighed[slot] = end;
    }
  }

  /** Ends the row being written. All its labels and dense numbers must be set. */
  public void endRow() {
    ensureRow();
    size++;
    for (int[] slotOffsets : offsets) {
      slotOffsets[size] = Math.max(slotOffsets[size], slotOffsets[size - 1]);
      if (size < capacity) {
        slotOffsets[size + 1] = 0;
      }
    }
    beginWeight();
    for (int s = 0; weighs && s < weights.length; s++) {
      if (weights[s] != UNWEIGHTED) {
        fillWeights(s, offsets[s][size]);
      }
    }
  }

  /** The next row has the weight 1 until it is set. */
  private void beginWeight() {
    if (size < rowWeights.length) {
      rowWeights[size] = 1;
    }
  }

  /** Drops the row being written. */
  public void abandonRow() {
    beginWeight();
    for (int s = 0; weighs && s < weights.length; s++) {
      weighed[s] = Math.min(weighed[s], offsets[s][size]);
    }
    if (size < capacity) {
      for (int[] slotOffsets : offsets) {
        slotOffsets[size + 1] = 0;
      }
    }
  }

  /** Appends row {@code row} of {@code source}, which must have the same numbers of columns. */
  public void appendRow(Batch source, int row) {
    appendRows(source, row, row + 1);
  }

  /**
   * Appends rows {@code [from, to)} of {@code source}, which must have the same numbers of columns.
   * It may have no labels; they are 0 then. Where it has no weights of rows, they are 1.
   */
  public void appendRows(Batch source, int from, int to) {
    Objects.checkFromToIndex(from, to, source.size);
    int rows = to - from;
    ensureRows(rows);
    if (source.labelDim > 0) {
      System.arraycopy(source.labels, from * labelDim, labels, size * labelDim, rows * labelDim);
    } else {
      Arrays.fill(labels, size * labelDim, (size + rows) * labelDim, 0);
    }
    System.arraycopy(source.dense, from * denseDim, dense, size * denseDim, rows * denseDim);
    appendRowWeights(source, from, rows);
    for (int s = 0; s < ids.length; s++) {
      int[] sourceOffsets = source.offsets[s];
      int[] slotOffsets = offsets[s];
      int first = sourceOffsets[from];
      int count = sourceOffsets[to] - first;
      int end = slotOffsets[size];
      System.arraycopy(source.ids[s], first, ensureIds(s, Math.addExact(end, count)), end, count);
      if (weights[s] != source.weights[s]) {
        appendWeights(source, s, first, end, count);
      }
      if (first == end) {
        System.arraycopy(sourceOffsets, from + 1, slotOffsets, size + 1, rows);
        continue;
      }
      for (int i = 1; i <= rows; i++) {
        slotOffsets[size + i] = sourceOffsets[from + i] - first + end;
      }
    }
    endRows(rows);
  }

  private void appendRowWeights(Batch source, int from, int rows) {
    if (rowWeights == UNWEIGHTED) {
      requireUnweighted(source);
    } else if (source.rowWeights == UNWEIGHTED) {
      Arrays.fill(rowWeights, size, size + rows, 1);
    } else {
      System.arraycopy(source.rowWeights, from, rowWeights, size, rows);
    }
  }

  private static void requireUnweighted(Batch source) {
    if (source.rowWeights != UNWEIGHTED) {
      throw new IllegalArgumentException(
          "batch: got rows with the weights %s, expected rows without; give the schema that column of weights"
              .formatted(source.schema.weight().orElseThrow()));
    }
  }

  /** Copies the weights of {@code count} ids, or gives them the weight 1 if the source has none. */
  private void appendWeights(Batch source, int slot, int from, int to, int count) {
    if (weights[slot] == UNWEIGHTED) {
      throw new IllegalArgumentException(
          "batch: got weights for the ids of slot %s, expected none; make it a slot with weights"
              .formatted(schema.slots().get(slot).name()));
    }
    float[] target = weightsFor(slot, to + count);
    if (source.weights[slot] == UNWEIGHTED) {
      Arrays.fill(target, to, to + count, 1);
    } else {
      System.arraycopy(source.weights[slot], from, target, to, count);
    }
    weighed[slot] = to + count;
  }

  /**
   * Appends the rows of {@code source} with the numbers {@code rows[from .. to)}, in this order.
   */
  public void gatherRows(Batch source, int[] rows, int from, int to) {
    int count = to - from;
    ensureRows(count);
    for (int i = 0; i < count; i++) {
      int row = rows[from + i];
      System.arraycopy(source.labels, row * labelDim, labels, (size + i) * labelDim, labelDim);
      System.arraycopy(source.dense, row * denseDim, dense, (size + i) * denseDim, denseDim);
    }
    if (rowWeights == UNWEIGHTED) {
      requireUnweighted(source);
    }
    for (int i = 0; i < count && rowWeights != UNWEIGHTED; i++) {
      rowWeights[size + i] = source.rowWeight(rows[from + i]);
    }
    for (int s = 0; s < ids.length; s++) {
      gatherIds(source, s, rows, from, count);
      for (int i = 0; i < count && weights[s] != source.weights[s]; i++) {
        int first = source.offsets[s][rows[from + i]];
        int at = offsets[s][size + i];
        appendWeights(source, s, first, at, offsets[s][size + i + 1] - at);
      }
    }
    endRows(count);
  }

  private void gatherIds(Batch source, int slot, int[] rows, int from, int count) {
    int[] sourceOffsets = source.offsets[slot];
    int[] slotOffsets = offsets[slot];
    long[] sourceIds = source.ids[slot];
    int end = slotOffsets[size];
    if (source.isOneHot(slot)) {
      long[] slotIds = ensureIds(slot, Math.addExact(end, count));
      for (int i = 0; i < count; i++) {
        slotIds[end + i] = sourceIds[rows[from + i]];
        slotOffsets[size + i + 1] = end + i + 1;
      }
      return;
    }
    for (int i = 0; i < count; i++) {
      int row = rows[from + i];
      end = Math.addExact(end, sourceOffsets[row + 1] - sourceOffsets[row]);
      slotOffsets[size + i + 1] = end;
    }
    long[] slotIds = ensureIds(slot, end);
    for (int i = 0; i < count; i++) {
      int first = sourceOffsets[rows[from + i]];
      int to = slotOffsets[size + i + 1];
      for (int at = slotOffsets[size + i]; at < to; at++) {
        slotIds[at] = sourceIds[first++];
      }
    }
  }

  /** Whether each row holds exactly one id in slot {@code slot}: row {@code b} has id {@code b}. */
  private boolean isOneHot(int slot) {
    int[] slotOffsets = offsets[slot];
    int row = oneHotRows[slot];
    while (row < size && slotOffsets[row + 1] == row + 1) {
      row++;
    }
    oneHotRows[slot] = row;
    return row == size;
  }

  /** Makes room for {@code rows} more rows. */
  private void ensureRows(int rows) {
    while (capacity - size < rows) {
      grow();
    }
  }

  /**
   * Sets the number of rows. Rows beyond {@code rows} are dropped. New rows have no content yet,
   * and the weight 1 if rows have weights: writers that go column by column fill labels, dense
   * numbers, weights of rows, ids (with {@link #ensureIds}), weights (with {@link #ensureWeights})
   * and offsets in the arrays.
   */
  public void resize(int rows) {
    if (rows < 0) {
      throw new IllegalArgumentException("batch: got size " + rows + ", expected 0 or more");
    }
    ensureRows(rows - size);
    if (rowWeights != UNWEIGHTED && rows > size) {
      Arrays.fill(rowWeights, size, rows, 1);
    }
    size = rows;
    abandonRow();
  }

  /** The ids of slot {@code slot}, with room for {@code count} ids in all rows. */
  public long[] ensureIds(int slot, int count) {
    if (count > ids[slot].length) {
      int doubled = (int) Math.min(2L * ids[slot].length, Integer.MAX_VALUE - 8);
      ids[slot] = Arrays.copyOf(ids[slot], Math.max(doubled, count));
    }
    return ids[slot];
  }

  /**
   * The weights of slot {@code slot}, which has some, with room for those of {@code count} ids in
   * all rows. The caller sets them all.
   */
  public float[] ensureWeights(int slot, int count) {
    weighed[slot] = count;
    return weightsFor(slot, count);
  }

  private float[] weightsFor(int slot, int count) {
    if (count > weights[slot].length) {
      weights[slot] = Arrays.copyOf(weights[slot], Math.max(ids[slot].length, count));
    }
    return weights[slot];
  }

  /** Ends {@code rows} rows that were filled in the arrays. */
  private void endRows(int rows) {
    size += rows;
    abandonRow();
  }

  private void ensureRow() {
    if (size == capacity) {
      grow();
    }
  }

  private void grow() {
    capacity = Math.multiplyExact(2, capacity);
    labels = Arrays.copyOf(labels, Math.multiplyExact(capacity, labelDim));
    dense = Arrays.copyOf(dense, Math.multiplyExact(capacity, denseDim));
    if (rowWeights != UNWEIGHTED) {
      rowWeights = Arrays.copyOf(rowWeights, capacity);
      beginWeight();
    }
    for (int s = 0; s < offsets.length; s++) {
      offsets[s] = Arrays.copyOf(offsets[s], capacity + 1);
    }
  }

  /** Whether this call ends the loan; false for each later one. Only for the lender. */
  boolean endLoan() {
    boolean first = !givenBack;
    givenBack = true;
    return first;
  }

  /** Gives the batch back to its reader, which recycles its arrays. Closing twice is harmless. */
  @Override
  public void close() {
    closed = true;
    if (lender != null) {
      lender.giveBack(this);
    }
  }
}
