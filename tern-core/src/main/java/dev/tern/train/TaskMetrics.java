package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.model.TaskLabels;
import java.util.ArrayList;
import java.util.List;

/**
 * {@link Metrics} of each task of a model, over the rows that count for it ({@link
 * TaskLabels#counts}). Not thread-safe.
 */
public final class TaskMetrics {
  private final TaskLabels tasks;
  private final List<Metrics> metrics = new ArrayList<>();

  /**
   * Figures of one task.
   *
   * @param task the name of its label
   * @param metrics of the rows that count for it
   */
  public record Result(String task, Metrics.Result metrics) {}

  /** Metrics of tasks over batches of the schema that {@code tasks} were found in. */
  public TaskMetrics(TaskLabels tasks) {
    this.tasks = tasks;
    tasks.tasks().forEach(task -> metrics.add(new Metrics()));
  }

  /**
   * Adds the rows of {@code batch}.
   *
   * @param logits of each row one for each task, side by side
   * @throws IllegalArgumentException if a logit is NaN, or a label of a row that counts is neither
   *     0 nor 1; rows before it are added
   */
  public void addLogits(float[] logits, Batch batch) {
    int count = metrics.size();
    for (int row = 0; row < batch.size(); row++) {
      for (int k = 0; k < count; k++) {
        if (tasks.counts(batch, row, k)) {
          metrics
              .get(k)
              .addLogit(
                  logits[row * count + k], tasks.label(batch, row, k), batch.rowWeight(row), row);
        }
      }
    }
  }

  /** The figures of each task, in order, since the last {@link #clear}; more rows may follow. */
  public List<Result> results() {
    List<Result> results = new ArrayList<>();
    for (int k = 0; k < metrics.size(); k++) {
      results.add(new Result(tasks.tasks().get(k).label(), metrics.get(k).result()));
    }
    return results;
  }

  /** Forgets all rows. */
  public void clear() {
    metrics.forEach(Metrics::clear);
  }
}
