package dev.tern.model;

import java.util.List;

/**
 * The tasks of a model, and what models of several tasks have for each of them.
 *
 * @param tasks what the logits predict; none for all labels of the rows
 * @param hidden widths of the hidden layers of each task's tower, 1 or more each
 * @param experts MMOE: experts that the tasks share, each with hidden layers of its own, 1 or more
 * @param gate MMOE: widths of the hidden layers of each task's gate; none for a linear gate
 */
public record Towers(List<Task> tasks, List<Integer> hidden, int experts, List<Integer> gate) {
  /** No tasks by name, towers without hidden layers, four experts and linear gates. */
  public static final Towers DEFAULT = new Towers(List.of(), List.of(), 4, List.of());

  /** Checks sizes. */
  public Towers {
    tasks = List.copyOf(tasks);
    hidden = List.copyOf(hidden);
    gate = List.copyOf(gate);
    if (experts < 1) {
      throw new IllegalArgumentException(
          "towers: got %d experts, expected 1 or more".formatted(experts));
    }
    requireWidths("hidden layers", hidden);
    requireWidths("gates", gate);
  }

  private static void requireWidths(String what, List<Integer> widths) {
    if (widths.stream().anyMatch(width -> width < 1)) {
      throw new IllegalArgumentException(
          "towers: got %s of the widths %s, expected 1 or more each".formatted(what, widths));
    }
  }
}
