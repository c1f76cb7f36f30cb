package dev.tern.model;

import dev.tern.data.Schema;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * One thing that a model predicts of a row: the probability that a label is 1, or what {@link
 * #loss} makes of the logit.
 *
 * @param label name of the label's column; of a class, with its number behind it
 * @param weight factor of the task's mean loss in the loss that training minimizes, above 0
 * @param within name of another label: rows where that label is 1 count for this task, and others
 *     neither train it nor are evaluated; empty where all rows count. For example {@code buy}
 *     within {@code click} is a purchase after a click
 * @param positiveWeight factor of the losses of rows labelled 1, above 0. Probabilities then hold
 *     for rows in which there are so many times as many positives
 * @param negativeRate share of the rows labelled 0 that the training data have kept, above 0 to 1.
 *     Scores and evaluations are of data that have all of them: the logit is {@code
 *     log(negativeRate)} more than the trained one. For example, a probability of 0.5 where one of
 *     five negatives was kept is 1 / (1 + 5) = 0.167
 * @param loss what training minimizes. Losses other than cross entropy of labels 0 and 1 have no
 *     {@code positiveWeight} and {@code negativeRate} but 1
 * @param optional whether rows may lack the label, which is NaN then. Such a row does not count for
 *     the task: it neither trains it nor is evaluated, as outside of {@code within}. Else a row
 *     without the label is an error
 */
public record Task(
    String label,
    float weight,
    Optional<String> within,
    float positiveWeight,
    float negativeRate,
    Loss loss,
    boolean optional) {
  public Task {
    Objects.requireNonNull(label, "label");
    Objects.requireNonNull(loss, "loss");
    if (loss instanceof Loss.OfClass(int number, _) && !label.endsWith(suffix(number))) {
      throw new IllegalArgumentException(
          "task %s: got the loss %s, expected a name that ends with %s; take Task.ofClasses"
              .formatted(label, loss, suffix(number)));
    }
    if (!loss.equals(Loss.BINARY_CROSS_ENTROPY) && (positiveWeight != 1 || negativeRate != 1)) {
      throw new IllegalArgumentException(
          "task %s: got the loss %s with a weight of positive rows or a share of negative rows, expected 1 for both, as they are for cross entropy of labels 0 and 1; give rows weights"
              .formatted(label, loss));
    }
    if (!(positiveWeight > 0 && positiveWeight < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "task %s: got the weight %s of positive rows, expected a number above 0; 1 counts them as others"
              .formatted(label, positiveWeight));
    }
    if (!(negativeRate > 0 && negativeRate <= 1)) {
      throw new IllegalArgumentException(
          "task %s: got %s as the share of negative rows that are kept, expected above 0 to 1; 1 says that all are there"
              .formatted(label, negativeRate));
    }
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

  /**
   * The tasks of a label that is a class of {@code classes}, a whole number from 0: the probability
   * of each. The model has a logit for each, and they sum to 1. They stand side by side among the
   * tasks of a model, and are called {@code label=0}, {@code label=1} and so on.
   */
  public static List<Task> ofClasses(String label, int classes) {
    return IntStream.range(0, classes)
        .mapToObj(k -> of(label + "=" + k).withLoss(new Loss.OfClass(k, classes)))
        .toList();
  }

  /** The column of the label: its name, of a class without the class. */
  public String column() {
    return loss instanceof Loss.OfClass(int number, _)
        ? label.substring(0, label.length() - suffix(number).length())
        : label;
  }

  private static String suffix(int number) {
    return "=" + number;
  }

  /** A task whose label each row has. */
  public Task(
      String label,
      float weight,
      Optional<String> within,
      float positiveWeight,
      float negativeRate,
      Loss loss) {
    this(label, weight, within, positiveWeight, negativeRate, loss, false);
  }

  /** A task whose positive and negative rows count alike. */
  public Task(String label, float weight, Optional<String> within) {
    this(label, weight, within, 1, 1, Loss.BINARY_CROSS_ENTROPY);
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
    return new Task(label, factor, within, positiveWeight, negativeRate, loss, optional);
  }

  /** The same task for rows where {@code other} is 1. */
  public Task within(String other) {
    return new Task(
        label, weight, Optional.of(other), positiveWeight, negativeRate, loss, optional);
  }

  /** The same task with another factor of the losses of positive rows. */
  public Task withPositiveWeight(float factor) {
    return new Task(label, weight, within, factor, negativeRate, loss, optional);
  }

  /** The same task trained on rows with a share of the negative ones. */
  public Task withNegativeRate(float share) {
    return new Task(label, weight, within, positiveWeight, share, loss, optional);
  }

  /** The same task with another loss. */
  public Task withLoss(Loss other) {
    return new Task(label, weight, within, positiveWeight, negativeRate, other, optional);
  }

  /** The same task of a label of another name. */
  public Task withLabel(String name) {
    return new Task(name, weight, within, positiveWeight, negativeRate, loss, optional);
  }

  /** The same task of a label that rows may lack. */
  public Task withOptionalLabel() {
    return new Task(label, weight, within, positiveWeight, negativeRate, loss, true);
  }

  /** Whether it counts all rows and has the cross entropy of labels 0 and 1. */
  boolean isOfAllRowsAndBinary() {
    return within.isEmpty() && loss instanceof Loss.BinaryCrossEntropy;
  }
}
