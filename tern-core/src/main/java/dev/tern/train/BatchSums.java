package dev.tern.train;

import dev.tern.base.Shape;
import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.Memory;
import dev.tern.model.Network;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the lanes of a batch come to: the loss, the gradients of dense parameters and the new
 * statistics as sums along a tree, logits and gradients of rows side by side; and the update by
 * them.
 */
final class BatchSums implements AutoCloseable {
  private final Network network;
  private final List<Variable> statistics;

  /** The loss, then a gradient for each parameter of the optimizer. */
  private final List<Variable> sums = new ArrayList<>();

  private final Ranks.Sums ofRanks;
  private final boolean hasRows;
  private final LaneTree tree;
  private final BatchParts rows;

  /** Updates dense parameters; none where all are frozen. */
  private final Optional<Computation> updates;

  private final Workers.Task taking = this::take;
  private int sumTasks;

  /**
   * For batches in {@code lanes}, which are those of this rank.
   *
   * @param lane of any of them
   */
  BatchSums(Network network, DenseOptimizer optimizer, Ranks ranks, Lanes lanes, LaneGraph lane) {
    this.network = network;
    statistics = lane.statistics();
    hasRows = lanes.batch() > 0;
    Device device = network.device();
    List<Runnable> made = new ArrayList<>();
    try {
      List<Variable> parameters = optimizer.parameters();
      add(Variable.zeros(device, "loss of a batch", Shape.SCALAR), made);
      for (Variable parameter : parameters) {
        add(Variable.zeros(device, "gradient of " + parameter.name(), parameter.shape()), made);
      }
      List<Variable> targets = new ArrayList<>(sums);
      targets.addAll(statistics);
      ofRanks = ranks.sums(targets);
      tree = new LaneTree(device, targets, lanes.count());
      made.add(tree::close);
      rows = new BatchParts(network, lanes, lane.step().inputs(), lane.step().rows());
      made.add(rows::close);
      List<Tensor> gradients = sums.subList(1, sums.size()).stream().map(Variable::tensor).toList();
      Map<Variable, Tensor> updated = optimizer.updates(gradients);
      updates =
          updated.isEmpty()
              ? Optional.empty()
              : Optional.of(Computation.of(device, List.of(), updated));
    } catch (RuntimeException | Error e) {
      made.forEach(Runnable::run);
      throw e;
    }
  }

  private void add(Variable sum, List<Runnable> made) {
    sums.add(sum);
    made.add(sum::close);
  }

  /** The statistics that lanes change. */
  List<Variable> statistics() {
    return statistics;
  }

  /** Begins with the first lane of a batch. */
  void begin() {
    tree.begin();
  }

  /** Takes a lane that was computed, which begins with row {@code from}. */
  void take(LaneStep lane, Batch batch, int from) {
    tree.next(lane.summed(), from + lane.rows() == batch.size());
    rows.next(lane, batch, from);
    sumTasks = tree.tasks();
    network.device().workers().run(sumTasks + rows.tasks(), taking);
    tree.end();
  }

  private void take(int task, int worker) {
    if (task < sumTasks) {
      tree.run(task, worker);
    } else {
      rows.run(task - sumTasks);
    }
  }

  /** Begins to add what the lanes of other ranks come to, but for what rows have by themselves. */
  void join() {
    ofRanks.begin(hasRows);
  }

  /** Updates dense parameters, with what came of other ranks. */
  void updateDense() {
    ofRanks.await();
    if (updates.isPresent()) {
      updates.get().run();
    }
  }

  /** Updates rows. */
  void updateRows(BatchLookup lookup, float rate, long step) {
    lookup.applyLanes(network.device().workers(), rows.gradients(), rows.vectors(), rate, step);
  }

  /** Copies the logits of all rows of this rank to {@code target[at ..]}. */
  void copyLogits(float[] target, int at) {
    rows.copyLogits(target, at);
  }

  float loss() {
    return Memory.getFloat(sums.getFirst().memory().address());
  }

  /** What updates dense parameters. */
  Optional<Computation> updates() {
    return updates;
  }

  /** Bytes of what lies side by side. */
  long bytesOfRows() {
    return rows.bytes();
  }

  @Override
  public void close() {
    updates.ifPresent(Computation::close);
    rows.close();
    tree.close();
    sums.forEach(Variable::close);
  }
}
