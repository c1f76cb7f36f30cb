package dev.tern.hugectr;

import java.util.List;

/**
 * Names of the columns of data, which HugeCTR's graphs do not name, in the order of the data.
 *
 * @param labels of labels; empty for {@code label0} and so on
 * @param numbers of dense numbers; empty for {@code dense0} and so on
 * @param slots of slots; empty for {@code slot0} and so on
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
