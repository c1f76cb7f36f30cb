package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.encode.TimePart;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.HivePath;
import java.util.Arrays;
import org.apache.parquet.format.RowGroup;

/** A column that a file has in the name of a folder that it is in: one value in all its rows. */
final class ParquetConstant implements ParquetSpan.RowColumn {
  private final ParquetPlan.Target target;
  private final float number;
  private final long[] ids;

  ParquetConstant(
      ParquetFile file, ParquetPlan plan, ParquetPlan.Target target, ReadPolicy policy) {
    this.target = target;
    HivePath path = HivePath.of(file.path());
    Columns columns = plan.columns();
    if (target.list()) {
      throw fault(file, "expected a LIST as in other files; write all files with one schema");
    }
    number =
        switch (target.role()) {
          case LABEL -> path.label(target.name(), columns, policy);
          case DENSE -> path.number(target.name(), columns.missing());
          case SLOT -> 0;
        };
    ids =
        target.role() == ParquetPlan.Role.SLOT
            ? path.ids(columns.sparse().get(target.index()), columns.missing(), plan.dictionary())
            : new long[0];
    boolean missing =
        target.role() == ParquetPlan.Role.SLOT ? ids.length == 0 : Float.isNaN(number);
    boolean mayMiss = plan.nulls() && target.use() != ParquetValues.Use.INSTANT;
    // A label that may be missing passed its policy.
    if (missing && !mayMiss && target.role() != ParquetPlan.Role.LABEL) {
      throw fault(file, "expected a value; fill missing values before");
    }
    for (int i = 0; i < ids.length && target.limit() >= 0; i++) {
      if (ids[i] < 0 || ids[i] >= target.limit()) {
        throw fault(file, "expected 0 to " + (target.limit() - 1) + " by the slot's size");
      }
      ids[i] += target.offset();
    }
  }

  /** Whether {@code file} lacks the column of {@code target}, and a folder that it is in has it. */
  static boolean isIn(ParquetFile file, ParquetPlan.Target target) {
    if (target.position() >= 0 || !HivePath.of(file.path()).has(target.name())) {
      return false;
    }
    String times =
        TimePart.of(target.name()).isPresent() ? TimePart.source(target.name()) : target.name();
    ParquetSchema schema = file.schema();
    return schema.called(target.name()).isEmpty() && schema.called(times).isEmpty();
  }

  private DataException fault(ParquetFile file, String expected) {
    return new DataException(
        "%s: folder of column %s: got \"%s\", %s"
            .formatted(
                file.path(),
                target.name(),
                HivePath.of(file.path()).text(target.name()),
                expected));
  }

  @Override
  public void open(RowGroup group) {
    // The value is the same in every group.
  }

  @Override
  public void skip(long rows) {
    // As for open.
  }

  @Override
  public void finishGroup() {
    // There are as many rows as are asked for.
  }

  @Override
  public void fill(ParquetSpan span) {
    switch (target.role()) {
      case LABEL -> fill(span, span.batch().labels(), span.batch().schema().labelDim());
      case DENSE -> fill(span, span.batch().dense(), span.batch().schema().denseDim());
      case SLOT -> fillIds(span);
    }
  }

  private void fill(ParquetSpan span, float[] out, int stride) {
    int at = span.from() * stride + target.index();
    for (int i = 0; i < span.rows(); i++) {
      out[at + i * stride] = number;
    }
  }

  private void fillIds(ParquetSpan span) {
    int[] offsets = span.batch().offsets(target.index());
    int end = offsets[span.from()];
    int count = ids.length;
    long[] out = span.batch().ensureIds(target.index(), end + count * span.rows());
    if (count == 1) {
      Arrays.fill(out, end, end + span.rows(), ids[0]);
    }
    for (int i = 1; i <= span.rows(); i++) {
      offsets[span.from() + i] = end + count * i;
    }
  }
}
