package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.ColumnThreads;
import dev.tern.internal.files.RowSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.format.RowGroup;

/**
 * The rows of one Parquet file, a span of rows at a time, column after column, or several at the
 * same time: columns have nothing in common but the file and the faults.
 */
final class ParquetSource implements RowSource {
  private final ParquetFile file;
  private final ParquetPruning pruning;
  private final ReadPolicy policy;
  private final ParquetSpan span;
  private final ColumnThreads team;
  private final List<ParquetSpan.RowColumn> features = new ArrayList<>();

  private int nextGroup;
  private boolean open;
  private long groupLeft;
  private long row;

  private ParquetSource(ParquetFile file, ParquetPlan plan, ReadPolicy policy) {
    this.file = file;
    this.policy = policy;
    pruning = plan.pruning();
    team = new ColumnThreads(policy.readers());
    span = new ParquetSpan(file, policy, new Batch(plan.schema(), 1));
    for (ParquetPlan.Target target : plan.targets()) {
      features.add(
          ParquetConstant.isIn(file, target)
              ? new ParquetConstant(file, plan, target, policy)
              : new ParquetFeature(file, plan, target));
    }
  }

  /**
   * Opens a file, of which as many threads as {@code policy} says, the caller's being one, read
   * columns. Bad rows go to {@code faults}, but where the first stops it is thrown: a thread that
   * is not the caller's may have found it.
   */
  static ParquetSource open(Path path, ParquetPlan plan, ReadPolicy policy, Faults faults) {
    ParquetFile file = ParquetFile.open(path);
    try {
      return new ParquetSource(file, plan, policy.strict() ? policy : policy.withFaults(faults));
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /**
   * {@inheritDoc} Where bad records are left out, a fault that costs more than its row costs what
   * is left of its row group, and the next group is read.
   */
  @Override
  public void fill(Batch batch, int limit) {
    while (batch.size() < limit && hasRows()) {
      int rows = (int) Math.min(limit - batch.size(), groupLeft);
      span.start(batch, rows, row);
      try {
        openGroup();
        team.run(features.size(), i -> features.get(i).fill(span));
      } catch (RuntimeException e) {
        span.abandon();
        if (policy.strict() || !(e instanceof DataException fault)) {
          throw e;
        }
        loseGroup(fault);
        continue;
      }
      span.finish();
      advance(rows);
    }
  }

  private void loseGroup(DataException fault) {
    long lost = groupLeft;
    row += lost;
    groupLeft = 0;
    policy.faults().report(fault.losing(lost));
  }

  @Override
  public long skip(long rows) {
    long skipped = 0;
    while (skipped < rows && hasRows()) {
      long count = Math.min(rows - skipped, groupLeft);
      if (open || count < groupLeft) {
        openGroup();
        features.forEach(feature -> feature.skip(count));
      }
      advance(count);
      skipped += count;
    }
    return skipped;
  }

  /** Whether rows are left, in the row group at hand or the next one that has some. */
  private boolean hasRows() {
    while (groupLeft == 0) {
      if (nextGroup == file.rowGroups().size()) {
        return false;
      }
      RowGroup group = file.rowGroups().get(nextGroup);
      nextGroup++;
      if (pruning.leavesOut(file, group)) {
        row += group.getNum_rows();
      } else {
        groupLeft = group.getNum_rows();
        open = false;
      }
    }
    return true;
  }

  private void openGroup() {
    if (!open) {
      RowGroup group = file.rowGroups().get(nextGroup - 1);
      features.forEach(feature -> feature.open(group));
      open = true;
    }
  }

  private void advance(long rows) {
    row += rows;
    groupLeft -= rows;
    if (open && groupLeft == 0) {
      try {
        features.forEach(ParquetSpan.RowColumn::finishGroup);
      } catch (DataException e) {
        // There are rows that the footer does not count.
        throw e.losing(DataException.UNKNOWN_ROWS);
      }
    }
  }

  @Override
  public long left() {
    long left = groupLeft;
    for (RowGroup group : file.rowGroups().subList(nextGroup, file.rowGroups().size())) {
      left += pruning.leavesOut(file, group) ? 0 : group.getNum_rows();
    }
    return left;
  }

  @Override
  public void close() {
    team.close();
    file.close();
  }
}
