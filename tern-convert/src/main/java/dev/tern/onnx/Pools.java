package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.internal.onnx.ElementType;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Pools rows of tables, as operators. */
final class Pools {
  private final Graph graph;
  private final Runs runs;

  Pools(Graph graph, OpenSizes sizes) {
    this.graph = graph;
    runs = new Runs(graph, sizes);
  }

  /**
   * What pooling gives.
   *
   * @param vectors FLOAT {@code [B, W]}
   * @param pairs the sum of the dot products of all pairs of vectors in a bag, FLOAT {@code [B]}
   */
  record Pooled(String vectors, Optional<String> pairs) {}

  /** The rows of some ids that are known now, FLOAT {@code [ids, W]}. */
  String rows(ExportedTable table, long... ids) {
    long[] dims = {ids.length};
    String numbers = graph.longs("rows", dims, Arrays.stream(ids).map(table::row).toArray());
    return rows(
        table,
        new Bag.Rows(
            numbers,
            table.isInitial() ? Optional.of(graph.longs("ids", dims, ids)) : Optional.empty()));
  }

  /** Rows of a table, FLOAT {@code [n, W]}. */
  String rows(ExportedTable table, Bag.Rows of) {
    String weights =
        graph.shared(
            ExportedTable.ROWS + table.name(),
            ElementType.ofStorage(table.storage()),
            table.dims(),
            table.content());
    String stored = graph.gather(weights, of.numbers(), 0);
    String rows = table.storage() == DType.F32 ? stored : graph.cast(stored, ElementType.FLOAT);
    if (of.ids().isEmpty()) {
      return rows;
    }
    String isUnknown =
        graph.unsqueeze(graph.node("Equal", of.numbers(), graph.integer(table.unknownRow())), 1);
    String initial = new InitialVectors(graph, table.config()).of(of.ids().get());
    return graph.where(isUnknown, initial, rows);
  }

  /**
   * The sum of each bag's rows, each times its factor.
   *
   * @param pairsFrom the first column of the vectors that make pairs; empty for none
   */
  Pooled pool(ExportedTable table, Bag bag, Combiner combiner, Optional<Integer> pairsFrom) {
    String index =
        graph.unsqueeze(runs.runs(bag.offsets(), graph.node("Shape", bag.rows().numbers())), 1);
    String plain = rows(table, bag.rows());
    String vectors =
        bag.weights().map(w -> graph.node("Mul", plain, graph.unsqueeze(w, 1))).orElse(plain);
    Optional<String> scale = scale(bag, index, combiner);
    Optional<String> column = scale.map(of -> graph.unsqueeze(of, 1));
    String sums = sums(bag, index, vectors, graph.scalar(0), table.width());
    String pooled = column.map(of -> graph.node("Mul", sums, of)).orElse(sums);
    if (pairsFrom.isEmpty()) {
      return new Pooled(pooled, Optional.empty());
    }
    int from = pairsFrom.get();
    String pairs = pairs(bag, index, graph.sliceFrom(vectors, 1, from), table.width() - from);
    String scaled =
        scale.map(of -> graph.node("Mul", pairs, graph.node("Mul", of, of))).orElse(pairs);
    return new Pooled(pooled, Optional.of(scaled));
  }

  /**
   * Half of what the square of each bag's sum has above its sum of squares (Rendle 2010), in
   * DOUBLE, as both may be large beside it.
   */
  private String pairs(Bag bag, String index, String vectors, int width) {
    String exact = graph.cast(vectors, ElementType.DOUBLE);
    String sums = sums(bag, index, exact, graph.real(0), width);
    String square = graph.sum(graph.node("Mul", sums, sums), 1);
    String each = graph.sum(graph.node("Mul", exact, exact), 1);
    String twice = graph.node("Sub", square, sums(bag, index, each, graph.real(0), 0));
    return graph.cast(graph.node("Mul", twice, graph.real(0.5)), ElementType.FLOAT);
  }

  /** The sum of each bag's elements of {@code values}, {@code [n, width]}, or {@code [n]} for 0. */
  private String sums(Bag bag, String index, String values, String zero, int width) {
    String count = graph.node("Shape", bag.offsets());
    String shape = width == 0 ? count : graph.concat(0, List.of(count, graph.integers(width)));
    String zeros = graph.filled(zero, shape);
    return graph.slice(runs.scatter(zeros, index, values, "add"), 0, 0, -1);
  }

  /** What multiplies all rows of each bag, FLOAT {@code [B]}; empty for 1. */
  private Optional<String> scale(Bag bag, String index, Combiner combiner) {
    if (combiner == Combiner.SUM) {
      return Optional.empty();
    }
    String sum =
        bag.weights()
            .map(w -> weightSum(bag, index, w, combiner))
            .orElseGet(() -> graph.cast(runs.lengths(bag.offsets()), ElementType.DOUBLE));
    String isZero = graph.node("Equal", sum, graph.real(0));
    String divisor = graph.where(isZero, graph.real(1), sum);
    String root = combiner == Combiner.MEAN ? divisor : graph.node("Sqrt", divisor);
    return Optional.of(graph.cast(graph.node("Div", graph.real(1), root), ElementType.FLOAT));
  }

  private String weightSum(Bag bag, String index, String weights, Combiner combiner) {
    String exact = graph.cast(weights, ElementType.DOUBLE);
    String terms = combiner == Combiner.MEAN ? exact : graph.node("Mul", exact, exact);
    return sums(bag, index, terms, graph.real(0), 0);
  }
}
