package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.IdSums;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Objects;

/**
 * A sparse matrix {@code [H, W]}: some of its rows, each with its number; all other rows are zeros.
 * Rows with the same number add up. Example: numbers 2, 0, 2 with values 1, 5, 10 of width 1 are
 * the matrix (5, 0, 11).
 *
 * <p>{@link #ofBags} makes the gradient of a lookup, one row for each position, and {@link
 * #applyTo} applies it to a table. Numbers are 0 to {@code H - 1}, or any 64-bit number where the
 * height is {@link #UNBOUNDED}.
 *
 * <p>Immutable. {@link #merged()} and {@link #sorted} use scratch memory of about 100 bytes a row,
 * which the collector frees after the call; {@link #merged(Lookup)} uses the caller's. Operations
 * and format follow PaddlePaddle's SelectedRows (paddle/fluid/framework/selected_rows.h and
 * math/selected_rows_functor.h).
 */
public final class SelectedRows {
  /** The height of a matrix in which every 64-bit number names a row. */
  public static final long UNBOUNDED = -1;

  private final long height;
  private final int width;
  private final long[] rows;

  /** {@code [rows.length, width]}. */
  private final float[] values;

  /** What {@link #scatter} makes of element {@code d} of a matrix and value {@code v} of a row. */
  public enum Scatter {
    /** {@code v}. */
    ASSIGN,
    /** {@code d + v}. */
    ADD,
    /** {@code d - v}. */
    SUBTRACT,
    /** {@code v - d}. */
    SUBTRACT_FROM,
    /** {@code d * v}. */
    MULTIPLY,
    /** {@code d / v}. */
    DIVIDE,
    /** {@code v / d}. */
    DIVIDE_INTO;

    private float of(float d, float v) {
      return switch (this) {
        case ASSIGN -> v;
        case ADD -> d + v;
        case SUBTRACT -> d - v;
        case SUBTRACT_FROM -> v - d;
        case MULTIPLY -> d * v;
        case DIVIDE -> d / v;
        case DIVIDE_INTO -> v / d;
      };
    }
  }

  /** Takes over the arrays. */
  SelectedRows(long height, int width, long[] rows, float[] values) {
    this.height = height;
    this.width = width;
    this.rows = rows;
    this.values = values;
  }

  /**
   * Rows of a matrix.
   *
   * @param height rows of the matrix, {@code H}, 0 or more; or {@link #UNBOUNDED}
   * @param width columns, {@code W}, 1 or more
   * @param rows their numbers, {@code [n]}
   * @param values {@code [n, W]} row-major
   */
  public static SelectedRows of(long height, int width, long[] rows, float[] values) {
    requireWithin(height, width, rows);
    if (values.length != (long) rows.length * width) {
      throw new IllegalArgumentException(
          "selected rows: got %d values for %d rows of %d, expected %d"
              .formatted(values.length, rows.length, width, (long) rows.length * width));
    }
    return new SelectedRows(height, width, rows.clone(), values.clone());
  }

  private static void requireWithin(long height, int width, long[] rows) {
    if (height < UNBOUNDED || width < 1) {
      throw new IllegalArgumentException(
          "selected rows: got a matrix of %d x %d, expected 0 rows or more, or UNBOUNDED (-1), and 1 column or more"
              .formatted(height, width));
    }
    for (int i = 0; i < rows.length; i++) {
      if (!isWithin(rows[i], height)) {
        throw new IllegalArgumentException(
            "selected rows: got number %d for row %d of a matrix of %d rows, expected 0 to %d"
                .formatted(rows[i], i, height, height - 1));
      }
    }
  }

  static boolean isWithin(long row, long height) {
    return height == UNBOUNDED || row >= 0 && row < height;
  }

  /**
   * The gradient of a pooled lookup, of {@link #UNBOUNDED} height. Each position has a row: its
   * number is the position's id, its values are the gradient of its bag times the position's weight
   * in the bag's vector: 1 (sum), 1/n (mean of n). Weights themselves get no gradient.
   *
   * @param ids the ids that were looked up
   * @param bags all of these positions, from 0 on; as many weights as ids, or none
   * @param width columns, {@code W}
   * @param gradients of the bags, {@code [B, W]} row-major
   */
  public static SelectedRows ofBags(long[] ids, Bags bags, int width, float[] gradients) {
    if (bags.weights().length > 0 && bags.weights().length != ids.length) {
      throw new IllegalArgumentException(
          "selected rows: got %d weights for %d ids, expected one for each"
              .formatted(bags.weights().length, ids.length));
    }
    PooledBags pooled = bags.pooled("selected rows", ids.length);
    boolean valid = pooled.begin(0) == 0 && pooled.begin(bags.count()) <= ids.length;
    for (int b = 0; b < bags.count(); b++) {
      valid &= pooled.begin(b) <= pooled.end(b);
    }
    if (!valid) {
      throw new IllegalArgumentException(
          "selected rows: got offsets that do not start at 0, descend or leave 0 to %d, expected"
                  .formatted(ids.length)
              + " the offsets of the ids that were looked up");
    }
    if (width < 1 || gradients.length != (long) bags.count() * width) {
      throw new IllegalArgumentException(
          "selected rows: got %d gradients for %d bags of width %d, expected bags x width, 1 or more"
              .formatted(gradients.length, bags.count(), width));
    }
    int count = pooled.begin(bags.count());
    float[] values = new float[Math.multiplyExact(count, width)];
    for (int b = 0; b < bags.count(); b++) {
      float scale = pooled.scale(b);
      for (int i = pooled.begin(b); i < pooled.end(b); i++) {
        float factor = pooled.factor(scale, i);
        for (int j = 0; j < width; j++) {
          values[i * width + j] = factor * gradients[b * width + j];
        }
      }
    }
    return new SelectedRows(UNBOUNDED, width, Arrays.copyOf(ids, count), values);
  }

  /** Rows of the whole matrix, {@code H}, or {@link #UNBOUNDED}. */
  public long height() {
    return height;
  }

  /** Columns, {@code W}. */
  public int width() {
    return width;
  }

  /** Rows that are here, {@code n}. */
  public int size() {
    return rows.length;
  }

  /** The numbers of the rows, {@code [n]}; a copy. */
  public long[] rows() {
    return rows.clone();
  }

  /** The rows, {@code [n, W]} row-major; a copy. */
  public float[] values() {
    return values.clone();
  }

  /**
   * The same rows in a matrix of another height.
   *
   * @throws IllegalArgumentException if a row's number is not below it
   */
  public SelectedRows withHeight(long other) {
    requireWithin(other, width, rows);
    return new SelectedRows(other, width, rows, values);
  }

  /** The sum of both matrices: the rows of this one, then the rows of {@code other}. */
  public SelectedRows plus(SelectedRows other) {
    if (other.height != height || other.width != width) {
      throw new IllegalArgumentException(
          "selected rows: got %s and %s, expected matrices of one shape; add gradients of one table"
              .formatted(this, other));
    }
    int count = Math.addExact(rows.length, other.rows.length);
    long[] numbers = Arrays.copyOf(rows, count);
    System.arraycopy(other.rows, 0, numbers, rows.length, other.rows.length);
    float[] all = Arrays.copyOf(values, Math.multiplyExact(count, width));
    System.arraycopy(other.values, 0, all, values.length, other.values.length);
    return new SelectedRows(height, width, numbers, all);
  }

  /**
   * The same matrix with each number once, in order of their first rows. Rows with the same number
   * are added up in their order.
   */
  public SelectedRows merged() {
    return merged(new Lookup());
  }

  /**
   * Does the same with scratch memory that the caller keeps from step to step, so that only the
   * result is allocated. {@code scratch} then stands for no lookup.
   */
  public SelectedRows merged(Lookup scratch) {
    RowLookup lookup = scratch.found;
    lookup.fill(rows, rows.length);
    float[] sums = IdSums.ofIds(lookup, width, values);
    return new SelectedRows(height, width, Arrays.copyOf(lookup.ids, lookup.unique()), sums);
  }

  /** The same rows in ascending (signed) order of number; equal numbers keep their order. */
  public SelectedRows sorted() {
    RowLookup lookup = new RowLookup();
    lookup.fill(rows, rows.length);
    long[] distinct = Arrays.copyOf(lookup.ids, lookup.unique());
    Arrays.sort(distinct);
    // Where the next row of each distinct number goes.
    int[] places = new int[distinct.length + 1];
    int[] ranks = new int[distinct.length];
    for (int u = 0; u < ranks.length; u++) {
      ranks[u] = Arrays.binarySearch(distinct, lookup.ids[u]);
    }
    for (int i = 0; i < rows.length; i++) {
      places[ranks[lookup.inverse[i]] + 1]++;
    }
    Arrays.parallelPrefix(places, Integer::sum);
    long[] numbers = new long[rows.length];
    float[] moved = new float[values.length];
    for (int i = 0; i < rows.length; i++) {
      int place = places[ranks[lookup.inverse[i]]]++;
      numbers[place] = rows[i];
      System.arraycopy(values, i * width, moved, place * width, width);
    }
    return new SelectedRows(height, width, numbers, moved);
  }

  /** The whole matrix, {@code [H, W]} row-major; equal numbers are added up in their order. */
  public float[] toDense() {
    requireBounded("toDense");
    if (height > Integer.MAX_VALUE / width) {
      throw new IllegalArgumentException(
          "selected rows: got %d x %d numbers for one array, expected at most 2^31 - 1; merge and"
                  .formatted(height, width)
              + " read the rows one by one");
    }
    float[] dense = new float[(int) height * width];
    scatter(Scatter.ADD, dense);
    return dense;
  }

  /**
   * Combines each row, in order, with the row of {@code dense} that has its number.
   *
   * @param dense {@code [H, W]} row-major
   */
  public void scatter(Scatter operation, float[] dense) {
    Objects.requireNonNull(operation, "operation");
    requireBounded("scatter");
    if (height > dense.length || dense.length != height * width) {
      throw new IllegalArgumentException(
          "selected rows: got a matrix of %d numbers, expected %d x %d"
              .formatted(dense.length, height, width));
    }
    for (int i = 0; i < rows.length; i++) {
      int target = (int) rows[i] * width;
      for (int j = 0; j < width; j++) {
        dense[target + j] = operation.of(dense[target + j], values[i * width + j]);
      }
    }
  }

  private void requireBounded(String operation) {
    if (height == UNBOUNDED) {
      throw new IllegalStateException(
          "selected rows: got %s of a matrix without an end, expected one of a height; give it one by withHeight"
              .formatted(operation));
    }
  }

  /**
   * Takes one step of a table's optimizer: each row is a gradient of the id that is its number. As
   * with {@link EmbeddingTable#apply}, ids without a row are skipped. Row policies do not count the
   * rows as seen, as only a lookup in training does that.
   *
   * @param lr learning rate, 0 or more
   * @param step counted from 1
   */
  public void applyTo(EmbeddingTable table, float lr, long step) {
    if (table.config().width() != width) {
      throw new IllegalArgumentException(
          "table %s: got gradients of width %d, expected %d"
              .formatted(table.config().name(), width, table.config().width()));
    }
    Allocator allocator = table.allocator();
    long gradients = allocator.allocate(Math.max(4, 4L * values.length), "selected rows");
    try {
      Memory.copyIn(values, 0, gradients, values.length);
      Lookup lookup = new Lookup();
      table.find(rows, rows.length, lookup, false);
      PooledBags bags = Bags.single(rows.length).pooled(table.config().name(), rows.length);
      table.apply(lookup.found, bags, RowParts.whole(width, gradients, width), lr, step);
    } finally {
      allocator.free(gradients);
    }
  }

  /** Writes these rows in PaddlePaddle's format. */
  public void writeTo(OutputStream out) throws IOException {
    SelectedRowsStream.write(height, width, rows, values, out);
  }

  /**
   * Reads rows in PaddlePaddle's format. Bytes behind them stay in the stream.
   *
   * @param name of the stream, for errors
   * @throws dev.tern.base.DataException if the bytes are not in the format; it names the byte
   */
  public static SelectedRows readFrom(InputStream in, String name) throws IOException {
    return new SelectedRowsStream(in, name).read();
  }

  @Override
  public String toString() {
    String tall = height == UNBOUNDED ? "unbounded" : Long.toString(height);
    return "SelectedRows[%s, %d] of %d rows".formatted(tall, width, rows.length);
  }
}
