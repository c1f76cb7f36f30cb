package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The columns that a part of a model reads, such as a tower.
 *
 * @param slots their numbers, ascending
 * @param numbers of dense columns, ascending
 */
record PartColumns(List<Integer> slots, List<Integer> numbers) {
  /**
   * The columns of items.
   *
   * @throws IllegalArgumentException if {@code named} has a name twice, one that rows do not have,
   *     or all columns, or if the first one is no slot
   */
  static PartColumns ofItems(Schema schema, List<String> named) {
    Set<String> distinct = new HashSet<>(named);
    PartColumns columns = of(schema, distinct::contains);
    int all = schema.slotCount() + schema.denseDim();
    int taken = columns.slots().size() + columns.numbers().size();
    Set<String> known = new HashSet<>(schema.slotNames()); // A number may have a slot of its name.
    known.addAll(schema.dense());
    boolean each = distinct.size() == named.size() && known.containsAll(distinct);
    if (named.isEmpty() || !each || taken == all) {
      throw new IllegalArgumentException(
          "model: got %s as the columns of items, expected distinct ones of %s and %s, and others left for users; name the column of the item's id first, as in model.item_columns: [item, category]"
              .formatted(named, schema.slotNames(), schema.dense()));
    }
    return columns;
  }

  /**
   * All columns but those that are named.
   *
   * @param part whose columns are asked for, and {@code other} the one that has those, for messages
   * @throws IllegalArgumentException if rows have none of a name, or no column is left
   */
  static PartColumns without(List<String> named, Schema schema, String part, String other) {
    Set<String> known = new HashSet<>(schema.slotNames());
    known.addAll(schema.dense());
    PartColumns columns = of(schema, name -> !named.contains(name));
    boolean distinct = new HashSet<>(named).size() == named.size();
    if (!known.containsAll(named) || !distinct || columns.isEmpty()) {
      throw new IllegalArgumentException(
          "model: got %s as the columns of the %s part alone, expected distinct ones of %s and %s, and others left for the %s part"
              .formatted(named, other, schema.slotNames(), schema.dense(), part));
    }
    return columns;
  }

  private boolean isEmpty() {
    return slots.isEmpty() && numbers.isEmpty();
  }

  /** All columns but those of {@code items}. */
  static PartColumns ofUsers(Schema schema, PartColumns items) {
    List<Integer> slots = new ArrayList<>(numbers(schema.slotCount()));
    List<Integer> numbers = new ArrayList<>(numbers(schema.denseDim()));
    slots.removeAll(items.slots);
    numbers.removeAll(items.numbers);
    return new PartColumns(slots, numbers);
  }

  private static PartColumns of(Schema schema, Predicate<String> named) {
    return new PartColumns(
        numbers(schema.slotCount()).stream()
            .filter(slot -> named.test(schema.slotNames().get(slot)))
            .toList(),
        numbers(schema.denseDim()).stream()
            .filter(number -> named.test(schema.dense().get(number)))
            .toList());
  }

  private static List<Integer> numbers(int count) {
    return IntStream.range(0, count).boxed().toList();
  }

  /** Numbers of a row in all columns, with embedding vectors of these widths. */
  int count(SlotWidths widths) {
    return widths.sum(slots) + numbers.size();
  }

  /** The columns of rows side by side, {@code [B, count]}. */
  Tensor of(Features x) {
    List<Tensor> parts = new ArrayList<>();
    runs(slots).forEach(run -> parts.add(x.slots(run.from(), run.to())));
    runs(numbers).forEach(run -> parts.add(x.dense().slice(1, run.from(), run.to())));
    return Tensor.concat(1, parts);
  }

  /** The first part of the slots' rows side by side, {@code [B, slots]}; empty without slots. */
  Optional<Tensor> firsts(Features x) {
    Tensor first = x.embedded(0);
    int batch = first.shape().size(0);
    return joined(
        runs(slots).stream()
            .map(run -> run.of(first).reshape(batch, run.to() - run.from()))
            .toList());
  }

  /** The numbers side by side, {@code [B, numbers]}; empty without numbers. */
  Optional<Tensor> dense(Features x) {
    return joined(runs(numbers).stream().map(run -> run.of(x.dense())).toList());
  }

  private static Optional<Tensor> joined(List<Tensor> parts) {
    return switch (parts.size()) {
      case 0 -> Optional.empty();
      case 1 -> Optional.of(parts.getFirst());
      default -> Optional.of(Tensor.concat(1, parts));
    };
  }

  /** Whether these are all columns of {@code schema}. */
  boolean isAllOf(Schema schema) {
    return slots.size() == schema.slotCount() && numbers.size() == schema.denseDim();
  }

  /** Columns that follow each other, from one to before another. */
  private record Run(int from, int to) {
    /** These columns of {@code all}, which has columns on its axis 1. */
    Tensor of(Tensor all) {
      return from == 0 && to == all.shape().size(1) ? all : all.slice(1, from, to);
    }
  }

  private static List<Run> runs(List<Integer> columns) {
    List<Run> runs = new ArrayList<>();
    for (int column : columns) {
      boolean joins = !runs.isEmpty() && runs.getLast().to() == column;
      int from = joins ? runs.removeLast().from() : column;
      runs.add(new Run(from, column + 1));
    }
    return runs;
  }
}
