package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.Network;
import dev.tern.tensor.PlanSearch;
import java.util.ArrayList;
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
  private final Ranks ranks;
  private Optional<BatchStep> current = Optional.empty();

  /** The rooms of the step whose schedule is searched for long. */
  private Optional<List<Integer>> searched = Optional.empty();

  TrainSteps(
      Network network,
      DenseOptimizer optimizer,
      BatchLookup lookup,
      TrainOptions options,
      Ranks ranks) {
    this.network = network;
    this.optimizer = optimizer;
    this.lookup = lookup;
    this.options = options;
    this.ranks = ranks;
  }

  /** The last one; empty before the first and after {@link #close}. */
  Optional<BatchStep> current() {
    return current;
  }

  /**
   * The step for batches of the size of {@code batch}.
   *
   * @param makeRoom frees memory that others can do without, where a model of sequences finds none
   */
  BatchStep of(Batch batch, Runnable makeRoom) {
    int rows = batch.size();
    List<Integer> rooms = network.sequences().isEmpty() ? List.of() : rooms(batch);
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

  private BatchStep step(int rows, List<Integer> rooms, PlanSearch search) {
    return options.lanes() == 1
        ? new TrainStep(network, optimizer, lookup, rows, rooms, search)
        : new LanedStep(
            network,
            optimizer,
            lookup,
            new Lanes(rows, options.rowsOfLane(), rooms),
            ranks,
            search);
  }

  /** The room of each sequence of a batch; in lanes one room serves all of them. */
  private List<Integer> rooms(Batch batch) {
    if (options.lanes() == 1) {
      return network.elements(batch).stream().map(TrainSteps::room).toList();
    }
    Lanes lanes = new Lanes(batch.size(), options.rowsOfLane(), List.of());
    List<Integer> rooms = new ArrayList<>();
    for (int lane = 0; lane < lanes.count(); lane++) {
      int from = lanes.first(lane);
      List<Integer> ofLane = network.elements(batch, from, from + lanes.rows(lane));
      for (int q = 0; q < ofLane.size(); q++) {
        int room = room(ofLane.get(q));
        if (lane == 0) {
          rooms.add(room);
        } else {
          rooms.set(q, Math.max(rooms.get(q), room));
        }
      }
    }
    return rooms;
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
    current.ifPresent(BatchStep::close);
    current = Optional.empty();
  }
}
