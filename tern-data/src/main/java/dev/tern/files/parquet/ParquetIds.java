package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextHash;

/** The ids of a slot: one a row, or those of a list. */
final class ParquetIds {
  private final ParquetFeature feature;
  private final ParquetPlan.Target target;
  private final ParquetColumn<ParquetValues> column;
  private final boolean nulls;
  private final boolean negatives;

  ParquetIds(
      ParquetFeature feature,
      ParquetPlan.Target target,
      ParquetColumn<ParquetValues> column,
      boolean nulls) {
    this.feature = feature;
    this.target = target;
    this.column = column;
    this.nulls = nulls;
    negatives = !target.unsigned() || column.isUnsigned();
  }

  /** Fills the slot of the rows of {@code span}. */
  void fill(ParquetSpan span) {
    if (column.isList()) {
      fillLists(span);
    } else {
      fillScalars(span);
    }
  }

  private void fillScalars(ParquetSpan span) {
    Batch batch = span.batch();
    int slot = target.index();
    int[] offsets = batch.offsets(slot);
    int end = offsets[span.from()];
    long[] ids = batch.ensureIds(slot, end + span.rows());
    long[] values = column.values().longs();
    boolean sure = !column.values().mayFail();
    int row = span.from();
    int done = 0;
    while (done < span.rows()) {
      int count = column.next(span.rows() - done);
      feature.requireRows(count);
      boolean all = column.dense();
      if (all && sure) {
        System.arraycopy(values, 0, ids, end, count);
        for (int i = 0; i < count; i++) {
          row++;
          offsets[row] = end + i + 1;
        }
        end += count;
      } else {
        int next = 0;
        for (int i = 0; i < count; i++) {
          boolean present = all || column.present(i);
          if (present && (sure || feature.fits(span, done + i, next))) {
            ids[end] = values[next];
            end++;
          } else {
            end += nullId(span, done + i, ids, end);
          }
          next += present ? 1 : 0;
          row++;
          offsets[row] = end;
        }
      }
      done += count;
    }
    requireSign(span, ids, offsets);
    shift(span, ids, offsets);
  }

  /**
   * A null id: none (as for a null list), the hash of "", or a fault; returns how many ids were put
   * at {@code end}.
   */
  private int nullId(ParquetSpan span, int row, long[] ids, int end) {
    if (!nulls || target.use() == ParquetValues.Use.INSTANT) {
      span.fault(row, feature.nullFault(span, row));
    }
    if (target.use() == ParquetValues.Use.TEXT && target.list() == column.isList()) {
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
    boolean sure = !column.values().mayFail();
    int row = -1;
    int left = span.rows();
    for (int count = column.next(left); count > 0; count = column.next(left)) {
      span.claimIds(target.name(), Math.max(0, row), count);
      ids = batch.ensureIds(slot, end + count);
      int next = 0;
      for (int i = 0; i < count; i++) {
        if (column.starts(i)) {
          row++;
          left--;
          offsets[span.from() + row] = end;
          if (!nulls && column.nullList(i)) {
            span.fault(row, feature.nullFault(span, row));
          }
        }
        boolean present = column.present(i);
        if (present && (sure || feature.fits(span, row, next))) {
          ids[end] = values[next];
          end++;
        } else if (column.element(i)) {
          end += nullId(span, row, ids, end);
        }
        next += present ? 1 : 0;
      }
    }
    feature.requireNoneLeft(left);
    offsets[span.from() + span.rows()] = end;
    requireSign(span, ids, offsets);
    shift(span, ids, offsets);
  }

  /** Refuses negative ids of a signed column in a slot of unsigned ones: -1 is not 2^64 - 1. */
  private void requireSign(ParquetSpan span, long[] ids, int[] offsets) {
    if (negatives) {
      return;
    }
    for (int i = 0; i < span.rows(); i++) {
      for (int k = offsets[span.from() + i]; k < offsets[span.from() + i + 1]; k++) {
        if (ids[k] < 0) {
          span.fault(
              i,
              new DataException(
                  span.where(target.name(), i)
                      + ": got id "
                      + ids[k]
                      + ", expected 0 or more, as its slot has unsigned ids by data.sparse.values"
                      + " or by another file; mend the row, or write all files with one type"));
        }
      }
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
}
