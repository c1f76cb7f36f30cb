package dev.tern.model;

import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.nn.Features;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Computes logits of up to a fixed number of rows at a time, in memory of its own: of each row one
 * for each task, side by side. Ids without a row are never inserted. One thread at a time. Several
 * scorers of one network may work at once if its device has one thread and nobody trains it.
 *
 * <p>A model that reads sequences is planned for some lengths of all sequences together, each about
 * twice the one before, when such a batch comes first. Scores do not depend on these lengths.
 */
public final class Scorer implements AutoCloseable {
  /** The least elements that a sequence has room for. */
  private static final int LEAST_ROOM = 16;

  /** Plans that are kept; of more, the one used longest ago goes. Of few rows they are small. */
  private static final int MOST_PLANS = 4;

  private static final int MOST_SMALL_PLANS = 16;
  private static final int FEW_ROWS = 32;

  private final Network network;
  private final int capacity;
  private final List<Variable> constants;
  private final BatchLookup lookup;
  private final Output output;
  private final float[] results;

  /** The plans, the one used last at the end. */
  private final List<Planned> plans = new ArrayList<>();

  /** What is computed of rows: {@code width} numbers of each. */
  private record Output(Function<Features, Tensor> values, int width) {
    static Output logits(Network network) {
      return new Output(network::logits, network.tasks().count());
    }
  }

  /** The output for rows whose sequences have some room. */
  private record Planned(List<Integer> rooms, ModelInputs inputs, Computation computation) {
    /** Whether the elements fit, and not much room is left over. */
    boolean suits(List<Integer> elements) {
      boolean suits = true;
      for (int q = 0; q < elements.size() && suits; q++) {
        int room = rooms.get(q);
        suits = elements.get(q) <= room && room <= Math.max(LEAST_ROOM, 2 * elements.get(q));
      }
      return suits;
    }

    void close() {
      computation.close();
      inputs.close();
    }
  }

  /** Makes a scorer for {@code capacity} rows at a time, of a network that may be trained. */
  public Scorer(Network network, int capacity) {
    this(network, capacity, List.of(), Output.logits(network));
  }

  /** Makes a scorer of a network whose parameters never change, which is faster. */
  public static Scorer ofConstant(Network network, int capacity) {
    return new Scorer(network, capacity, network.variables(), Output.logits(network));
  }

  /**
   * Makes a scorer of something else that a model computes of rows, whose parameters never change.
   *
   * @param values from rows to {@code [capacity, width]}
   */
  public static Scorer ofConstant(
      Network network, int capacity, Function<Features, Tensor> values, int width) {
    return new Scorer(network, capacity, network.variables(), new Output(values, width));
  }

  /** The same of a network that may be trained. */
  public static Scorer of(
      Network network, int capacity, Function<Features, Tensor> values, int width) {
    return new Scorer(network, capacity, List.of(), new Output(values, width));
  }

  private Scorer(Network network, int capacity, List<Variable> constants, Output output) {
    this.network = network;
    this.capacity = capacity;
    this.constants = constants;
    this.output = output;
    lookup = network.newLookup();
    results = new float[capacity * output.width()];
    plans.add(plan(network.sequences().keySet().stream().map(_ -> LEAST_ROOM).toList()));
  }

  private Planned plan(List<Integer> rooms) {
    ModelInputs inputs = network.newInputs(capacity, rooms);
    try {
      Tensor scores = output.values.apply(inputs.features(Pass.scoring()));
      return new Planned(
          rooms, inputs, Computation.withConstants(network.device(), List.of(scores), constants));
    } catch (RuntimeException | Error e) {
      inputs.close();
      throw e;
    }
  }

  /** Rows at a time. */
  public int capacity() {
    return capacity;
  }

  /**
   * Writes the logits of each row of {@code batch} (encoded, at most {@link #capacity} rows) to
   * {@code target}, as if row {@code at} of it were the first of {@code batch}. Of a scorer of
   * something else it writes that.
   */
  public void logits(Batch batch, float[] target, int at) {
    int count = batch.size();
    if (count > capacity) {
      throw new IllegalArgumentException(
          "score: got %s rows, expected at most %s; score in pieces".formatted(count, capacity));
    }
    Planned plan = planFor(network.elements(batch));
    plan.inputs.copyDense(batch);
    plan.inputs.find(lookup, batch, false);
    plan.computation.run();
    plan.computation.copyOutput(0, results, 0);
    int width = output.width();
    System.arraycopy(results, 0, target, at * width, count * width);
  }

  private Planned planFor(List<Integer> elements) {
    int last = plans.size() - 1;
    for (int i = last; i >= 0; i--) {
      if (plans.get(i).suits(elements)) {
        if (i < last) {
          plans.add(plans.remove(i));
        }
        return plans.getLast();
      }
    }
    if (plans.size() == (capacity <= FEW_ROWS ? MOST_SMALL_PLANS : MOST_PLANS)) {
      plans.removeFirst().close();
    }
    List<Integer> rooms = elements.stream().map(Scorer::room).toList();
    try {
      plans.add(plan(rooms));
    } catch (OutOfBudgetException e) {
      // The plans of other lengths make room, as any of them can be made again.
      plans.forEach(Planned::close);
      plans.clear();
      plans.add(plan(rooms));
    }
    return plans.getLast();
  }

  /** A power of two. */
  private static int room(int elements) {
    return Math.max(LEAST_ROOM, 1 << (32 - Integer.numberOfLeadingZeros(elements - 1)));
  }

  /** Whether all plans so far are {@link Computation#isReady}. */
  public boolean isReady() {
    return plans.stream().allMatch(plan -> plan.computation.isReady());
  }

  /** Gives each id of the batch scored last that has no row, as often as it stands there. */
  public void forEachUnknown(BatchLookup.IdSink sink) {
    lookup.forEachUnknown(sink);
  }

  @Override
  public void close() {
    plans.forEach(Planned::close);
  }
}
