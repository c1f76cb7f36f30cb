package dev.tern.data;

import java.util.ArrayDeque;

/**
 * Recycled batches of one schema, for readers. {@link Batch#close} brings a batch back, on any
 * thread.
 *
 * <p>Each loan is a {@link Batch} of its own over recycled arrays. So a batch that is closed again
 * after its arrays were lent to somebody else changes nothing.
 */
public final class BatchPool {
  private static final int READER_ROWS = 4096;
  private static final int READER_NUMBERS = 4 << 20;

  private final Schema schema;
  private final int rows;
  private final ArrayDeque<Batch> returned = new ArrayDeque<>();

  /** Batches with room for {@code rows} rows before they grow. */
  public BatchPool(Schema schema, int rows) {
    this.schema = schema;
    this.rows = rows;
  }

  /**
   * Batches for a reader of files: of 4096 rows, or fewer where rows are wide.
   *
   * @param rowCount rows of all files, an upper bound
   */
  public static BatchPool forFiles(Schema schema, long rowCount) {
    long perRow = (long) schema.labelDim() + schema.denseDim();
    for (Slot slot : schema.slots()) {
      perRow += 1L + Math.max(1, slot.hotness());
    }
    long wanted = Math.min(rowCount, READER_NUMBERS / Math.max(1, perRow));
    return new BatchPool(schema, Math.clamp(wanted, 1, READER_ROWS));
  }

  /** Rows that a batch has room for when it is new. */
  public int rows() {
    return rows;
  }

  /** An empty batch, the caller's until it is closed. */
  public Batch take() {
    Batch before;
    synchronized (this) {
      before = returned.poll();
    }
    return before == null ? new Batch(schema, rows, this) : new Batch(before, this);
  }

  /** Takes a batch back. Only the first call of a loan counts. */
  synchronized void giveBack(Batch batch) {
    if (batch.endLoan()) {
      returned.push(batch);
    }
  }
}
