package dev.tern.model;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The tasks of a model over rows of a schema: which label each one predicts, and which rows count
 * for it. Column {@code k} of the model's logits is of task {@code k}.
 */
public final class TaskLabels {
  private static final int NONE = -1;

  private final List<Task> tasks;
  private final int width;
  private final int[] labels;
  private final int[] within;

  /** Of each task whether rows may lack its label. */
  private final boolean[] optional;

  /** Of each task the class that it is of, or {@link #NONE}. */
  private final int[] classes;

  private final ClassLogits classLogits;

  private TaskLabels(Schema schema, List<Task> tasks) {
    this.tasks = tasks;
    width = schema.labelDim();
    labels = tasks.stream().mapToInt(task -> index(schema, task, task.column())).toArray();
    classes =
        tasks.stream()
            .mapToInt(task -> task.loss() instanceof Loss.OfClass(int number, _) ? number : NONE)
            .toArray();
    classLogits = ClassLogits.of(tasks);
    optional = new boolean[tasks.size()];
    for (int k = 0; k < optional.length; k++) {
      optional[k] = tasks.get(k).optional();
    }
    within =
        tasks.stream()
            .mapToInt(task -> task.within().map(name -> index(schema, task, name)).orElse(NONE))
            .toArray();
  }

  /**
   * The tasks {@code named}; none in rows to be scored that have no labels.
   *
   * @throws IllegalArgumentException if two tasks have one label, or a task names a label that the
   *     schema does not have
   */
  public static TaskLabels of(Schema schema, List<Task> named) {
    group(named);
    Set<String> seen = new HashSet<>();
    for (Task task : named) {
      if (!seen.add(task.label())) {
        throw new IllegalArgumentException(
            "tasks: got the label %s twice, expected one task for each label"
                .formatted(task.label()));
      }
      for (Task other : named) {
        boolean whole =
            other.loss().accepts(1)
                && !other.loss().accepts(0.5f)
                && !(other.loss() instanceof Loss.OfClass);
        if (task.within().equals(Optional.of(other.column())) && !whole) {
          throw new IllegalArgumentException(
              "task %s: got rows within %s, whose loss is %s, expected a label of 0 and 1; count all rows"
                  .formatted(task.label(), other.column(), other.loss()));
        }
      }
    }
    return new TaskLabels(schema, named.isEmpty() ? List.of(Task.of("")) : List.copyOf(named));
  }

  /**
   * The column of groups of tasks that learn pairs, if they do.
   *
   * @throws IllegalArgumentException if some learn pairs and others do not, or of other groups
   */
  static Optional<String> group(List<Task> tasks) {
    List<Optional<String>> groups =
        tasks.stream()
            .map(task ->
                task.loss() instanceof Loss.Pairwise(String group)
                    ? Optional.of(group)
                    : Optional.<String>empty())
            .distinct()
            .toList();
    if (groups.size() > 1) {
      throw new IllegalArgumentException(
          "tasks: got the losses %s, expected bpr of one column for all tasks or for none, as its scores are no probabilities; train two models"
              .formatted(tasks.stream().map(Task::loss).toList()));
    }
    return groups.isEmpty() ? Optional.empty() : groups.getFirst();
  }

  /** The column whose rows are compared, where the tasks learn pairs: {@link Loss.Pairwise}. */
  public Optional<String> group() {
    return group(tasks);
  }

  private static int index(Schema schema, Task task, String name) {
    if (schema.labelDim() == 0) {
      return NONE;
    }
    int index = schema.labels().indexOf(name);
    if (index < 0) {
      throw new IllegalArgumentException(
          "task %s: got the label %s, expected one of %s; read it with the rows"
              .formatted(task.label(), name, schema.labels()));
    }
    return index;
  }

  /** The tasks, in the order of the model's logits. */
  public List<Task> tasks() {
    return tasks;
  }

  /** Logits of each row. */
  public int count() {
    return tasks.size();
  }

  /**
   * Makes predictions of logits in their place: of each of {@code rows} rows one for each task,
   * side by side.
   */
  public void predict(float[] logits, int rows) {
    int count = tasks.size();
    for (int k = 0; k < count; k++) {
      Loss loss = tasks.get(k).loss();
      for (int i = k; i < rows * count; i += count) {
        logits[i] = loss.predicted(logits[i]);
      }
    }
  }

  /**
   * The losses of logits where they are of each row, in the shape of both: {@code [B]}, or {@code
   * [B, K]} of {@code K} tasks.
   */
  public Tensor losses(Tensor logits, Tensor labels) {
    Loss first = tasks.getFirst().loss();
    if (tasks.stream().allMatch(task -> task.loss().equals(first)) || classLogits.isAll()) {
      return first.of(logits, labels);
    }
    List<Tensor> columns = new ArrayList<>();
    for (int k = 0; k < tasks.size(); k++) {
      columns.add(tasks.get(k).loss().of(logits.slice(1, k, k + 1), labels.slice(1, k, k + 1)));
    }
    return Tensor.concat(1, columns);
  }

  /** Whether the loss is the mean over all rows of one task. */
  public boolean isPlain() {
    Task first = tasks.getFirst();
    return tasks.size() == 1
        && within[0] == NONE
        && first.weight() == 1
        && group().isEmpty()
        && !first.optional()
        && first.positiveWeight() == 1;
  }

  /**
   * Whether a row counts for a task: all do, or those where the label that the task names is 1. A
   * row without that label does not count, nor does one without the task's own, where rows may lack
   * it.
   */
  public boolean counts(Batch batch, int row, int task) {
    float[] all = batch.labels();
    return (within[task] == NONE || all[row * width + within[task]] == 1)
        && !(optional[task] && Float.isNaN(all[row * width + labels[task]]));
  }

  /** What scores add to each task's logit for negative rows that training left out; or nothing. */
  Optional<Tensor> offsets() {
    if (tasks.stream().allMatch(task -> task.negativeRate() == 1)) {
      return Optional.empty();
    }
    float[] offsets = new float[tasks.size()];
    for (int k = 0; k < offsets.length; k++) {
      offsets[k] = (float) Math.log(tasks.get(k).negativeRate());
    }
    return Optional.of(Tensor.of(Shape.of(offsets.length), offsets));
  }

  /**
   * The label of a row, as {@link Task#loss} has it in rows that count; NaN where it is missing. Of
   * a class it is 1 where the row is of it and else 0; what is no class stays what it is.
   */
  public float label(Batch batch, int row, int task) {
    float label = batch.labels()[row * width + labels[task]];
    if (classes[task] == NONE) {
      return label;
    }
    int count = ((Loss.OfClass) tasks.get(task).loss()).classes();
    boolean isClass = label >= 0 && label < count && label == (int) label;
    // What is no class is neither 0 nor 1, so the loss refuses it.
    return isClass ? (label == classes[task] ? 1 : 0) : label;
  }

  /** The tasks of classes. */
  public ClassLogits classLogits() {
    return classLogits;
  }
}
