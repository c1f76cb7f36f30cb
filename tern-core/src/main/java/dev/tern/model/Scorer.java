package dev.tern.model;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.Memory;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Computes logits of up to a fixed number of rows at a time, in memory of its own: of each row one
 * for each task, side by side. Ids without a row are never inserted. One thread at a time. Several
 * scorers of one network may work at once if its device has one thread and nobody trains it.
 */
public final class Scorer implements AutoCloseable {
  private final Network network;
  private final int capacity;
  private final Variable dense;
  private final List<Variable> embedded;
  private final long denseAddress;
  private final List<MemorySegment> rows;
  private final Computation computation;
  private final BatchLookup lookup;
  private final float[] logits;

  /** Makes a scorer for {@code capacity} rows at a time, of a network that may be trained. */
  public Scorer(Network network, int capacity) {
    this(network, capacity, List.of());
  }

  /** Makes a scorer of a network whose parameters never change, which is faster. */
  public static Scorer ofConstant(Network network, int capacity) {
    return new Scorer(network, capacity, network.variables());
  }

  private Scorer(Network network, int capacity, List<Variable> constants) {
    this.network = network;
    this.capacity = capacity;
    Shape denseShape = Shape.of(capacity, network.schema().denseDim());
    dense = Variable.zeros(network.device(), "dense", denseShape);
    embedded = network.newEmbedded(capacity);
    denseAddress = dense.memory().address();
    rows = embedded.stream().map(Variable::memory).toList();
    Tensor scores = network.logits(network.features(dense, embedded, Pass.scoring()));
    computation = Computation.withConstants(network.device(), List.of(scores), constants);
    lookup = network.newLookup();
    logits = new float[capacity * network.tasks().count()];
  }

  /** Rows at a time. */
  public int capacity() {
    return capacity;
  }

  /**
   * Writes the logits of each row of {@code batch} (encoded, at most {@link #capacity} rows) to
   * {@code target}, as if row {@code at} of it were the first of {@code batch}.
   */
  public void logits(Batch batch, float[] target, int at) {
    int count = batch.size();
    if (count > capacity) {
      throw new IllegalArgumentException(
          "score: got %s rows, expected at most %s; score in pieces".formatted(count, capacity));
    }
    Memory.copyIn(batch.dense(), 0, denseAddress, count * network.schema().denseDim());
    lookup.find(network.device().workers(), batch, false, rows);
    computation.run();
    computation.copyOutput(0, logits, 0);
    int tasks = network.tasks().count();
    System.arraycopy(logits, 0, target, at * tasks, count * tasks);
  }

  /** {@link Computation#isReady}. */
  public boolean isReady() {
    return computation.isReady();
  }

  /** Gives each id of the batch scored last that has no row, as often as it stands there. */
  public void forEachUnknown(BatchLookup.IdSink sink) {
    lookup.forEachUnknown(sink);
  }

  @Override
  public void close() {
    computation.close();
    dense.close();
    embedded.forEach(Variable::close);
  }
}
