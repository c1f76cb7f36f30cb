package dev.tern.model;

import dev.tern.data.Schema;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The columns that a tower reads.
 *
 * @param slots their numbers, ascending
 * @param numbers of dense columns, ascending
 */
record TowerColumns(List<Integer> slots, List<Integer> numbers) {
  /**
   * The columns of items.
   *
   * @throws IllegalArgumentException if {@code named} has a name twice, one that rows do not have,
   *     or all columns, or if the first one is no slot
   */
  static TowerColumns ofItems(Schema schema, List<String> named) {
    Set<String> distinct = new HashSet<>(named);
    TowerColumns columns = of(schema, distinct::contains);
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

  /** All columns but those of {@code items}. */
  static TowerColumns ofUsers(Schema schema, TowerColumns items) {
    List<Integer> slots = new ArrayList<>(numbers(schema.slotCount()));
    List<Integer> numbers = new ArrayList<>(numbers(schema.denseDim()));
    slots.removeAll(items.slots);
    numbers.removeAll(items.numbers);
    return new TowerColumns(slots, numbers);
  }

  private static TowerColumns of(Schema schema, Predicate<String> named) {
    return new TowerColumns(
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

  /** Columns that follow each other, from one to before another. */
  private record Run(int from, int to) {}

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
