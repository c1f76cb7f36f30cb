package dev.tern.train;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.internal.memory.Memory;
import dev.tern.model.Loss;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.nn.Model;
import dev.tern.nn.Pass;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The forward pass of training for rows of one number, as expressions over variables that are
 * filled for each run: inputs, labels, what each row counts in the loss, and the seed of dropout.
 * The loss is the sum of the tasks' losses times their weights. A task's loss is the mean of {@link
 * Task#loss} over the rows that count for it, by their weights, or 0 where none does; that of a
 * positive row is taken times {@link Task#positiveWeight}. Of tasks that learn pairs it is that of
 * {@link PairShares}.
 *
 * <p>The rows are a whole batch, or one lane of it. The loss of a lane is its part of the batch's
 * loss: means are over the rows of the batch, and a term that the model adds counts by the lane's
 * share of the rows.
 */
final class StepGraph implements AutoCloseable {
  private final Network network;
  private final int rows;
  private final ModelInputs inputs;
  private final Variable labels;

  /** What each row and task counts in the loss; none where the loss is their mean. */
  private final Optional<Variable> shares;

  /** Of tasks that learn pairs. */
  private final Optional<PairShares> pairs;

  /** The lane's share of the rows of its batch; none for a whole batch. */
  private final Optional<Variable> part;

  private final Variable seed;
  private final Pass pass;
  private final Tensor logits;
  private final Tensor loss;

  private StepGraph(Network network, int rows, List<Integer> rooms, boolean isLane) {
    this.network = network;
    this.rows = rows;
    Device device = network.device();
    inputs = network.newInputs(rows + network.sampledItems(), rooms);
    List<Runnable> made = new ArrayList<>();
    try {
      seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
      made.add(seed::close);
      pass = Pass.training(seed);
      int tasks = network.tasks().count();
      Shape shape = tasks == 1 ? Shape.of(rows) : Shape.of(rows, tasks);
      labels = Variable.zeros(device, "labels", shape);
      made.add(labels::close);
      shares =
          !isLane && network.tasks().isPlain() && !network.schema().weighted()
              ? Optional.empty()
              : Optional.of(Variable.zeros(device, "shares", shape));
      shares.ifPresent(each -> made.add(each::close));
      part =
          isLane
              ? Optional.of(Variable.zeros(device, "share of the lane", Shape.SCALAR))
              : Optional.empty();
      part.ifPresent(each -> made.add(each::close));
      pairs =
          network.tasks().group().isEmpty()
              ? Optional.empty()
              : Optional.of(new PairShares(device, network.tasks(), rows));
      pairs.ifPresent(each -> made.add(each::close));
      Tensor rewards =
          shares.map(each -> labels.tensor().mul(each.tensor())).orElse(labels.tensor());
      logits = network.logits(inputs.features(pass, rewards));
      loss = lossOf(logits);
    } catch (RuntimeException | Error e) {
      made.forEach(Runnable::run);
      inputs.close();
      throw e;
    }
  }

  /**
   * For whole batches of {@code rows} rows.
   *
   * @param rooms elements that each sequence has room for
   */
  static StepGraph ofBatch(Network network, int rows, List<Integer> rooms) {
    return new StepGraph(network, rows, rooms, false);
  }

  /** The same for lanes of {@code rows} rows. */
  static StepGraph ofLane(Network network, int rows, List<Integer> rooms) {
    return new StepGraph(network, rows, rooms, true);
  }

  /** The losses of the tasks and the terms that the model has added. */
  private Tensor lossOf(Tensor logits) {
    List<Tensor> terms = new ArrayList<>();
    pass.losses().values().forEach(term -> terms.add(ofLane(term)));
    Model model = network.model();
    if (pairs.isPresent() && !model.hasOwnLoss()) {
      Tensor share = shares.orElseThrow().tensor();
      terms.addFirst(pairs.get().loss(logits, labels.tensor(), share));
    } else if (!model.hasOwnLoss()) {
      Tensor losses = network.tasks().losses(logits, labels.tensor());
      terms.addFirst(shares.map(share -> losses.mul(share.tensor()).sum()).orElseGet(losses::mean));
    } else if (network.tasks().tasks().stream()
        .anyMatch(task -> !task.loss().equals(Loss.BINARY_CROSS_ENTROPY))) {
      throw new IllegalArgumentException(
          "%s: got tasks %s for a model with a loss of its own, expected none with another loss; remove that"
              .formatted(model.getClass().getName(), network.tasks().tasks()));
    } else if (terms.isEmpty()) {
      throw new IllegalArgumentException(
          "%s: got no loss of its own, expected one; call addLoss of the features' pass, or let hasOwnLoss be false"
              .formatted(model.getClass().getName()));
    }
    return terms.stream().reduce(Tensor::add).orElseThrow();
  }

  /** The part of the lane in what is a mean over the rows of the batch. */
  Tensor ofLane(Tensor mean) {
    return part.map(share -> mean.mul(share.tensor())).orElse(mean);
  }

  int rows() {
    return rows;
  }

  ModelInputs inputs() {
    return inputs;
  }

  /** The pass, with new values of statistics. */
  Pass pass() {
    return pass;
  }

  /** {@code [B]}, or {@code [B, K]} of {@code K} tasks. */
  Tensor logits() {
    return logits;
  }

  /** A scalar. */
  Tensor loss() {
    return loss;
  }

  /** Sets the seed of dropout. */
  void setSeed(long noise) {
    seed.setLong(noise);
  }

  /**
   * Copies the labels of a whole batch, and sets what each row counts in its loss.
   *
   * @throws IllegalArgumentException if a label is missing, or its loss does not accept it
   */
  void copyLabels(Batch batch) {
    for (int k = 0; k < network.tasks().count(); k++) {
      double counted = copyLabels(batch, 0, k);
      if (shares.isPresent() && pairs.isEmpty()) {
        setShares(batch, 0, k, counted);
      }
    }
    if (pairs.isPresent()) {
      pairs.get().find(batch, shares.orElseThrow());
    }
  }

  /**
   * The same for the lane that begins with row {@code from} of a batch.
   *
   * @param counted of each task the weights of all rows of the batch that count for it
   */
  void copyLabels(Batch batch, int from, double[] counted) {
    for (int k = 0; k < counted.length; k++) {
      copyLabels(batch, from, k);
      setShares(batch, from, k, counted[k]);
    }
    part.orElseThrow().set((float) ((double) rows / batch.size()));
  }

  /** Copies the labels of a task; returns the weights of the rows that count. */
  private double copyLabels(Batch batch, int from, int task) {
    TaskLabels tasks = network.tasks();
    long to = labels.memory().address();
    double counted = 0;
    for (int b = 0; b < rows; b++) {
      boolean counts = tasks.counts(batch, from + b, task);
      counted += counts ? batch.rowWeight(from + b) : 0;
      float label = counts ? label(tasks, batch, from + b, task) : 0;
      Memory.setFloat(to + 4L * (b * tasks.count() + task), label);
    }
    return counted;
  }

  /**
   * The weights of the rows {@code [from, to)} that count for a task.
   *
   * @throws IllegalArgumentException if a label is missing, or its loss does not accept it
   */
  static double counted(TaskLabels tasks, Batch batch, int from, int to, int task) {
    double counted = 0;
    for (int row = from; row < to; row++) {
      if (tasks.counts(batch, row, task)) {
        label(tasks, batch, row, task);
        counted += batch.rowWeight(row);
      }
    }
    return counted;
  }

  private static float label(TaskLabels tasks, Batch batch, int row, int task) {
    float label = tasks.label(batch, row, task);
    Task of = tasks.tasks().get(task);
    if (Float.isNaN(label)) {
      throw new IllegalArgumentException(
          "train: got no label %s in row %s of a batch, expected %s in each; train on rows with labels"
              .formatted(of.column(), row, of.loss().accepted()));
    }
    if (!of.loss().accepts(label)) {
      throw new IllegalArgumentException(
          "train: got the label %s %s in row %s of a batch, expected %s; mend it, or give the task another loss than %s"
              .formatted(of.column(), label, row, of.loss().accepted(), of.loss()));
    }
    return label;
  }

  /**
   * Gives each row that counts for a task its share of the loss: its weight over {@code counted},
   * the weights of all of them in the batch.
   */
  private void setShares(Batch batch, int from, int task, double counted) {
    TaskLabels tasks = network.tasks();
    int count = tasks.count();
    Task of = tasks.tasks().get(task);
    boolean weighted = batch.schema().weighted();
    float share = (float) (of.weight() / (counted > 0 ? counted : 1));
    float ofPositive = share * of.positiveWeight();
    long to = shares.orElseThrow().memory().address();
    for (int b = 0; b < rows; b++) {
      boolean positive = tasks.label(batch, from + b, task) == 1;
      float own = !tasks.counts(batch, from + b, task) ? 0 : positive ? ofPositive : share;
      float counts = weighted ? own * batch.rowWeight(from + b) : own;
      Memory.setFloat(to + 4L * (b * count + task), counts);
    }
  }

  @Override
  public void close() {
    List.of(labels, seed).forEach(Variable::close);
    shares.ifPresent(Variable::close);
    part.ifPresent(Variable::close);
    pairs.ifPresent(PairShares::close);
    inputs.close();
  }
}
