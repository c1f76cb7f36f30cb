package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.json.Json;
import java.util.Optional;

/**
 * How a table differs between two checkpoints.
 *
 * @param name of its slot
 * @param added ids that only the second has
 * @param removed ids that only the first has
 * @param changed ids of both whose weights differ
 * @param same ids of both whose weights do not
 * @param largest the row whose weights moved farthest, by L2 norm, where any did
 */
public record TableDifference(
    String name,
    long added,
    long removed,
    long changed,
    long same,
    Optional<TableSummary.Top> largest) {

  /**
   * Compares the table of a slot.
   *
   * @throws DataException if the checkpoints are not of one model with the same encoders
   */
  public static TableDifference of(Checkpoint first, Checkpoint second, int slot) {
    long added = 0;
    long removed = 0;
    long changed = 0;
    long same = 0;
    TopIds largest = new TopIds(1);
    try (RowPairs pairs = RowPairs.open(first, second, slot)) {
      while (pairs.next()) {
        if (!pairs.inSecond()) {
          removed++;
        } else if (!pairs.inFirst()) {
          added++;
        } else if (pairs.differ()) {
          changed++;
          largest.offer(pairs.id(), pairs.distance());
        } else {
          same++;
        }
      }
    }
    return new TableDifference(
        first.tables().get(slot),
        added,
        removed,
        changed,
        same,
        largest.list().stream().findFirst());
  }

  /** The same as JSON, in one line. */
  public String toJson() {
    Json.Obj json =
        Json.object()
            .put("table", name)
            .put("added", added)
            .put("removed", removed)
            .put("changed", changed)
            .put("same", same);
    largest.ifPresent(
        top -> json.put("largest", Json.object().put("id", top.id()).put("distance", top.value())));
    return json.toString();
  }
}
