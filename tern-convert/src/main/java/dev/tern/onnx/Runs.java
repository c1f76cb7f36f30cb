package dev.tern.onnx;

import dev.tern.internal.onnx.ElementType;
import java.util.List;

/**
 * Rules about runs of rows, as operators: offsets {@code [s + 1]} divide {@code n} rows into {@code
 * s} runs; rows from the last offset on belong to none. All are INT64.
 */
final class Runs {
  private final Graph graph;
  private final OpenSizes sizes;

  Runs(Graph graph, OpenSizes sizes) {
    this.graph = graph;
    this.sizes = sizes;
  }

  /** Where runs begin, {@code [s]}. */
  String begins(String offsets) {
    return graph.slice(offsets, 0, 0, -1);
  }

  /** Where runs end, {@code [s]}. */
  String ends(String offsets) {
    return graph.sliceFrom(offsets, 0, 1);
  }

  String lengths(String offsets) {
    return graph.node("Sub", ends(offsets), begins(offsets));
  }

  /** Offsets of runs of these lengths. */
  String offsets(String lengths) {
    String sums = graph.node("CumSum", lengths, graph.integer(0));
    return graph.concat(0, List.of(graph.integers(0), sums));
  }

  /** The run of each of {@code rows} rows, INT64 {@code [1]}; {@code s} for none. */
  String runs(String offsets, String rows) {
    String ends = ends(offsets);
    String zeros = graph.filled(graph.integer(0), graph.node("Add", rows, graph.integers(1)));
    String ones = graph.filled(graph.integer(1), graph.node("Shape", ends));
    String marks =
        graph.node(
            "ScatterElements",
            List.of(zeros, ends, ones),
            Attribute.integer("axis", 0),
            Attribute.text("reduction", "add"));
    String counts = graph.node("CumSum", marks, graph.integer(0));
    return graph.slice(counts, 0, 0, -1);
  }

  /** How many runs there are, INT64 {@code [1]}. */
  String count(String offsets) {
    return graph.node("Sub", graph.node("Shape", offsets), graph.integers(1));
  }

  /** {@code value} of rows that are in a run, else -1. */
  private String orNone(String value, String runs, String offsets) {
    String none = graph.node("Equal", runs, count(offsets));
    return graph.where(none, graph.integer(-1), value);
  }

  /** The run of each row; -1 for none. */
  String sequences(String offsets, Size rows) {
    String runs = runs(offsets, sizes.vector(rows));
    return orNone(runs, runs, offsets);
  }

  /** The place of each row in its run; -1 for none. */
  String positions(String offsets, Size rows) {
    String runs = runs(offsets, sizes.vector(rows));
    String places = graph.node("Sub", sizes.range(rows), graph.gather(offsets, runs, 0));
    return orNone(places, runs, offsets);
  }

  /** The row of each row in the reversed run; -1 for none. */
  String mirror(String offsets, Size rows) {
    String runs = runs(offsets, sizes.vector(rows));
    String next = graph.node("Add", runs, graph.integer(1));
    String end = graph.gather(offsets, graph.node("Min", next, count(offsets)), 0);
    String sum = graph.node("Add", graph.gather(offsets, runs, 0), end);
    String last = graph.node("Sub", sum, graph.integer(1));
    return orNone(graph.node("Sub", last, sizes.range(rows)), runs, offsets);
  }

  /** Counts up from the start of each run, {@code [s]}; -1 for rows of none. */
  String ranges(String starts, String offsets, Size rows) {
    String runs = runs(offsets, sizes.vector(rows));
    String shifts = graph.node("Sub", starts, begins(offsets));
    String ended = graph.concat(0, List.of(shifts, graph.integers(0)));
    String places = graph.node("Add", sizes.range(rows), graph.gather(ended, runs, 0));
    return orNone(places, runs, offsets);
  }

  /** The first rows of each run, {@code [s, width]}; -1 past its end. */
  String heads(String offsets, long width) {
    String column = sizes.range(Size.fixed(width));
    String rows = graph.node("Add", graph.unsqueeze(begins(offsets), 1), column);
    String inside = graph.node("Less", rows, graph.unsqueeze(ends(offsets), 1));
    return graph.where(inside, rows, graph.integer(-1));
  }

  /** The last rows of each run in reverse, {@code [s, width]}; -1 before its beginning. */
  String tails(String offsets, long width) {
    String column = graph.node("Add", sizes.range(Size.fixed(width)), graph.integer(1));
    String rows = graph.node("Sub", graph.unsqueeze(ends(offsets), 1), column);
    String inside = graph.node("GreaterOrEqual", rows, graph.unsqueeze(begins(offsets), 1));
    return graph.where(inside, rows, graph.integer(-1));
  }

  /** Each row and those after it in its run, {@code [n, width]}; {@code n} past the end. */
  String windows(String offsets, Size rows, long width) {
    String runs = runs(offsets, sizes.vector(rows));
    String next = graph.node("Add", runs, graph.integer(1));
    String end = graph.gather(offsets, graph.node("Min", next, count(offsets)), 0);
    String column = sizes.range(Size.fixed(width));
    String all = graph.node("Add", graph.unsqueeze(sizes.range(rows), 1), column);
    String inside = graph.node("Less", all, graph.unsqueeze(end, 1));
    return graph.where(inside, all, sizes.scalar(rows));
  }

  /** For each row {@code run * width + column}; -1 for rows of no run. */
  String cells(String columns, String offsets, Size rows, long width) {
    String runs = runs(offsets, sizes.vector(rows));
    String first = graph.node("Mul", runs, graph.integer(width));
    return orNone(graph.node("Add", first, columns), runs, offsets);
  }

  /** How many rows of each run have a mark, BOOL {@code [n]}. */
  String keptLengths(String marks, String offsets, Size rows) {
    String zeros = graph.filled(graph.integer(0), graph.node("Shape", offsets));
    String all =
        graph.node(
            "ScatterElements",
            List.of(zeros, runs(offsets, sizes.vector(rows)), graph.cast(marks, ElementType.INT64)),
            Attribute.integer("axis", 0),
            Attribute.text("reduction", "add"));
    return graph.slice(all, 0, 0, -1);
  }

  /** The rows of runs that have a mark, then -1, {@code [n]}. */
  String kept(String marks, String offsets, Size rows) {
    String isInside = graph.node("Less", runs(offsets, sizes.vector(rows)), count(offsets));
    String places = graph.node("NonZero", graph.node("And", marks, isInside));
    String kept = graph.node("Squeeze", places, graph.integers(0));
    String left = graph.node("Sub", sizes.vector(rows), graph.node("Shape", kept));
    return graph.concat(0, List.of(kept, graph.filled(graph.integer(-1), left)));
  }

  /** 0 for each id, {@code [n]}, that is one of {@code others}, {@code [t]}, else 1. */
  String notAmong(String ids, String others) {
    String equal = graph.node("Equal", graph.unsqueeze(ids, 1), graph.unsqueeze(others, 0));
    String count = graph.sum(graph.cast(equal, ElementType.INT64), 1);
    return graph.cast(graph.node("Equal", count, graph.integer(0)), ElementType.INT64);
  }

  /**
   * The element numbers of the {@code count} largest numbers of each run and column, INT64 {@code
   * [s, count, width]}, of equal ones the earlier first; -1 where a run has fewer.
   *
   * @param values {@code [n, width]}
   */
  String largest(String values, String offsets, long count, long width) {
    String lengths = lengths(offsets);
    String longest = graph.node("ReduceMax", List.of(lengths), Attribute.integer("keepdims", 0));
    String room = graph.node("Max", longest, graph.integer(count));
    String places = graph.node("Range", graph.integer(0), room, graph.integer(1));
    String begins = graph.unsqueeze(begins(offsets), 1);
    String rows = graph.node("Add", begins, places);
    String inside = graph.node("Less", rows, graph.unsqueeze(ends(offsets), 1));
    String padded = graph.gather(values, graph.where(inside, rows, graph.integer(0)), 0);
    String none = graph.scalar(Float.NEGATIVE_INFINITY);
    String shown = graph.where(graph.unsqueeze(inside, 2), padded, none);
    String found =
        graph.secondOf("TopK", List.of(shown, graph.integers(count)), Attribute.integer("axis", 1));
    String row = graph.node("Add", found, graph.unsqueeze(begins, 2));
    String element =
        graph.node(
            "Add", graph.node("Mul", row, graph.integer(width)), sizes.range(Size.fixed(width)));
    String isThere = graph.node("Less", found, graph.unsqueeze(graph.unsqueeze(lengths, 1), 2));
    return graph.where(isThere, element, graph.integer(-1));
  }

  /**
   * The sum or maximum of the rows of each run.
   *
   * @param values {@code [n, ...]}
   * @param width the sizes of {@code values} without the first
   */
  String reduce(boolean sum, String values, String offsets, Size rows, List<Size> width) {
    String runs = runs(offsets, sizes.vector(rows));
    String start = graph.scalar(sum ? 0 : Float.NEGATIVE_INFINITY);
    String count = graph.node("Shape", offsets); // One more than runs: for rows of none.
    String shape = width.isEmpty() ? count : graph.concat(0, List.of(count, sizes.shape(width)));
    String all =
        scatter(graph.filled(start, shape), graph.unsqueeze(runs, 1), values, sum ? "add" : "max");
    return graph.slice(all, 0, 0, -1);
  }

  /** {@code into} with rows of {@code values} combined at {@code index}, {@code [..., 1]}. */
  String scatter(String into, String index, String values, String reduction) {
    return graph.node(
        "ScatterND", List.of(into, index, values), Attribute.text("reduction", reduction));
  }
}
