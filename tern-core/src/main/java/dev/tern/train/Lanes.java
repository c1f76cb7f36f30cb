package dev.tern.train;

import java.util.List;

/**
 * How a batch is cut into lanes: lane {@code k} has the {@code rowsOfLane} rows from row {@code k *
 * rowsOfLane} on. The last lane may have fewer. Example: 1,000 rows in lanes of 512 are a lane of
 * 512 and one of 488.
 *
 * @param batch rows of the batch; 0 of a rank without any
 * @param rowsOfLane rows of each lane but the last, 1 or more
 * @param rooms elements that each sequence has room for in any lane
 */
record Lanes(int batch, int rowsOfLane, List<Integer> rooms) {
  Lanes {
    rooms = List.copyOf(rooms);
  }

  /** Lanes that have rows. */
  int count() {
    return Math.ceilDiv(batch, rowsOfLane);
  }

  /** The first row of a lane. */
  int first(int lane) {
    return lane * rowsOfLane;
  }

  /** Rows of a lane, 1 or more. */
  int rows(int lane) {
    return Math.min(rowsOfLane, batch - first(lane));
  }

  /** Rows of the first lane, or of a full one where no lane has rows. */
  int usualRows() {
    return batch == 0 ? rowsOfLane : rows(0);
  }

  /** The lanes {@code [from, to)} alone. */
  Lanes between(int from, int to) {
    int end = Math.min(to, count());
    int begin = Math.min(from, end);
    return new Lanes(
        Math.min(batch, first(end)) - Math.min(batch, first(begin)), rowsOfLane, rooms);
  }

  /** Adds up the numbers of lanes, 1 or more, as a balanced binary tree; overwrites them. */
  static double sum(double[] ofLanes) {
    for (int apart = 1; apart < ofLanes.length; apart *= 2) {
      for (int lane = 0; lane + apart < ofLanes.length; lane += 2 * apart) {
        ofLanes[lane] += ofLanes[lane + apart];
      }
    }
    return ofLanes[0];
  }
}
