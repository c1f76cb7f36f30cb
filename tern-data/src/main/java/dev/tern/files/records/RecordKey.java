package dev.tern.files.records;

import dev.tern.base.Shown;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.SparseColumn;
import java.util.List;
import java.util.Optional;

/**
 * Which column of records is their key: a slot, or for times a dense column.
 *
 * @param dense its index, or -1
 * @param slot its index, or -1
 */
record RecordKey(int dense, int slot) {
  private static final RecordKey NONE = new RecordKey(-1, -1);

  /**
   * The place of {@code key}, if there is one, among the columns of {@code schema}.
   *
   * @throws IllegalArgumentException where it has none
   */
  static RecordKey of(Optional<SparseColumn> key, Schema schema) {
    if (key.isEmpty()) {
      return NONE;
    }
    boolean time = key.get().values() == SparseColumn.Values.TIME;
    String name = key.get().timeSource();
    List<String> slots = schema.slots().stream().map(Slot::name).toList();
    RecordKey found = new RecordKey(time ? schema.dense().indexOf(name) : -1, slots.indexOf(name));
    if (found.equals(NONE)) {
      throw new IllegalArgumentException(
          "split: got the column %s, expected one of %sthe slots %s"
              .formatted(
                  Shown.excerpt(name),
                  time ? "the numbers " + Shown.list(schema.dense()) + " or " : "",
                  Shown.list(slots)));
    }
    return found;
  }

  /** The rows of keys. */
  static Schema schema(Optional<SparseColumn> key) {
    List<Slot> slots = key.stream().map(column -> Slot.ragged(column.name())).toList();
    return new Schema(List.of(), List.of(), slots);
  }
}
