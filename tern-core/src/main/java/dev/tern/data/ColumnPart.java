package dev.tern.data;

import java.util.ArrayList;
import java.util.List;

/**
 * Columns of rows that are left out or exchanged as one: a number, a slot, or all slots of a
 * sequence, which belong together as each row has as many ids in one as in another.
 *
 * <p>For example, the columns {@code age}, {@code city}, and {@code items} and {@code times} of the
 * sequence {@code seen} are three parts: {@code age}, {@code city} and {@code seen}.
 *
 * @param name of the column, or of the sequence
 * @param dense places of its numbers in {@link Schema#dense}
 * @param slots places of its slots in {@link Schema#slots}
 */
public record ColumnPart(String name, List<Integer> dense, List<Integer> slots) {
  /** Keeps copies of the lists. */
  public ColumnPart {
    dense = List.copyOf(dense);
    slots = List.copyOf(slots);
  }

  /** All parts of rows: numbers, then slots that stand alone, then sequences. */
  public static List<ColumnPart> of(Schema schema) {
    List<ColumnPart> parts = new ArrayList<>();
    for (int f = 0; f < schema.denseDim(); f++) {
      parts.add(new ColumnPart(schema.dense().get(f), List.of(f), List.of()));
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      if (schema.slots().get(s).sequence().isEmpty()) {
        parts.add(new ColumnPart(schema.slots().get(s).name(), List.of(), List.of(s)));
      }
    }
    schema.sequences().forEach((name, slots) -> parts.add(new ColumnPart(name, List.of(), slots)));
    return parts;
  }

  /** This part and {@code other} as one, under this name. */
  public ColumnPart with(ColumnPart other) {
    List<Integer> numbers = new ArrayList<>(dense);
    numbers.addAll(other.dense);
    List<Integer> ids = new ArrayList<>(slots);
    ids.addAll(other.slots);
    return new ColumnPart(name, numbers, ids);
  }

  /** The same part under another name. */
  public ColumnPart named(String other) {
    return new ColumnPart(other, dense, slots);
  }
}
