package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A fixed way to run a recorded step within a budget: which ops run, some of them again, and where
 * each storage lies.
 *
 * @param runs in their order
 * @param placements of storages, in the order in which they begin
 * @param reservedBytes how far the storages reach from offset 0: at most the budget
 */
public record Schedule(List<Run> runs, List<Placement> placements, long reservedBytes) {
  /**
   * An op runs.
   *
   * @param op its number in the step
   * @param isAgain whether it ran before
   * @param offsets of the storages that it reads and writes, by their numbers
   */
  public record Run(int op, boolean isAgain, Map<Integer, Long> offsets) {}

  /**
   * A storage has a place.
   *
   * @param storage its number in the step
   * @param from the first run that finds it there
   * @param to one past the last run that reads or writes it there
   */
  public record Placement(int storage, long offset, long bytes, int from, int to) {}

  public Schedule {
    runs = List.copyOf(runs);
    placements = List.copyOf(placements);
  }

  /**
   * Records what a residency does that follows a guide.
   *
   * @throws NoRoomException when an op and what must stay do not fit into the guide's budget
   */
  public static Schedule of(Trace trace, Guide guide) {
    Recorder recorder = new Recorder(guide, trace.recipes().storages());
    trace.replay(recorder.residency, recorder.recipes);
    return recorder.schedule();
  }

  /** Writes down what a residency does. */
  private static final class Recorder implements Residency.Executor, StorageListener {
    private static final long NOWHERE = -1;

    final Recipes recipes = new Recipes();
    final Residency residency;
    private final BlockArena arena;
    private final List<Run> runs = new ArrayList<>();
    private final List<Placement> placements = new ArrayList<>();

    /** Storages whose memory results of the op that runs next take. */
    private final Set<Integer> leaving = new HashSet<>();

    private final long[] offset;
    private final int[] placementOf;

    Recorder(Guide guide, int storages) {
      offset = new long[storages];
      placementOf = new int[storages];
      arena = new BlockArena(guide.budget());
      StorageMemory memory = new StorageMemory.Placed(arena, guide.foresight());
      residency = new Residency(recipes, memory, guide, this, this);
      Arrays.fill(offset, NOWHERE);
    }

    @Override
    public void settled(int storage, long bytes) {
      settledAt(storage, bytes == 0 ? 0 : arena.offset(residency.handle(storage)), bytes);
    }

    private void settledAt(int storage, long at, long bytes) {
      offset[storage] = at;
      placementOf[storage] = placements.size();
      placements.add(new Placement(storage, at, bytes, runs.size(), runs.size() + 1));
    }

    @Override
    public void vacated(int storage) {
      offset[storage] = NOWHERE;
    }

    @Override
    public void replaced(int storage, int by, long bytes) {
      long at = offset[storage];
      endAt(storage, runs.size());
      settledAt(by, at, bytes);
      leaving.add(storage);
    }

    @Override
    public void run(int op, boolean again) {
      Map<Integer, Long> offsets = new HashMap<>();
      for (int input : recipes.inputs(op)) {
        note(input, offsets);
      }
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        note(value, offsets);
      }
      runs.add(new Run(op, again, Map.copyOf(offsets)));
      leaving.forEach(storage -> offset[storage] = NOWHERE);
      leaving.clear();
    }

    private void note(int value, Map<Integer, Long> offsets) {
      int storage = recipes.storage(value);
      if (offset[storage] == NOWHERE) {
        throw new AssertionError("residency: op " + recipes.maker(value) + " runs without memory");
      }
      offsets.put(storage, offset[storage]);
      if (!leaving.contains(storage)) {
        endAt(storage, runs.size() + 1);
      }
    }

    private void endAt(int storage, int to) {
      Placement old = placements.get(placementOf[storage]);
      placements.set(
          placementOf[storage], new Placement(storage, old.offset, old.bytes, old.from, to));
    }

    Schedule schedule() {
      return new Schedule(runs, placements, arena.reservedBytes().peak());
    }
  }
}
