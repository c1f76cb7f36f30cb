package dev.tern.metrics;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextHash;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@link GroupMetrics} of each task of a model with labels 0 and 1, over the rows of each value of
 * a column. Rows without a value are in no group. Each row counts as often as its weight says. Not
 * thread-safe.
 */
public final class GroupedRows {
  private final TaskLabels tasks;
  private final String column;
  private final int slot;
  private final List<Optional<GroupMetrics>> metrics = new ArrayList<>();
  private long rows;
  private long without;

  /**
   * Groups of raw rows.
   *
   * @param schema of the rows
   * @param tasks found in it
   * @param column a slot of the schema with one value a row
   * @param at rows that count as the first of a group, 1 or more
   * @throws IllegalArgumentException if the schema has no such slot, or no task labels 0 and 1
   */
  public GroupedRows(Schema schema, TaskLabels tasks, String column, int at) {
    this.tasks = tasks;
    this.column = column;
    slot = schema.slotNames().indexOf(column);
    if (slot < 0) {
      throw new IllegalArgumentException(
          "groups: got the column %s, expected a column of ids among %s; name one of them, or read it with the rows"
              .formatted(column, schema.slotNames()));
    }
    if (tasks.tasks().stream().noneMatch(GroupedRows::isOf)) {
      throw new IllegalArgumentException(
          "groups: got tasks with the losses %s, expected one of labels 0 and 1; leave the groups out"
              .formatted(tasks.tasks().stream().map(Task::loss).toList()));
    }
    for (Task task : tasks.tasks()) {
      metrics.add(isOf(task) ? Optional.of(new GroupMetrics(at)) : Optional.empty());
    }
  }

  /** Whether a task has figures by group: its labels are 0 and 1. */
  public static boolean isOf(Task task) {
    return task.loss().hasAuc() && !task.loss().accepts(0.5f);
  }

  /**
   * Adds rows.
   *
   * @param logits of each row one for each task, side by side
   * @throws DataException if a row has several values of the column
   */
  public void add(float[] logits, Batch batch) {
    int[] offsets = batch.offsets(slot);
    long[] ids = batch.ids(slot);
    for (int row = 0; row < batch.size(); row++) {
      int values = offsets[row + 1] - offsets[row];
      if (values > 1) {
        throw new DataException(
            "groups: got %d values of %s in row %d, expected one; name a column with one value a row"
                .formatted(values, column, rows + row + 1));
      }
      // The empty text is how a column of texts says that a value is missing.
      if (values == 0 || ids[offsets[row]] == TextHash.EMPTY) {
        without++;
      } else {
        add(ids[offsets[row]], logits, batch, row);
      }
    }
    rows += batch.size();
  }

  private void add(long group, float[] logits, Batch batch, int row) {
    int count = metrics.size();
    for (int k = 0; k < count; k++) {
      if (metrics.get(k).isPresent() && tasks.counts(batch, row, k)) {
        float label = tasks.label(batch, row, k);
        metrics.get(k).get().add(group, logits[row * count + k], label, batch.rowWeight(row));
      }
    }
  }

  /** The column. */
  public String column() {
    return column;
  }

  /** The tasks, in the order of {@link #results}. */
  public TaskLabels tasks() {
    return tasks;
  }

  /** Rows so far. */
  public long rows() {
    return rows;
  }

  /** Of these, rows without a value. */
  public long without() {
    return without;
  }

  /** The figures of each task, in order; none of tasks whose labels are others than 0 and 1. */
  public List<Optional<GroupMetrics.Result>> results() {
    return metrics.stream().map(own -> own.map(GroupMetrics::result)).toList();
  }
}
