package dev.tern.train;

import dev.tern.data.DataException;
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

  /** Compares the table of a slot; weights must be of one width. */
  public static TableDifference of(Checkpoint first, Checkpoint second, int slot) {
    RowShape before = RowShape.of(first.tableFiles(slot).getLast());
    RowShape after = RowShape.of(second.tableFiles(slot).getLast());
    if (before.width() != after.width()) {
      throw new DataException(
          second.tableFiles(slot).getLast()
              + ": got rows of "
              + after.width()
              + " weights, expected "
              + before.width()
              + " as in "
              + first.folder()
              + "; compare checkpoints of one model");
    }
    try (SavedTable a = SavedTable.open(first.tableFiles(slot), before);
        SavedTable b = SavedTable.open(second.tableFiles(slot), after);
        RowWalk left = new RowWalk(before, a);
        RowWalk right = new RowWalk(after, b)) {
      return compare(first.tables().get(slot), before.width(), left, right);
    }
  }

  private static TableDifference compare(String name, int width, RowWalk left, RowWalk right) {
    long added = 0;
    long removed = 0;
    long changed = 0;
    long same = 0;
    TopIds largest = new TopIds(1);
    boolean inLeft = left.next();
    boolean inRight = right.next();
    while (inLeft || inRight) {
      if (!inRight || inLeft && left.id() < right.id()) {
        removed++;
        inLeft = left.next();
      } else if (!inLeft || right.id() < left.id()) {
        added++;
        inRight = right.next();
      } else {
        double distance = distance(left, right, width);
        if (distance == 0) {
          same++;
        } else {
          changed++;
          largest.offer(left.id(), distance);
        }
        inLeft = left.next();
        inRight = right.next();
      }
    }
    return new TableDifference(
        name, added, removed, changed, same, largest.list().stream().findFirst());
  }

  private static double distance(RowWalk left, RowWalk right, int width) {
    double sum = 0;
    for (int j = 0; j < width; j++) {
      double difference = (double) left.weight(j) - right.weight(j);
      sum = Math.fma(difference, difference, sum);
    }
    return Math.sqrt(sum);
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
