package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextHash;
import dev.tern.files.ReadPolicy;
import org.apache.parquet.format.RowGroup;

/** One column of a file on its way into batches, as its {@link ParquetPlan.Target} says. */
final class ParquetFeature {
  /** More ids in one row than any data set has: the levels are broken. */
  private static final int MAX_ROW_IDS = 1 << 20;

  private static final int MAX_WIDTH = 1 << 16;
  private static final int MAX_IDS = 1 << 26;
  private static final int MIN_IDS = 1 << 18;

  private final ParquetFile file;
  private final ParquetField field;
  private final ParquetPlan.Target target;
  private final boolean nulls;
  private final int maxIds;
  private final ParquetColumn column;

  ParquetFeature(ParquetFile file, ParquetPlan plan, ParquetPlan.Target target) {
    this.file = file;
    this.target = target;
    nulls = plan.nulls();
    field = plan.field(file, target);
    maxIds = Math.max(MIN_IDS, MAX_IDS / Math.max(1, plan.schema().slotCount()));
    column =
        new ParquetColumn(
            file,
            field,
            new ParquetValues(field, target.use(), plan.positive(), plan.dictionary()));
  }

  /** Goes to the start of a row group. */
  void open(RowGroup group) {
    column.open(file.chunk(group, field));
  }

  void skip(long rows) {
    column.skip(rows);
  }

  /** Says so if the group has rows beyond its count. */
  void finishGroup() {
    if (!column.finished()) {
      throw column.located("got more rows than its group has" + ParquetFile.REWRITE);
    }
  }

  /** Fills this column of the rows of {@code span}. */
  void fill(ParquetSpan span) {
    Batch batch = span.batch();
    switch (target.role()) {
      case LABEL -> fillLabels(span);
      case DENSE -> fillDense(span);
      case SLOT -> {
        if (field.list()) {
          fillLists(span);
        } else {
          fillIds(span);
        }
      }
    }
  }

  private void fillLabels(ParquetSpan span) {
    float[] labels = span.batch().labels();
    int stride = span.batch().schema().labelDim();
    fillNumbers(span, labels, stride);
    for (int part = 0; part < target.width(); part++) {
      int at = span.from() * stride + target.index() + part;
      for (int i = 0; i < span.rows(); i++) {
        float label = labels[at + i * stride];
        if (!span.policy().accepts(label)) {
          String where = span.where(target.name(), i);
          span.fault(i, span.policy().badLabel(where, Float.toString(label)));
        }
      }
    }
  }

  private void fillDense(ParquetSpan span) {
    float[] dense = span.batch().dense();
    int stride = span.batch().schema().denseDim();
    fillNumbers(span, dense, stride);
    for (int part = 0; part < target.width(); part++) {
      int at = span.from() * stride + target.index() + part;
      for (int i = 0; i < span.rows(); i++) {
        float number = dense[at + i * stride];
        if (Float.isInfinite(number)) {
          String where = span.where(target.name(), i);
          span.fault(i, ReadPolicy.infinite(where, Float.toString(number)));
        }
      }
    }
  }

  private void fillNumbers(ParquetSpan span, float[] out, int stride) {
    if (field.list()) {
      fillVectors(span, out, stride);
      return;
    }
    float[] values = column.values().floats();
    int at = span.from() * stride + target.index();
    int done = 0;
    while (done < span.rows()) {
      int count = column.next(span.rows() - done);
      requireRows(count);
      if (column.dense()) {
        for (int i = 0; i < count; i++) {
          out[at + (done + i) * stride] = values[i];
        }
      } else {
        int next = 0;
        for (int i = 0; i < count; i++) {
          boolean present = column.present(i);
          out[at + (done + i) * stride] = present ? values[next] : missing(span, done + i);
          next += present ? 1 : 0;
        }
      }
      done += count;
    }
  }

  /** A null number: NaN, or a fault. */
  private float missing(ParquetSpan span, int row) {
    if (target.role() == ParquetPlan.Role.LABEL || !nulls) {
      span.fault(row, nullFault(span, row));
    }
    return Float.NaN;
  }

  private DataException nullFault(ParquetSpan span, int row) {
    return new DataException(
        span.where(target.name(), row)
            + ": got null, expected a value; fill missing values before, or leave the row out");
  }

  private void fillVectors(ParquetSpan span, float[] out, int stride) {
    float[] values = column.values().floats();
    int width = target.width();
    int at = span.from() * stride + target.index();
    int row = -1;
    int part = width;
    int left = span.rows();
    for (int count = column.next(left); count > 0; count = column.next(left)) {
      int next = 0;
      for (int i = 0; i < count; i++) {
        if (column.starts(i)) {
          requireWidth(span, row, part);
          row++;
          part = 0;
          left--;
        }
        if (column.element(i)) {
          boolean present = column.present(i);
          if (part < width) {
            out[at + row * stride + part] = present ? values[next] : missing(span, row);
          }
          part++;
          next += present ? 1 : 0;
        }
      }
    }
    requireNoneLeft(left);
    requireWidth(span, row, part);
  }

  private void requireWidth(ParquetSpan span, int row, int width) {
    if (width != target.width()) {
      span.fault(
          row,
          new DataException(
              span.where(target.name(), row)
                  + ": got "
                  + width
                  + " numbers, expected "
                  + target.width()
                  + " as in the first row; vectors of a column all have one width"));
    }
  }

  private void fillIds(ParquetSpan span) {
    Batch batch = span.batch();
    int slot = target.index();
    int[] offsets = batch.offsets(slot);
    int end = offsets[span.from()];
    long[] ids = batch.ensureIds(slot, end + span.rows());
    long[] values = column.values().longs();
    int row = span.from();
    int done = 0;
    while (done < span.rows()) {
      int count = column.next(span.rows() - done);
      requireRows(count);
      if (column.dense()) {
        System.arraycopy(values, 0, ids, end, count);
        for (int i = 0; i < count; i++) {
          row++;
          offsets[row] = end + i + 1;
        }
        end += count;
      } else {
        int next = 0;
        for (int i = 0; i < count; i++) {
          if (column.present(i)) {
            ids[end] = values[next];
            next++;
            end++;
          } else {
            end += nullId(span, done + i, ids, end);
          }
          row++;
          offsets[row] = end;
        }
      }
      done += count;
    }
    shift(span, ids, offsets);
  }

  /** A null id: none, the hash of "", or a fault; returns how many ids were put at {@code end}. */
  private int nullId(ParquetSpan span, int row, long[] ids, int end) {
    if (!nulls) {
      span.fault(row, nullFault(span, row));
    }
    if (target.use() == ParquetValues.Use.TEXT) {
      column.values().sawEmpty();
      ids[end] = TextHash.EMPTY;
      return 1;
    }
    return 0;
  }

  private void fillLists(ParquetSpan span) {
    Batch batch = span.batch();
    int slot = target.index();
    int[] offsets = batch.offsets(slot);
    int end = offsets[span.from()];
    long[] ids = batch.ids(slot);
    long[] values = column.values().longs();
    int row = -1;
    int left = span.rows();
    for (int count = column.next(left); count > 0; count = column.next(left)) {
      ids = batch.ensureIds(slot, end + count);
      int next = 0;
      for (int i = 0; i < count; i++) {
        if (column.starts(i)) {
          row++;
          left--;
          offsets[span.from() + row] = end;
          if (!nulls && column.nullList(i)) {
            span.fault(row, nullFault(span, row));
          }
        }
        if (column.present(i)) {
          ids[end] = values[next];
          next++;
          end++;
        } else if (column.element(i)) {
          end += nullId(span, row, ids, end);
        }
      }
      requireFew(span, row, end - offsets[span.from() + row], end);
    }
    requireNoneLeft(left);
    offsets[span.from() + span.rows()] = end;
    shift(span, ids, offsets);
  }

  private void requireFew(ParquetSpan span, int row, int inRow, int inBatch) {
    if (inRow > MAX_ROW_IDS || inBatch > maxIds) {
      throw new DataException(
          span.where(target.name(), row)
              + ": got "
              + inRow
              + " ids in it and "
              + inBatch
              + " in its batch, expected at most "
              + MAX_ROW_IDS
              + " and "
              + maxIds
              + "; cut the lists");
    }
  }

  private void requireRows(int count) {
    if (count == 0) {
      throw column.located("got fewer rows than its group has" + ParquetFile.REWRITE);
    }
  }

  private void requireNoneLeft(int left) {
    if (left > 0) {
      requireRows(0);
    }
  }

  /** Adds the slot's offset to its ids, each of which must lie within its size. */
  private void shift(ParquetSpan span, long[] ids, int[] offsets) {
    long limit = target.limit();
    if (limit < 0) {
      return;
    }
    int from = span.from();
    for (int i = 0; i < span.rows(); i++) {
      for (int k = offsets[from + i]; k < offsets[from + i + 1]; k++) {
        if (ids[k] < 0 || ids[k] >= limit) {
          span.fault(
              i,
              new DataException(
                  span.where(target.name(), i)
                      + ": got id "
                      + ids[k]
                      + ", expected 0 to "
                      + (limit - 1)
                      + " by the slot's size; mend the data or the sizes"));
        }
        ids[k] += target.offset();
      }
    }
  }

  /** Numbers in the first row of the file's first group that has one; 1 where there is none. */
  int widthOfFirstRow() {
    if (!field.list()) {
      return 1;
    }
    int width = 1;
    for (RowGroup group : file.rowGroups()) {
      if (group.getNum_rows() > 0) {
        width = firstWidth(group);
        break;
      }
    }
    if (width < 1 || width > MAX_WIDTH) {
      throw new DataException(
          file.path()
              + ": row 1, column "
              + target.name()
              + ": got a vector of "
              + width
              + " numbers, expected 1 to "
              + MAX_WIDTH);
    }
    return width;
  }

  private int firstWidth(RowGroup group) {
    open(group);
    int width = 0;
    int rows = 1;
    for (int count = column.next(rows); count > 0; count = column.next(rows)) {
      rows = 0;
      for (int i = 0; i < count; i++) {
        width += column.element(i) ? 1 : 0;
      }
    }
    return width;
  }
}
