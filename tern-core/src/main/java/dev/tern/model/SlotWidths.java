package dev.tern.model;

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
record SlotWidths(int all, Map<String, Integer> tables, List<Integer> slots) {
  /**
   * Widths of the slots of {@code schema}.
   *
   * @throws IllegalArgumentException if {@code widths} name a slot that rows do not have, or two
   *     widths for one table
   */
  static SlotWidths of(Widths widths, Schema schema) {
    Map<String, String> named =
        new LinkedHashMap<>(); // From a table to the slot that says its width.
    widths
        .own()
        .forEach((name, width) -> {
          int slot = schema.slotNames().indexOf(name);
          if (slot < 0) {
            throw new IllegalArgumentException(
                "model: got embedding %d for the slot %s, expected one of %s"
                    .formatted(width, name, schema.slotNames()));
          }
          String table = schema.slots().get(slot).table();
          String other = named.putIfAbsent(table, name);
          if (other != null && !width.equals(widths.own().get(other))) {
            throw new IllegalArgumentException(
                "model: got embedding %d for the slot %s and %d for %s, which share the table %s, expected one width; give it to one of them"
                    .formatted(widths.own().get(other), other, width, name, table));
          }
        });
    Map<String, Integer> tables = new LinkedHashMap<>();
    for (String table : schema.tables()) {
      String slot = named.get(table);
      tables.put(
          table, slot == null ? widths.all() : widths.own().getOrDefault(slot, widths.all()));
    }
    List<Integer> slots = schema.slots().stream().map(Slot::table).map(tables::get).toList();
    return new SlotWidths(widths.all(), tables, slots);
  }

  /** Of the vectors in one table. */
  int of(String table) {
    return tables.getOrDefault(table, all);
  }

  /** Of the vectors of some slots side by side. */
  int sum(List<Integer> of) {
    return of.stream().mapToInt(slots::get).sum();
  }

  /** Numbers of a row: the vectors of all its slots and its dense numbers side by side. */
  int flat(Schema schema) {
    return slots.stream().mapToInt(Integer::intValue).sum() + schema.denseDim();
  }
}
