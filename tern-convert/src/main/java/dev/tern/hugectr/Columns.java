package dev.tern.hugectr;

import java.util.List;

/**
 * Names of the columns of data, which HugeCTR's graphs do not name, in the order of the data.
 *
 * @param labels of labels; empty for those of Norm files, the word label with a number
 * @param numbers of dense numbers; empty likewise, dense with a number
 * @param slots of slots; empty likewise, slot with a number
 */
public record Columns(List<String> labels, List<String> numbers, List<String> slots) {
  /** The names that Norm files give their columns. */
  public static final Columns NUMBERED = new Columns(List.of(), List.of(), List.of());

  /** Copies the lists. */
  public Columns {
    labels = List.copyOf(labels);
    numbers = List.copyOf(numbers);
    slots = List.copyOf(slots);
  }
}
