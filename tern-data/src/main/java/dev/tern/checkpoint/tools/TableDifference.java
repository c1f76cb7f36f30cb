package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.json.Json;
import java.util.Optional;

/**
 * The difference of a table between two checkpoints.
 *
 * @param name name of the table
 * @param added ids that only the second has
 * @param removed ids that only the first has
 * @param changed ids that both have, with different weights
 * @param same ids that both have, with the same weights
 * @param largest the row whose weights changed most, by L2 norm; empty if none did
 */
public record TableDifference(
    String name,
    long added,
    long removed,
    long changed,
    long same,
    Optional<TableSummary.Top> largest) {

  /**
   * Compares table {@code slot}.
   *
   * @throws DataException if the checkpoints have different models or encoders
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

  /** This difference as one line of JSON. */
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
