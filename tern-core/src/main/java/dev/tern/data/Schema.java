package dev.tern.data;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The columns of a data set: {@code L} labels, {@code F} dense numbers and {@code S} slots of
 * 64-bit ids. Every 64-bit id is legal.
 *
 * @param labels names of the label columns, in order
 * @param dense names of the dense columns, in order
 * @param slots the sparse features, in order
 */
public record Schema(List<String> labels, List<String> dense, List<Slot> slots) {
  public Schema {
    labels = List.copyOf(labels);
    dense = List.copyOf(dense);
    slots = List.copyOf(slots);
    requireDistinct("label", labels);
    requireDistinct("dense", dense);
    requireDistinct("slot", names(slots));
    requireTables(slots);
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

  /** Sparse features, {@code S}. */
  public int slotCount() {
    return slots.size();
  }
}
