package dev.tern.model.sequences;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.model.papers.SlotWidths;
import dev.tern.nn.Features;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A sequence and what it is compared with. The target of a slot of the sequence is the pooled slot
 * whose table it uses: of {@code item_history} with the table of {@code item} it is {@code item}.
 * Where the owner of the table is no pooled slot, it is the only other one that uses the table.
 *
 * @param name of the sequence
 * @param maxLength most elements of a row
 * @param order the columns of the sequence, those with a target first
 * @param targets for each column with a target, in this order, the number of the target among the
 *     pooled slots
 * @param columnWidths for each column of the sequence the width of its vectors
 */
public record SequenceTarget(
    String name,
    int maxLength,
    List<Integer> order,
    List<Integer> targets,
    List<Integer> columnWidths) {
  /**
   * The sequences of rows of {@code schema}.
   *
   * @param model for messages
   * @throws IllegalArgumentException if there is none, or one has no target
   */
  public static List<SequenceTarget> of(Schema schema, String model, SlotWidths widths) {
    Map<String, List<Integer>> sequences = schema.sequences();
    if (sequences.isEmpty()) {
      throw new IllegalArgumentException(
          "model: got rows without sequences for %s, expected one; say which columns are read as one, as in data.sparse: {columns: [item_history], separator: '|', table: item, sequence: {max_length: 50}}"
              .formatted(model));
    }
    List<Slot> pooled = schema.slots().stream().filter(slot -> slot.sequence().isEmpty()).toList();
    List<SequenceTarget> all = new ArrayList<>();
    sequences.forEach((name, slots) -> all.add(of(schema, name, slots, pooled, widths)));
    return all;
  }

  private static SequenceTarget of(
      Schema schema, String name, List<Integer> slots, List<Slot> pooled, SlotWidths widths) {
    List<Integer> order = new ArrayList<>();
    List<Integer> others = new ArrayList<>();
    List<Integer> targets = new ArrayList<>();
    for (int column = 0; column < slots.size(); column++) {
      int target = target(name, schema.slots().get(slots.get(column)), pooled);
      (target < 0 ? others : order).add(column);
      if (target >= 0) {
        targets.add(target);
      }
    }
    if (targets.isEmpty()) {
      throw new IllegalArgumentException(
          "model: got the sequence %s, whose columns share no table with another column, expected the table of what it is compared with; name it, as in data.sparse: {columns: [item_history], table: item}, or leave sequence out to pool the column"
              .formatted(name));
    }
    order.addAll(others);
    int maxLength = schema.slots().get(slots.getFirst()).sequence().orElseThrow().maxLength();
    List<Integer> columns = slots.stream().map(widths.slots()::get).toList();
    return new SequenceTarget(name, maxLength, List.copyOf(order), List.copyOf(targets), columns);
  }

  /** The number of a slot's target among the pooled slots; -1 where it has none. */
  private static int target(String sequence, Slot slot, List<Slot> pooled) {
    int other = -1;
    for (int p = 0; p < pooled.size(); p++) {
      if (pooled.get(p).name().equals(slot.table())) {
        return p;
      }
      if (pooled.get(p).table().equals(slot.table())) {
        if (other >= 0) {
          throw new IllegalArgumentException(
              "model: got the sequence %s, whose column %s shares a table with %s and %s, expected one of them; let it use the table of the column that it is compared with"
                  .formatted(
                      sequence, slot.name(), pooled.get(other).name(), pooled.get(p).name()));
        }
        other = p;
      }
    }
    return other;
  }

  /** Columns of the sequence. */
  int columns() {
    return order.size();
  }

  /** Numbers of an element. */
  int elementWidth() {
    return columnWidths.stream().mapToInt(Integer::intValue).sum();
  }

  /** Numbers of all targets: of the columns that have one. */
  int targetWidth() {
    return order.stream().limit(targets.size()).mapToInt(columnWidths::get).sum();
  }

  /** The sequence with its columns in order: values {@code [n, elementWidth]}. */
  Ragged elements(Features x) {
    Ragged sequence = x.sequence(name);
    List<Integer> sorted = order.stream().sorted().toList();
    if (order.equals(sorted)) {
      return sequence;
    }
    List<Tensor> moved = new ArrayList<>();
    for (int column : order) {
      int from = columnWidths.subList(0, column).stream().mapToInt(Integer::intValue).sum();
      moved.add(sequence.values().slice(1, from, from + columnWidths.get(column)));
    }
    return sequence.with(Tensor.concat(1, moved));
  }

  /** The vectors of the targets side by side, {@code [B, targetWidth]}. */
  Tensor query(Features x) {
    List<Tensor> vectors = new ArrayList<>();
    for (int target : targets) {
      vectors.add(x.slots(target, target + 1));
    }
    return vectors.size() == 1 ? vectors.getFirst() : Tensor.concat(1, vectors);
  }
}
