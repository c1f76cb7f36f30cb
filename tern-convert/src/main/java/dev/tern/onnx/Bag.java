package dev.tern.onnx;

import java.util.Optional;

/**
 * Rows of a table for each row of a call, one run after the other.
 *
 * @param rows which rows; those from the last offset on are of no run
 * @param offsets INT64 {@code [B + 1]}
 * @param weights FLOAT {@code [n]}, if rows have some
 */
record Bag(Rows rows, String offsets, Optional<String> weights) {
  /**
   * Which rows of a table, as values of a graph.
   *
   * @param numbers of rows, INT64 {@code [n]}
   * @param ids that they are the rows of, INT64 {@code [n]}, where ids without a row read as
   *     something of their own
   */
  record Rows(String numbers, Optional<String> ids) {
    /** The rows at places of these. */
    Rows at(Graph graph, String places) {
      return new Rows(
          graph.gather(numbers, places, 0), ids.map(all -> graph.gather(all, places, 0)));
    }
  }
}
