package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.Memory;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.tensor.Computation;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Computes lanes of one number of rows: loss, logits, gradients and parts of statistics. It changes
 * nothing but its own memory.
 */
final class LaneStep implements AutoCloseable {
  private static final int LOGITS = 0;
  private static final int SUMMED = 1;

  private final LaneGraph graph;
  private final Computation computation;
  private final long[] summed;
  private final MemorySegment logits;
  private final List<MemorySegment> gradients;

  /** Takes {@code graph} over. */
  LaneStep(Network network, LaneGraph graph, PlanSearch search) {
    this.graph = graph;
    List<Tensor> outputs = new ArrayList<>(List.of(graph.step().logits()));
    outputs.addAll(graph.summed());
    outputs.addAll(graph.ofRows());
    try {
      computation = Computation.of(network.device(), outputs, Map.of(), search);
    } catch (RuntimeException | Error e) {
      graph.close();
      throw e;
    }
    logits = computation.output(LOGITS);
    summed = new long[graph.summed().size()];
    for (int i = 0; i < summed.length; i++) {
      summed[i] = Memory.address(computation.output(SUMMED + i), "sum of a lane");
    }
    gradients = inputs().gradients(computation, SUMMED + summed.length);
  }

  int rows() {
    return graph.step().rows();
  }

  ModelInputs inputs() {
    return graph.step().inputs();
  }

  Computation computation() {
    return computation;
  }

  /**
   * Copies dense numbers and labels of the lane that begins with row {@code from}.
   *
   * @param counted of each task the weights of all rows of the batch that count for it
   */
  void copy(Batch batch, int from, double[] counted, long noise) {
    graph.step().copyLabels(batch, from, counted);
    graph.step().setSeed(noise);
    inputs().copyDense(batch, from, from + rows());
  }

  /** Reads the rows of lane {@code lane}, which begins with row {@code from}. */
  void pool(BatchLookup lookup, Batch batch, int lane, int from) {
    inputs().poolLane(lookup, batch, lane, from, rows());
  }

  /** Of each row one a task. */
  MemorySegment logits() {
    return logits;
  }

  /** Addresses of {@link LaneGraph#summed}. */
  long[] summed() {
    return summed;
  }

  /** The gradients of {@link ModelInputs#lookedUp}. */
  List<MemorySegment> gradients() {
    return gradients;
  }

  @Override
  public void close() {
    computation.close();
    graph.close();
  }
}
