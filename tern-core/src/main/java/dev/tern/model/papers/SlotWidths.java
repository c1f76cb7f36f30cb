package dev.tern.model.papers;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The widths of the vectors of a schema's slots.
 *
 * @param all of tables without a width of their own
 * @param tables for each table by name the width of its vectors
 * @param slots for each slot the width of its vectors
 */
public record SlotWidths(int all, Map<String, Integer> tables, List<Integer> slots) {
  /**
   * Widths of the slots of {@code schema}.
   *
   * @param all of tables without a width of their own
   * @param own of some slots by name, which hold for their tables
   * @throws IllegalArgumentException if {@code own} names a slot that rows do not have, or two
   *     widths for one table
   */
  public static SlotWidths of(int all, Map<String, Integer> own, Schema schema) {
    Map<String, String> named =
        new LinkedHashMap<>(); // From a table to the slot that says its width.
    own.forEach((name, width) -> {
      int slot = schema.slotNames().indexOf(name);
      if (slot < 0) {
        throw new IllegalArgumentException(
            "model: got embedding %d for the slot %s, expected one of %s"
                .formatted(width, name, schema.slotNames()));
      }
      String table = schema.slots().get(slot).table();
      String other = named.putIfAbsent(table, name);
      if (other != null && !width.equals(own.get(other))) {
        throw new IllegalArgumentException(
            "model: got embedding %d for the slot %s and %d for %s, which share the table %s, expected one width; give it to one of them"
                .formatted(own.get(other), other, width, name, table));
      }
    });
    Map<String, Integer> tables = new LinkedHashMap<>();
    for (String table : schema.tables()) {
      String slot = named.get(table);
      tables.put(table, slot == null ? all : own.getOrDefault(slot, all));
    }
    List<Integer> slots = schema.slots().stream().map(Slot::table).map(tables::get).toList();
    return new SlotWidths(all, tables, slots);
  }

  /** Of the vectors in one table. */
  public int of(String table) {
    return tables.getOrDefault(table, all);
  }

  /** Of the vectors of some slots side by side. */
  public int sum(List<Integer> of) {
    return of.stream().mapToInt(slots::get).sum();
  }

  /** Numbers of a row: the vectors of all its slots and its dense numbers side by side. */
  public int flat(Schema schema) {
    return slots.stream().mapToInt(Integer::intValue).sum() + schema.denseDim();
  }
}
