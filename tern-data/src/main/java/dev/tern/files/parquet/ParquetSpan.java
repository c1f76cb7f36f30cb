package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.files.ReadPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.parquet.format.RowGroup;

/** Rows of a batch being filled column by column, and which of them turned out bad. */
final class ParquetSpan {
  /** What fills one column of batches with the rows of a file, row group after row group. */
  interface RowColumn {
    /** Goes to the start of a row group. */
    void open(RowGroup group);

    /** Goes over rows of the group. */
    void skip(long rows);

    /** Says so if the group has rows beyond its count. */
    void finishGroup();

    /** Fills this column of the rows of {@code span}. */
    void fill(ParquetSpan span);
  }

  /** A batch of this many ids, with what it copies as it grows, is a fifth of the heap. */
  static final long MOST_IDS = Math.clamp(Runtime.getRuntime().maxMemory() / 128, 1 << 22, 1 << 30);

  private final ParquetFile file;
  private final ReadPolicy policy;
  private Batch batch;
  private int from;
  private int rows;
  private long firstRow;
  private boolean[] bad = {};

  /** Ids in lists of the batch, of all slots, which several threads may fill. */
  private final AtomicLong ids = new AtomicLong();

  /** What is wrong with the bad rows; they count only when no fault costs the whole span. */
  private final List<DataException> faults = new ArrayList<>();

  ParquetSpan(ParquetFile file, ReadPolicy policy, Batch batch) {
    this.file = file;
    this.policy = policy;
    this.batch = batch;
  }

  /** Appends {@code rows} rows to {@code batch}; the first is row {@code firstRow} of the file. */
  void start(Batch batch, int rows, long firstRow) {
    this.batch = batch;
    this.rows = rows;
    this.firstRow = firstRow;
    from = batch.size();
    batch.resize(from + rows);
    long before = 0;
    for (int slot = 0; slot < batch.schema().slotCount(); slot++) {
      before += batch.offsets(slot)[from];
    }
    ids.set(before);
    forget();
  }

  Batch batch() {
    return batch;
  }

  /** First of the rows in the batch. */
  int from() {
    return from;
  }

  int rows() {
    return rows;
  }

  ReadPolicy policy() {
    return policy;
  }

  /** Where row {@code i} of these is, for messages. */
  String where(String column, int i) {
    return file.path() + ": row " + (firstRow + i + 1) + ", column " + column;
  }

  /**
   * Takes room for {@code count} ids, of which the first may be in row {@code i}. A few bytes may
   * stand for any number of them, so memory, not the file, sets the limit.
   */
  void claimIds(String column, int i, int count) {
    if (ids.addAndGet(count) > MOST_IDS) {
      throw new DataException(
          where(column, i)
              + ": got more than "
              + MOST_IDS
              + " ids in a batch of "
              + batch.size()
              + " rows, expected at most those that the Java heap of "
              + Runtime.getRuntime().maxMemory()
              + " bytes has room for; raise it, as TERN_JAVA_OPTS=-Xmx8g does, or cut the lists");
    }
  }

  private void forget() {
    if (!faults.isEmpty()) {
      Arrays.fill(bad, false);
      faults.clear();
    }
  }

  /**
   * Notes that row {@code i} of these is bad; each row once, of which {@link #finish} tells. Where
   * the first fault stops, columns may be filled at the same time, each to its own first fault,
   * which is thrown.
   */
  void fault(int i, DataException fault) {
    if (policy.strict()) {
      throw fault;
    }
    if (bad.length < rows) {
      bad = Arrays.copyOf(bad, rows);
    }
    if (!bad[i]) {
      bad[i] = true;
      faults.add(fault);
    }
  }

  /** Takes the rows back, as after a failure. */
  void abandon() {
    forget();
    batch.resize(from);
  }

  /** Reports the bad rows and drops them from the batch. */
  void finish() {
    if (faults.isEmpty()) {
      return;
    }
    faults.forEach(policy.faults()::report);
    int labelDim = batch.schema().labelDim();
    int denseDim = batch.schema().denseDim();
    int kept = from;
    for (int i = 0; i < rows; i++) {
      if (!bad[i]) {
        move(batch.labels(), labelDim, from + i, kept);
        move(batch.dense(), denseDim, from + i, kept);
        kept++;
      }
    }
    for (int slot = 0; slot < batch.schema().slotCount(); slot++) {
      dropIds(batch.ids(slot), batch.offsets(slot));
    }
    batch.resize(kept);
  }

  private static void move(float[] values, int dim, int row, int to) {
    System.arraycopy(values, row * dim, values, to * dim, dim);
  }

  private void dropIds(long[] ids, int[] offsets) {
    int kept = from;
    int end = offsets[from];
    int start = offsets[from];
    for (int i = 0; i < rows; i++) {
      int count = offsets[from + i + 1] - start;
      if (!bad[i]) {
        System.arraycopy(ids, start, ids, end, count);
        end += count;
        kept++;
        offsets[kept] = end;
      }
      start += count;
    }
  }
}
