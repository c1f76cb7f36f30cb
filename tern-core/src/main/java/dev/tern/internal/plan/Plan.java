package dev.tern.internal.plan;

import dev.tern.internal.ir.Origin;
import java.util.List;

/**
 * A program made ready to run: steps in order, and a place for every value. Storages 0 to {@code
 * leaves.length - 1} are the leaves; the others lie in one arena.
 *
 * @param steps what to do, in order
 * @param leaves storage {@code i} is leaf {@code leaves[i]} of the program, counted in the order of
 *     its nodes
 * @param offsets byte offset in the arena of storage {@code leaves.length + i}, or {@link #APART}
 * @param arenaBytes size of the arena
 * @param outputs place of each output, dense
 * @param again by step, whether it computes again what was computed before and then dropped
 * @param allocations the parts of the arena, with the steps during which they are in use
 * @param attributions by step, the lines of source that it comes from; empty unless these are noted
 */
public record Plan(
    List<Step> steps,
    int[] leaves,
    long[] offsets,
    long arenaBytes,
    List<Step.Place> outputs,
    List<Boolean> again,
    List<Allocation> allocations,
    List<List<Attribution>> attributions) {
  /** The offset of an output that lies in memory of its own. */
  public static final long APART = -1;

  /**
   * Ops of a step that come from one place in the source.
   *
   * @param ops their names, in the order of the program
   */
  public record Attribution(List<String> ops, Origin origin) {
    public Attribution {
      ops = List.copyOf(ops);
    }
  }

  /** The number of the first step that writes a leaf; that of steps where none does. */
  public int firstUpdate() {
    int step = 0;
    while (step < steps.size()
        && StepPlaces.writes(steps.get(step)).stream()
            .allMatch(place -> place.storage() >= leaves.length)) {
      step++;
    }
    return step;
  }

  /** What an allocation holds. */
  public enum Content {
    /** A value that stays until its last use. */
    VALUE,
    /** A value that is dropped and computed again later. */
    RECOMPUTED,
    /** Scratch memory of steps. */
    SCRATCH
  }

  /**
   * A range of the arena that a storage has for some steps.
   *
   * @param from the step that first fills it
   * @param to one past the last step that finds it there
   */
  public record Allocation(Content content, long offset, long bytes, int from, int to) {}

  public Plan {
    steps = List.copyOf(steps);
    outputs = List.copyOf(outputs);
    again = List.copyOf(again);
    allocations = List.copyOf(allocations);
    attributions = attributions.stream().map(List::copyOf).toList();
  }
}
