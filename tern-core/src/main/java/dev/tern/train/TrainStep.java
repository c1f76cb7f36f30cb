package dev.tern.train;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.Memory;
import dev.tern.model.Loss;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.nn.Model;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.StepTime;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One training step for batches of one size: rows are looked up, the model computes forward and
 * backward, and the optimizers update dense parameters and rows. The loss is the sum of the tasks'
 * losses times their weights. A task's loss is the mean of {@link Task#loss} over the rows of the
 * batch that count for it, by their weights, or 0 where none does; that of a positive row is taken
 * times {@link Task#positiveWeight}. Of tasks that learn pairs it is that of {@link PairShares}.
 */
final class TrainStep implements AutoCloseable {
  private static final int LOSS = 0;
  private static final int LOGITS = 1;

  /** The first of {@link ModelInputs#gradientOutputs}; the others follow. */
  private static final int GRADIENT = 2;

  private final Network network;
  private final List<Integer> rooms;
  private final ModelInputs inputs;
  private final Variable labels;

  /** What each row and task counts in the loss; none where the loss is their mean. */
  private final Optional<Variable> shares;

  /** Of tasks that learn pairs. */
  private final Optional<PairShares> pairs;

  private final List<MemorySegment> gradients;
  private final Variable seed;
  private final Computation computation;
  private final BatchLookup lookup;
  private final int batch;
  private final float[] logits;
  private long runs;
  private long copying;
  private long lookingUp;
  private long updating;

  /**
   * A step for batches of {@code batch} rows.
   *
   * @param rooms elements that each sequence has room for
   */
  TrainStep(
      Network network,
      DenseOptimizer optimizer,
      BatchLookup lookup,
      int batch,
      List<Integer> rooms,
      PlanSearch search) {
    this.network = network;
    this.lookup = lookup;
    this.rooms = rooms;
    Device device = network.device();
    inputs = network.newInputs(batch + network.sampledItems(), rooms);
    List<Runnable> made = new ArrayList<>();
    try {
      seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
      made.add(seed::close);
      Pass pass = Pass.training(seed);
      int tasks = network.tasks().count();
      Shape shape = tasks == 1 ? Shape.of(batch) : Shape.of(batch, tasks);
      labels = Variable.zeros(device, "labels", shape);
      made.add(labels::close);
      shares =
          network.tasks().isPlain() && !network.schema().weighted()
              ? Optional.empty()
              : Optional.of(Variable.zeros(device, "shares", shape));
      shares.ifPresent(each -> made.add(each::close));
      pairs =
          network.tasks().group().isEmpty()
              ? Optional.empty()
              : Optional.of(new PairShares(device, network.tasks(), batch));
      pairs.ifPresent(each -> made.add(each::close));
      Tensor rewards =
          shares.map(each -> labels.tensor().mul(each.tensor())).orElse(labels.tensor());
      Tensor logits = network.logits(inputs.features(pass, rewards));
      Tensor loss = loss(pass, logits);
      List<Tensor> wrt = new ArrayList<>(inputs.lookedUp());
      int vectors = wrt.size();
      optimizer.parameters().forEach(parameter -> wrt.add(parameter.tensor()));
      List<Tensor> all = Tensor.gradients(loss, wrt);
      Map<Variable, Tensor> updates = optimizer.updates(all.subList(vectors, all.size()));
      updates.putAll(optimizer.unfrozen(pass.updates()));
      List<Tensor> outputs = new ArrayList<>(List.of(loss, logits));
      outputs.addAll(inputs.gradientOutputs(all.subList(0, vectors)));
      computation = Computation.of(device, outputs, updates, search);
      gradients = inputs.gradients(computation, GRADIENT);
    } catch (RuntimeException | Error e) {
      made.forEach(Runnable::run);
      inputs.close();
      throw e;
    }
    this.batch = batch;
    this.logits = new float[batch * network.tasks().count()];
  }

  /** The losses of the tasks and the terms that the model has added. */
  private Tensor loss(Pass pass, Tensor logits) {
    List<Tensor> terms = new ArrayList<>(pass.losses().values());
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

  /** Whether it is for batches of these sizes. */
  boolean isFor(int rows, List<Integer> ofSequences) {
    return batch == rows && rooms.equals(ofSequences);
  }

  /**
   * Copies {@code batch} into the step's inputs and looks its rows up. It may be closed after that.
   *
   * @param rows those of {@code batch}, then those of items that were drawn for it
   * @param noise seed of dropout in this step
   * @throws IllegalArgumentException if a label is missing, or its loss does not accept it
   */
  void find(Batch batch, Batch rows, long noise) {
    long start = System.nanoTime();
    copyLabels(batch);
    inputs.copyDense(rows);
    inputs.countItems(rows, batch.size());
    seed.setLong(noise);
    long copied = System.nanoTime();
    inputs.find(lookup, rows, true);
    copying += copied - start;
    lookingUp += System.nanoTime() - copied;
  }

  /** Trains on the batch that was found last; returns its mean loss before the update. */
  float update(long step, float tableRate) {
    computation.run();
    long computed = System.nanoTime();
    lookup.apply(network.device().workers(), gradients, tableRate, step);
    updating += System.nanoTime() - computed;
    runs++;
    return computation.item(LOSS);
  }

  /** The step without looking rows up and updating them. */
  Computation computation() {
    return computation;
  }

  /** Time of each part of the step so far. */
  List<StepTime> times() {
    double bytes = inputs.lookedUpBytes();
    double copied = 2.0 * inputs.dense().memory().byteSize();
    List<StepTime> times = new ArrayList<>();
    times.add(new StepTime("copy of the batch", "", runs, copying, 0, copied));
    times.add(new StepTime("lookup of rows", "", runs, lookingUp, 0, 2 * bytes));
    times.addAll(computation.times());
    times.add(new StepTime("update of rows", "", runs, updating, 0, 3 * bytes));
    return times;
  }

  private void copyLabels(Batch rows) {
    TaskLabels tasks = network.tasks();
    int count = tasks.count();
    long to = labels.memory().address();
    for (int k = 0; k < count; k++) {
      double counted = 0;
      for (int b = 0; b < rows.size(); b++) {
        boolean counts = tasks.counts(rows, b, k);
        counted += counts ? rows.rowWeight(b) : 0;
        Memory.setFloat(to + 4L * (b * count + k), counts ? label(tasks, rows, b, k) : 0);
      }
      if (shares.isPresent() && pairs.isEmpty()) {
        setShares(shares.get(), tasks, rows, k, counted);
      }
    }
    if (pairs.isPresent()) {
      pairs.get().find(rows, shares.orElseThrow());
    }
  }

  private static float label(TaskLabels tasks, Batch rows, int row, int task) {
    float label = tasks.label(rows, row, task);
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
   * the weights of all of them.
   */
  private static void setShares(
      Variable shares, TaskLabels tasks, Batch rows, int task, double counted) {
    int count = tasks.count();
    Task of = tasks.tasks().get(task);
    boolean weighted = rows.schema().weighted();
    float share = (float) (of.weight() / (counted > 0 ? counted : 1));
    float ofPositive = share * of.positiveWeight();
    long to = shares.memory().address();
    for (int b = 0; b < rows.size(); b++) {
      boolean positive = tasks.label(rows, b, task) == 1;
      float own = !tasks.counts(rows, b, task) ? 0 : positive ? ofPositive : share;
      Memory.setFloat(to + 4L * (b * count + task), weighted ? own * rows.rowWeight(b) : own);
    }
  }

  /** The logits of the last run; valid until the next. */
  float[] logits() {
    computation.copyOutput(LOGITS, logits, 0);
    return logits;
  }

  @Override
  public void close() {
    computation.close();
    List.of(labels, seed).forEach(Variable::close);
    shares.ifPresent(Variable::close);
    pairs.ifPresent(PairShares::close);
    inputs.close();
  }
}
