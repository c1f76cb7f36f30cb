package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.List;
import java.util.Optional;

/**
 * Takes the columns of one model out of rows that have more, as where several models score the same
 * rows. Not thread-safe.
 */
public final class ColumnPick {
  private final Optional<AllColumns> map;
  private final Batch picked;

  private ColumnPick(Optional<AllColumns> map, Schema schema) {
    this.map = map;
    picked = new Batch(schema, 1);
  }

  /**
   * Picks columns by their names.
   *
   * @param read the columns of the rows
   * @param wanted numbers and slots to take, in this order; labels stay
   * @throws IllegalArgumentException if the rows lack one of them
   */
  public static ColumnPick of(Schema read, Schema wanted) {
    List<String> slots = read.slotNames();
    for (String name : wanted.dense()) {
      require(read.dense().contains(name), name, read);
    }
    for (String name : wanted.slotNames()) {
      require(slots.contains(name), name, read);
    }
    // A slot of the rows says how many ids they have, which the model checks.
    List<Slot> own =
        wanted.slotNames().stream().map(name -> read.slots().get(slots.indexOf(name))).toList();
    boolean isAll = read.dense().equals(wanted.dense()) && slots.equals(wanted.slotNames());
    return isAll
        ? new ColumnPick(Optional.empty(), new Schema(List.of(), List.of(), List.of()))
        : new ColumnPick(
            Optional.of(AllColumns.map(read, wanted)),
            new Schema(
                read.labels(),
                wanted.dense(),
                own.stream().map(ColumnPick::alone).toList(),
                read.weight()));
  }

  /** A slot by itself: the owner of its table may be among the columns that are left out. */
  private static Slot alone(Slot slot) {
    return slot.withTable(slot.name());
  }

  private static void require(boolean holds, String name, Schema read) {
    if (!holds) {
      throw new IllegalArgumentException(
          "rows: got the numbers %s and the slots %s, expected the column %s; read it with the rows"
              .formatted(read.dense(), read.slotNames(), name));
    }
  }

  /**
   * The columns of {@code rows}: themselves where they have no others, else a batch that is good
   * until the next call.
   */
  public Batch of(Batch rows) {
    if (map.isEmpty()) {
      return rows;
    }
    picked.clear();
    map.get().apply(rows, picked);
    return picked;
  }
}
