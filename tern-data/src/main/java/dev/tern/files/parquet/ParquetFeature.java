package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.encode.TimePart;
import dev.tern.files.ReadPolicy;
import java.util.Optional;
import org.apache.parquet.format.RowGroup;

/** One column of a file on its way into batches, as its {@link ParquetPlan.Target} says. */
final class ParquetFeature implements ParquetSpan.RowColumn {
  private static final int MAX_WIDTH = 1 << 16;

  private final ParquetFile file;
  private final ParquetField field;
  private final ParquetPlan.Target target;
  private final boolean nulls;
  private final boolean times;
  private final ParquetColumn<ParquetValues> column;
  private final ParquetIds ids;

  ParquetFeature(ParquetFile file, ParquetPlan plan, ParquetPlan.Target target) {
    this.file = file;
    this.target = target;
    nulls = plan.nulls();
    field = plan.field(file, target);
    Optional<TimePart> part = ParquetPlan.part(field, target);
    times = part.isPresent() || target.use() == ParquetValues.Use.TIME;
    column =
        new ParquetColumn<>(
            file,
            field,
            new ParquetValues(field.type(), target, part, file.sharesOverPages(), plan),
            plan.largestPage());
    ids = new ParquetIds(this, target, column, nulls);
  }

  @Override
  public void open(RowGroup group) {
    column.open(file.chunk(group, field));
  }

  @Override
  public void skip(long rows) {
    column.skip(rows);
  }

  @Override
  public void finishGroup() {
    if (!column.finished()) {
      throw column.located("got more rows than its group has" + ParquetFile.REWRITE);
    }
  }

  @Override
  public void fill(ParquetSpan span) {
    switch (target.role()) {
      case LABEL -> fillLabels(span);
      case DENSE -> fillDense(span);
      case SLOT -> ids.fill(span);
    }
  }

  private void fillLabels(ParquetSpan span) {
    float[] labels = span.batch().labels();
    int stride = span.batch().schema().labelDim();
    fillNumbers(span, labels, stride);
    for (int part = 0; part < target.width(); part++) {
      int at = span.from() * stride + target.index() + part;
      String name = span.batch().schema().labels().get(target.index() + part);
      ReadPolicy.Labels values = span.policy().labels(name);
      for (int i = 0; i < span.rows(); i++) {
        float label = labels[at + i * stride];
        if (!values.accepts(label)) {
          String where = span.where(target.name(), i);
          span.fault(i, values.fault(where, Float.toString(label)));
        }
        labels[at + i * stride] = values.of(label);
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
    if (target.list() && !field.list()) {
      refuseNulls(span);
      return;
    }
    if (field.list()) {
      fillVectors(span, out, stride);
      return;
    }
    float[] values = column.values().floats();
    boolean sure = !column.values().mayFail();
    int at = span.from() * stride + target.index();
    int done = 0;
    while (done < span.rows()) {
      int count = column.next(span.rows() - done);
      requireRows(count);
      boolean all = column.dense();
      if (all && sure) {
        for (int i = 0; i < count; i++) {
          out[at + (done + i) * stride] = values[i];
        }
      } else {
        int next = 0;
        for (int i = 0; i < count; i++) {
          boolean present = all || column.present(i);
          boolean fits = present && (sure || fits(span, done + i, next));
          out[at + (done + i) * stride] = fits ? values[next] : missing(span, done + i, 0);
          next += present ? 1 : 0;
        }
      }
      done += count;
    }
  }

  /** A null number: NaN, or a fault. */
  private float missing(ParquetSpan span, int row, int part) {
    boolean may =
        target.role() == ParquetPlan.Role.LABEL
            ? span.policy()
                .labels(span.batch().schema().labels().get(target.index() + part))
                .optional()
            : nulls;
    if (!may) {
      span.fault(row, nullFault(span, row));
    }
    return Float.NaN;
  }

  /** Whether value {@code next} of the run is one; a misfit is missing or a fault of its row. */
  boolean fits(ParquetSpan span, int row, int next) {
    ParquetMisfits misfits = column.values().misfits();
    if (misfits.fits(next)) {
      return true;
    }
    if (!misfits.isMissing(next)) {
      span.fault(
          row,
          new DataException(
              "%s: got %s, expected %s"
                  .formatted(
                      span.where(target.name(), row),
                      misfits.value(next),
                      times && !field.kind().isTime()
                          ? "a time such as 2026-01-31T08:30:00Z, or a number; mend it"
                          : field.kind().isTime()
                              ? "a time within 292,000 years of 1970; mend it, or leave the row out"
                              : "a whole number that a "
                                  + field.described()
                                  + " holds exactly and 64 bits hold; cast the column, encode it as"
                                  + " text, or make it dense")));
    }
    return false;
  }

  DataException nullFault(ParquetSpan span, int row) {
    return new DataException(
        span.where(target.name(), row)
            + ": got null, expected a value; fill missing values before, or leave the row out");
  }

  /** A column of nulls where others have vectors: each row lacks one. */
  private void refuseNulls(ParquetSpan span) {
    for (int row = 0; row < span.rows(); row++) {
      requireWidth(span, row, 0);
    }
    column.skip(span.rows());
  }

  private void fillVectors(ParquetSpan span, float[] out, int stride) {
    float[] values = column.values().floats();
    boolean sure = !column.values().mayFail();
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
            boolean fits = present && (sure || fits(span, row, next));
            out[at + row * stride + part] = fits ? values[next] : missing(span, row, part);
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
                  + " as in the first row that has some; vectors of a column all have one width"));
    }
  }

  /** Says so if no entry came where rows are left. */
  void requireRows(int count) {
    if (count == 0) {
      throw column.located("got fewer rows than its group has" + ParquetFile.REWRITE);
    }
  }

  void requireNoneLeft(int left) {
    if (left > 0) {
      requireRows(0);
    }
  }

  /** Numbers in the first row that has some; 1 for a scalar, 0 where no row has any. */
  int firstWidth() {
    if (!field.list()) {
      return 1;
    }
    int width = 0;
    for (RowGroup group : file.rowGroups()) {
      try {
        width = group.getNum_rows() > 0 ? firstWidth(group) : 0;
      } catch (DataException e) {
        continue; // Whoever reads the group meets the fault, and perhaps leaves its rows out.
      }
      if (width > 0) {
        break;
      }
    }
    if (width > MAX_WIDTH) {
      throw new DataException(
          file.path()
              + ": column "
              + target.name()
              + ": got a vector of "
              + width
              + " numbers or more, expected 1 to "
              + MAX_WIDTH
              + "; leave the column out, or make it ids");
    }
    return width;
  }

  private int firstWidth(RowGroup group) {
    open(group);
    int width = 0;
    for (int count = column.next(ParquetValues.CHUNK);
        count > 0 && width <= MAX_WIDTH;
        count = column.next(ParquetValues.CHUNK)) {
      for (int i = 0; i < count; i++) {
        if (width > 0 && column.starts(i)) {
          return width;
        }
        width += column.element(i) ? 1 : 0;
      }
    }
    return width;
  }
}
