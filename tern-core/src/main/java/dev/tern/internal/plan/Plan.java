package dev.tern.internal.plan;

import java.util.List;

/**
 * A program made ready: steps in order and one offset per value in one arena. Storages 0 to {@code
 * leaves.length - 1} are the leaves; the rest lie in the arena.
 *
 * @param steps what to do, in order
 * @param leaves storage {@code i} is leaf {@code leaves[i]} of the program, counted in the order of
 *     its nodes
 * @param offsets byte offset in the arena of storage {@code leaves.length + i}
 * @param arenaBytes size of the arena
 * @param outputs place of each output, dense
 */
public record Plan(
    List<Step> steps, int[] leaves, long[] offsets, long arenaBytes, List<Step.Place> outputs) {
  public Plan {
    steps = List.copyOf(steps);
    outputs = List.copyOf(outputs);
  }
}
