package dev.tern.train;

import java.util.List;

/**
 * How a batch is cut into lanes: lane {@code k} has the {@code rowsOfLane} rows from row {@code k *
 * rowsOfLane} on. The last lane may have fewer. Example: 1,000 rows in lanes of 512 are a lane of
 * 512 and one of 488.
 *
 * @param batch rows of the batch, 1 or more
 * @param rowsOfLane rows of each lane but the last, 1 or more
 * @param rooms elements that each sequence has room for in any lane
 */
record Lanes(int batch, int rowsOfLane, List<Integer> rooms) {
  Lanes {
    rooms = List.copyOf(rooms);
  }

  /** Lanes that have rows, 1 or more. */
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

  /** Adds up the numbers of lanes as a balanced binary tree over them; overwrites them. */
  static double sum(double[] ofLanes) {
    for (int apart = 1; apart < ofLanes.length; apart *= 2) {
      for (int lane = 0; lane + apart < ofLanes.length; lane += 2 * apart) {
        ofLanes[lane] += ofLanes[lane + apart];
      }
    }
    return ofLanes[0];
  }
}
