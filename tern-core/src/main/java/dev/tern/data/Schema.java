package dev.tern.data;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The columns of a data set: {@code L} labels, {@code F} dense numbers and {@code S} slots of
 * 64-bit ids. Every 64-bit id is legal. Rows may have a weight, which is no feature: how often they
 * count in the loss of training and in metrics.
 *
 * @param labels names of the label columns, in order
 * @param dense names of the dense columns, in order
 * @param slots the sparse features, in order
 * @param weight name of the column of the rows' weights; empty for rows that all count alike
 */
public record Schema(
    List<String> labels, List<String> dense, List<Slot> slots, Optional<String> weight) {
  public Schema {
    Objects.requireNonNull(weight, "weight");
    labels = List.copyOf(labels);
    dense = List.copyOf(dense);
    slots = List.copyOf(slots);
    requireDistinct("label", labels);
    requireDistinct("dense", dense);
    requireDistinct("slot", names(slots));
    requireTables(slots);
    requireSequences(slots);
  }

  /** The columns of rows that all count alike. */
  public Schema(List<String> labels, List<String> dense, List<Slot> slots) {
    this(labels, dense, slots, Optional.empty());
  }

  private static void requireSequences(List<Slot> slots) {
    Map<String, Slot> firsts = new LinkedHashMap<>();
    for (Slot slot : slots) {
      Optional<Sequence> own = slot.sequence();
      if (own.isPresent()) {
        Slot first = firsts.computeIfAbsent(own.get().name(), _ -> slot);
        if (!own.equals(first.sequence())) {
          throw new IllegalArgumentException(
              "slot %s: got %s, expected %s as slot %s has it; slots of one sequence are cut alike"
                  .formatted(slot.name(), own.get(), first.sequence().orElseThrow(), first.name()));
        }
      }
    }
  }

  private static void requireTables(List<Slot> slots) {
    Set<String> tables = new HashSet<>(tables(slots));
    for (Slot slot : slots) {
      if (!tables.contains(slot.table())) {
        throw new IllegalArgumentException(
            "slot %s: got the table of %s, expected the table of a slot that has one of its own: %s"
                .formatted(slot.name(), slot.table(), tables(slots)));
      }
    }
  }

  private static List<String> tables(List<Slot> slots) {
    return names(slots.stream().filter(slot -> !slot.shares()).toList());
  }

  private static List<String> names(List<Slot> slots) {
    return slots.stream().map(Slot::name).toList();
  }

  private static void requireDistinct(String kind, List<String> names) {
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!seen.add(name)) {
        throw new IllegalArgumentException(
            "schema: got the " + kind + " name " + name + " twice, expected distinct names");
      }
    }
  }

  /** Whether rows have weights. */
  public boolean weighted() {
    return weight.isPresent();
  }

  /** The same columns with another column of weights, or none. */
  public Schema withWeight(Optional<String> column) {
    return new Schema(labels, dense, slots, column);
  }

  /** The same columns with other labels. */
  public Schema withLabels(List<String> names) {
    return new Schema(names, dense, slots, weight);
  }

  /** Labels per row, {@code L}. */
  public int labelDim() {
    return labels.size();
  }

  /** Dense numbers per row, {@code F}. */
  public int denseDim() {
    return dense.size();
  }

  /** The names of the embedding tables, in order: one for each slot that has its own. */
  public List<String> tables() {
    return tables(slots);
  }

  /** The names of the slots, in order. */
  public List<String> slotNames() {
    return names(slots);
  }

  /**
   * The same columns, where slots use the tables of others.
   *
   * @param tables for a slot by name the slot whose table it uses; others keep theirs
   * @throws IllegalArgumentException if a name is no slot's
   */
  public Schema withTables(Map<String, String> tables) {
    requireSlots("table", tables.keySet());
    return withSlots(slot -> slot.withTable(tables.getOrDefault(slot.name(), slot.table())));
  }

  /**
   * The same columns with other sequences.
   *
   * @param of the sequence of each slot that is part of one, by the slot's name
   * @throws IllegalArgumentException if a name is no slot's
   */
  public Schema withSequences(Map<String, Sequence> of) {
    requireSlots("sequence", of.keySet());
    return withSlots(slot -> slot.withSequence(Optional.ofNullable(of.get(slot.name()))));
  }

  private Schema withSlots(UnaryOperator<Slot> change) {
    return new Schema(labels, dense, slots.stream().map(change).toList(), weight);
  }

  private void requireSlots(String what, Set<String> named) {
    for (String slot : named) {
      if (!slotNames().contains(slot)) {
        throw new IllegalArgumentException(
            "encoder: got a %s for slot %s, expected one of %s".formatted(what, slot, slotNames()));
      }
    }
  }

  /** For each sequence by name the slots that form it, by their numbers; in order. */
  public Map<String, List<Integer>> sequences() {
    Map<String, List<Integer>> members = new LinkedHashMap<>();
    for (int s = 0; s < slots.size(); s++) {
      Optional<Sequence> sequence = slots.get(s).sequence();
      if (sequence.isPresent()) {
        members.computeIfAbsent(sequence.get().name(), _ -> new ArrayList<>()).add(s);
      }
    }
    return members;
  }

  /** Sparse features, {@code S}. */
  public int slotCount() {
    return slots.size();
  }
}
