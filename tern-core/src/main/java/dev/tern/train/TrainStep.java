package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.tensor.Computation;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.StepTime;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One training step for batches of one size: rows are looked up, the model computes forward and
 * backward, and the optimizers update dense parameters and rows. {@link StepGraph} says what the
 * loss is.
 */
final class TrainStep implements BatchStep {
  private static final int LOSS = 0;
  private static final int LOGITS = 1;

  /** The first of {@link ModelInputs#gradientOutputs}; the others follow. */
  private static final int GRADIENT = 2;

  private final Network network;
  private final List<Integer> rooms;
  private final StepGraph graph;
  private final ModelInputs inputs;
  private final List<MemorySegment> gradients;
  private final Computation computation;
  private final BatchLookup lookup;
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
    graph = StepGraph.ofBatch(network, batch, rooms);
    inputs = graph.inputs();
    try {
      List<Tensor> wrt = new ArrayList<>(inputs.lookedUp());
      int vectors = wrt.size();
      optimizer.parameters().forEach(parameter -> wrt.add(parameter.tensor()));
      List<Tensor> all = Tensor.gradients(graph.loss(), wrt);
      Map<Variable, Tensor> updates = optimizer.updates(all.subList(vectors, all.size()));
      updates.putAll(optimizer.unfrozen(graph.pass().updates()));
      List<Tensor> outputs = new ArrayList<>(List.of(graph.loss(), graph.logits()));
      outputs.addAll(inputs.gradientOutputs(all.subList(0, vectors)));
      computation = Computation.of(network.device(), outputs, updates, search);
      gradients = inputs.gradients(computation, GRADIENT);
    } catch (RuntimeException | Error e) {
      graph.close();
      throw e;
    }
    this.logits = new float[batch * network.tasks().count()];
  }

  @Override
  public boolean isFor(int rows, List<Integer> ofSequences) {
    return graph.rows() == rows && rooms.equals(ofSequences);
  }

  @Override
  public void find(Batch batch, Batch rows, long noise) {
    long start = System.nanoTime();
    graph.copyLabels(batch);
    inputs.copyDense(rows);
    inputs.countItems(rows, batch.size());
    graph.setSeed(noise);
    long copied = System.nanoTime();
    inputs.find(lookup, rows, true);
    copying += copied - start;
    lookingUp += System.nanoTime() - copied;
  }

  @Override
  public float update(long step, float tableRate) {
    computation.run();
    long computed = System.nanoTime();
    lookup.apply(network.device().workers(), gradients, tableRate, step);
    updating += System.nanoTime() - computed;
    runs++;
    return computation.item(LOSS);
  }

  @Override
  public Computation computation() {
    return computation;
  }

  @Override
  public List<StepTime> times() {
    double bytes = inputs.lookedUpBytes();
    double copied = 2.0 * inputs.dense().memory().byteSize();
    List<StepTime> times = new ArrayList<>();
    times.add(new StepTime("copy of the batch", "", runs, copying, 0, copied));
    times.add(new StepTime("lookup of rows", "", runs, lookingUp, 0, 2 * bytes));
    times.addAll(computation.times());
    times.add(new StepTime("update of rows", "", runs, updating, 0, 3 * bytes));
    return times;
  }

  @Override
  public float[] logits() {
    computation.copyOutput(LOGITS, logits, 0);
    return logits;
  }

  @Override
  public void close() {
    computation.close();
    graph.close();
  }
}
