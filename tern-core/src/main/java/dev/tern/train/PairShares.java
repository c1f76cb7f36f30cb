package dev.tern.train;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextHash;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.IdNumbers;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.nn.PairwiseLoss;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The loss of tasks that learn pairs of rows, {@link dev.tern.model.Loss.Pairwise}: the groups of a
 * batch's rows, and what each row counts. A task's loss is the mean over all its pairs, each as
 * often as the product of the weights of its rows, or 0 where there is none.
 */
final class PairShares implements AutoCloseable {
  private final TaskLabels tasks;

  /** {@code [B]}: the number of each row's group. */
  private final Variable groups;

  private final int batch;
  private final IdNumbers numbers = new IdNumbers();

  /** Of each group the weights of its rows labelled 1, and of those labelled 0. */
  private final double[] positive;

  private final double[] negative;

  PairShares(Device device, TaskLabels tasks, int batch) {
    this.tasks = tasks;
    this.batch = batch;
    groups = Variable.zeros(device, "groups", Shape.of(batch));
    positive = new double[batch];
    negative = new double[batch];
  }

  /**
   * The sum of the tasks' losses.
   *
   * @param logits {@code [B]}, or {@code [B, K]}; as {@code labels} and {@code shares}
   */
  Tensor loss(Tensor logits, Tensor labels, Tensor shares) {
    int count = tasks.count();
    List<Tensor> losses = new ArrayList<>();
    for (int k = 0; k < count; k++) {
      losses.add(
          PairwiseLoss.loss(
              column(logits, k), column(labels, k), groups.tensor(), column(shares, k)));
    }
    return losses.stream().reduce(Tensor::add).orElseThrow();
  }

  private Tensor column(Tensor all, int task) {
    return tasks.count() == 1 ? all : all.slice(1, task, task + 1).reshape(batch);
  }

  /**
   * Finds the groups of rows, and writes to {@code shares} what each one counts for each task.
   *
   * @throws IllegalArgumentException if it is not known which rows belong together
   */
  void find(Batch rows, Variable shares) {
    if (!rows.isGrouped()) {
      throw new IllegalArgumentException(
          "train: got a batch without groups for the loss %s, expected the group of each row; take batches from trainer.batches(reader), or call setGroups"
              .formatted(tasks.tasks().getFirst().loss()));
    }
    numbers.clear();
    long to = groups.memory().address();
    for (int row = 0; row < rows.size(); row++) {
      Memory.setFloat(to + 4L * row, numbers.of(rows.group(row)));
    }
    for (int k = 0; k < tasks.count(); k++) {
      find(rows, k, shares);
    }
  }

  private void find(Batch rows, int task, Variable shares) {
    Arrays.fill(positive, 0);
    Arrays.fill(negative, 0);
    double most = 0;
    for (int row = 0; row < rows.size(); row++) {
      most = Math.max(most, weight(rows, row, task));
    }
    double unit = most > 0 ? most : 1;
    for (int row = 0; row < rows.size(); row++) {
      double[] of = tasks.label(rows, row, task) == 1 ? positive : negative;
      of[number(row)] += weight(rows, row, task) / unit;
    }
    double pairs = 0;
    for (int group = 0; group < numbers.size(); group++) {
      pairs += positive[group] * negative[group];
    }
    Task of = tasks.tasks().get(task);
    double share = PairwiseLoss.share(pairs, of.weight());
    long to = shares.memory().address();
    for (int row = 0; row < rows.size(); row++) {
      double own = share * (weight(rows, row, task) / unit);
      Memory.setFloat(to + 4L * (row * tasks.count() + task), (float) own);
    }
  }

  private int number(int row) {
    return (int) Memory.getFloat(groups.memory().address() + 4L * row);
  }

  /** How often a row counts in pairs: not at all where it is in no group. */
  private double weight(Batch rows, int row, int task) {
    return rows.group(row) != TextHash.EMPTY && tasks.counts(rows, row, task)
        ? rows.rowWeight(row)
        : 0;
  }

  @Override
  public void close() {
    groups.close();
  }
}
