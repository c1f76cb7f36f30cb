package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.Network;
import dev.tern.tensor.PlanSearch;
import java.util.List;
import java.util.Optional;

/**
 * The training step for batches of one size. One at a time holds memory; another size replaces it.
 */
final class TrainSteps implements AutoCloseable {
  /** The least elements that a sequence has room for. */
  private static final int LEAST_ROOM = 16;

  private final Network network;
  private final DenseOptimizer optimizer;
  private final BatchLookup lookup;
  private final TrainOptions options;
  private Optional<TrainStep> current = Optional.empty();

  /** The rooms of the step whose schedule is searched for long. */
  private Optional<List<Integer>> searched = Optional.empty();

  TrainSteps(Network network, DenseOptimizer optimizer, BatchLookup lookup, TrainOptions options) {
    this.network = network;
    this.optimizer = optimizer;
    this.lookup = lookup;
    this.options = options;
  }

  /** The last one; empty before the first and after {@link #close}. */
  Optional<TrainStep> current() {
    return current;
  }

  /**
   * The step for batches of the size of {@code batch}.
   *
   * @param makeRoom frees memory that others can do without, where a model of sequences finds none
   */
  TrainStep of(Batch batch, Runnable makeRoom) {
    int rows = batch.size();
    List<Integer> rooms =
        network.sequences().isEmpty()
            ? List.of()
            : network.elements(batch).stream().map(TrainSteps::room).toList();
    if (current.isPresent() && current.get().isFor(rows, rooms)) {
      return current.get();
    }
    close();
    PlanSearch search = search(rows, rooms);
    try {
      current = Optional.of(step(rows, rooms, search));
    } catch (OutOfBudgetException e) {
      if (rooms.isEmpty()) {
        throw e;
      }
      makeRoom.run();
      current = Optional.of(step(rows, rooms, search));
    }
    return current.get();
  }

  private TrainStep step(int rows, List<Integer> rooms, PlanSearch search) {
    return new TrainStep(network, optimizer, lookup, rows, rooms, search);
  }

  /**
   * A batch of another size comes once an epoch, and sequences have other lengths in each batch: a
   * long search would not pay for these.
   */
  private PlanSearch search(int rows, List<Integer> rooms) {
    if (rows != options.batch()) {
      return PlanSearch.QUICK;
    }
    searched = searched.or(() -> Optional.of(rooms));
    return searched.get().equals(rooms) ? options.planSearch() : PlanSearch.QUICK;
  }

  /**
   * The elements that a sequence of so many has room for: few different numbers, so that a step
   * serves many batches. From 128 elements on it is at most an eighth more. It depends on the batch
   * alone, as the bits of gradients depend on it.
   */
  private static int room(int elements) {
    int unit = Math.max(LEAST_ROOM, Integer.highestOneBit(elements) / 8);
    return Math.max(1, Math.ceilDiv(elements, unit)) * unit;
  }

  /** Frees the memory of the step. */
  @Override
  public void close() {
    current.ifPresent(TrainStep::close);
    current = Optional.empty();
  }
}
