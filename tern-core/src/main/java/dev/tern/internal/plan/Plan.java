package dev.tern.internal.plan;

import dev.tern.internal.ir.Origin;
import java.util.List;

/**
 * A program made ready: steps in order and one offset per value in one arena. Storages 0 to {@code
 * leaves.length - 1} are the leaves; the rest lie in the arena.
 *
 * @param steps what to do, in order
 * @param leaves storage {@code i} is leaf {@code leaves[i]} of the program, counted in the order of
 *     its nodes
 * @param offsets byte offset in the arena of storage {@code leaves.length + i}, or {@link #APART}
 * @param arenaBytes size of the arena
 * @param outputs place of each output, dense
 * @param again by step, whether it computes what was computed before and dropped
 * @param lives of storages in the arena
 * @param sources by step, where in the source what it computes was written; empty where nobody
 *     asked
 */
public record Plan(
    List<Step> steps,
    int[] leaves,
    long[] offsets,
    long arenaBytes,
    List<Step.Place> outputs,
    List<Boolean> again,
    List<Life> lives,
    List<List<Source>> sources) {
  /** The offset of an output that lies somewhere else, in memory of its own. */
  public static final long APART = -1;

  /**
   * Ops of a step that were written in one place.
   *
   * @param ops their names, in the order of the program
   */
  public record Source(List<String> ops, Origin origin) {
    public Source {
      ops = List.copyOf(ops);
    }
  }

  /**
   * A storage has a place in the arena.
   *
   * @param maker the step that first fills it
   * @param isScratch whether its content matters during steps alone
   * @param from the first step that finds it there
   * @param to one past the last step that does
   * @param isDropped whether what it holds is computed again later
   */
  public record Life(
      int maker, boolean isScratch, long offset, long bytes, int from, int to, boolean isDropped) {}

  public Plan {
    steps = List.copyOf(steps);
    outputs = List.copyOf(outputs);
    again = List.copyOf(again);
    lives = List.copyOf(lives);
    sources = sources.stream().map(List::copyOf).toList();
  }
}
