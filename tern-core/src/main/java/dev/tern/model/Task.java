package dev.tern.model;

import dev.tern.data.Schema;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One thing that a model predicts of a row: the probability that a label is 1.
 *
 * @param label name of the label's column
 * @param weight factor of the task's mean loss in the loss that training minimizes, above 0
 * @param within name of another label: rows where that label is 1 count for this task, and others
 *     neither train it nor are evaluated; empty where all rows count. For example {@code buy}
 *     within {@code click} is a purchase after a click
 */
public record Task(String label, float weight, Optional<String> within) {
  public Task {
    Objects.requireNonNull(label, "label");
    if (!(weight > 0 && weight < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "task %s: got the weight %s, expected a number above 0; leave the task out to ignore it"
              .formatted(label, weight));
    }
    if (within.isPresent() && within.get().equals(label)) {
      throw new IllegalArgumentException(
          "task %s: got itself as the label that its rows must have, expected another label; leave it out to count all rows"
              .formatted(label));
    }
  }

  /** The task of a label, for all rows, with the weight 1. */
  public static Task of(String label) {
    return new Task(label, 1, Optional.empty());
  }

  /** The tasks of all labels of rows, in order. */
  public static List<Task> ofLabels(Schema schema) {
    return schema.labels().stream().map(Task::of).toList();
  }

  /** The same task with another weight. */
  public Task withWeight(float factor) {
    return new Task(label, factor, within);
  }

  /** The same task for rows where {@code other} is 1. */
  public Task within(String other) {
    return new Task(label, weight, Optional.of(other));
  }
}
