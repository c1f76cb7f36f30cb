package dev.tern.metrics;

import dev.tern.data.Batch;
import dev.tern.model.ClassLogits;
import dev.tern.model.Loss;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@link Metrics} of each task of a model, over the rows that count for it ({@link
 * TaskLabels#counts}). Not thread-safe.
 */
public final class TaskMetrics {
  private final TaskLabels tasks;
  private final List<Metrics> metrics = new ArrayList<>();

  /** Of each task that predicts values, where its {@link Metrics} stay empty. */
  private final List<Optional<ValueMetrics>> values = new ArrayList<>();

  /** Of the first class of each label that is one. */
  private final List<ClassMetrics> classes = new ArrayList<>();

  /**
   * Figures of one task.
   *
   * @param task the name of its label
   * @param metrics of the rows that count for it; of no rows for a task that predicts values
   * @param values of the rows that count for a task that predicts values; empty for probabilities
   * @param reliability of the rows that count for a task that predicts probabilities; empty of rows
   *     trained on
   * @param groups of the rows that count for a task of labels 0 and 1, where an evaluation has
   *     {@code TrainOptions.group}
   * @param classes of all classes of a label, for the task of its class 0; else empty
   * @param retrieval of a model of two towers, where an evaluation has {@code
   *     TrainOptions.recallAt}
   */
  public record Result(
      String task,
      Metrics.Result metrics,
      Optional<ValueMetrics.Result> values,
      Optional<Reliability> reliability,
      Optional<GroupMetrics.Result> groups,
      Optional<ClassMetrics.Result> classes,
      Optional<RetrievalMetrics.Result> retrieval) {
    /** Rows that count for the task. */
    public long rows() {
      return values.map(ValueMetrics.Result::rows).orElse(metrics.rows());
    }

    /**
     * Mean loss: log loss of probabilities, else that of {@link dev.tern.model.Task#loss}. Of a
     * class it is that of the class against all others.
     */
    public double loss() {
      return values.map(ValueMetrics.Result::loss).orElse(metrics.logLoss());
    }

    /** Sum of predictions over sum of labels. */
    public double calibration() {
      return values.map(ValueMetrics.Result::calibration).orElse(metrics.calibration());
    }

    private Result withGroups(Optional<GroupMetrics.Result> own) {
      return new Result(task, metrics, values, reliability, own, classes, retrieval);
    }

    private Result withRetrieval(RetrievalMetrics.Result own) {
      return new Result(task, metrics, values, reliability, groups, classes, Optional.of(own));
    }
  }

  /** Metrics of tasks over batches of the schema that {@code tasks} were found in. */
  public TaskMetrics(TaskLabels tasks) {
    this.tasks = tasks;
    for (Task task : tasks.tasks()) {
      Loss loss = task.loss();
      boolean soft = loss.isOfProbability() && loss.accepts(0.5f);
      metrics.add(soft ? Metrics.ofSoftLabels() : new Metrics());
      values.add(loss.hasAuc() ? Optional.empty() : Optional.of(new ValueMetrics(loss)));
    }
    tasks.classLogits().groups().forEach(group -> classes.add(new ClassMetrics(group.classes())));
  }

  /**
   * Adds the rows of {@code batch}.
   *
   * @param logits of each row one for each task, side by side
   * @throws IllegalArgumentException if a logit is NaN, or the loss of its task does not accept the
   *     label of a row that counts; rows before it are added
   */
  public void addLogits(float[] logits, Batch batch) {
    int count = metrics.size();
    for (int row = 0; row < batch.size(); row++) {
      for (int k = 0; k < count; k++) {
        if (tasks.counts(batch, row, k)) {
          float logit = logits[row * count + k];
          float label = tasks.label(batch, row, k);
          if (values.get(k).isPresent()) {
            values.get(k).get().add(logit, label, batch.rowWeight(row));
          } else {
            metrics.get(k).addLogit(logit, label, batch.rowWeight(row), row);
          }
        }
      }
    }
    for (int group = 0; group < classes.size(); group++) {
      addClasses(classes.get(group), tasks.classLogits().groups().get(group), logits, batch);
    }
  }

  private void addClasses(ClassMetrics to, ClassLogits.Group group, float[] logits, Batch batch) {
    int count = metrics.size();
    for (int row = 0; row < batch.size(); row++) {
      if (tasks.counts(batch, row, group.from())) {
        int own = 0;
        while (tasks.label(batch, row, group.from() + own) != 1) {
          own++;
        }
        to.add(logits, row * count + group.from(), own, batch.rowWeight(row));
      }
    }
  }

  /** The figures of each task, in order, since the last {@link #clear}; more rows may follow. */
  public List<Result> results() {
    List<Result> results = new ArrayList<>();
    for (int k = 0; k < metrics.size(); k++) {
      results.add(
          new Result(
              tasks.tasks().get(k).label(),
              metrics.get(k).result(),
              values.get(k).map(ValueMetrics::result),
              Optional.empty(),
              Optional.empty(),
              classes(k),
              Optional.empty()));
    }
    return results;
  }

  private Optional<ClassMetrics.Result> classes(int task) {
    for (int group = 0; group < classes.size(); group++) {
      ClassLogits.Group of = tasks.classLogits().groups().get(group);
      if (of.from() == task) {
        return Optional.of(classes.get(group).result(of.label()));
      }
    }
    return Optional.empty();
  }

  /**
   * The same with {@link Metrics#reliability} of each task that predicts probabilities.
   *
   * @param bins of rows with like predictions, 1 to 10,000
   */
  public List<Result> results(int bins) {
    List<Result> results = new ArrayList<>();
    for (Result plain : results()) {
      Optional<Reliability> reliability =
          plain.values().isPresent()
              ? Optional.empty()
              : Optional.of(metrics.get(results.size()).reliability(bins));
      results.add(
          new Result(
              plain.task(),
              plain.metrics(),
              plain.values(),
              reliability,
              Optional.empty(),
              plain.classes(),
              Optional.empty()));
    }
    return results;
  }

  /** Results with the figures by group of the same rows, if there are any. */
  public static List<Result> withGroups(List<Result> results, Optional<GroupedRows> groups) {
    List<Result> all = new ArrayList<>(results);
    List<Optional<GroupMetrics.Result>> own = groups.map(GroupedRows::results).orElse(List.of());
    for (int k = 0; k < own.size(); k++) {
      all.set(k, all.get(k).withGroups(own.get(k)));
    }
    return all;
  }

  /** Results of one task with the figures of retrieval of the same rows. */
  public static List<Result> withRetrieval(
      List<Result> results, RetrievalMetrics.Result retrieval) {
    List<Result> all = new ArrayList<>(results);
    all.set(0, all.getFirst().withRetrieval(retrieval));
    return all;
  }

  /** Forgets all rows. */
  public void clear() {
    metrics.forEach(Metrics::clear);
    values.forEach(of -> of.ifPresent(ValueMetrics::clear));
    classes.forEach(ClassMetrics::clear);
  }
}
