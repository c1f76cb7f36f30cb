package dev.tern.onnx;

import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.json.Json;
import dev.tern.internal.onnx.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The encodings of dense columns, as operators: they compute in DOUBLE what an encoder computes in
 * double. A missing number is NaN.
 */
final class Numbers {
  /** Most boundaries that a number is compared with one by one. */
  private static final int MOST_COMPARED = 512;

  private final Graph graph;
  private final List<Feature> features = new ArrayList<>();

  /** The raw numbers, FLOAT {@code [B, F]}. */
  private final String dense;

  /**
   * What a column becomes.
   *
   * @param number how it is scaled as a number
   * @param slot what its slot is
   */
  private record Feature(Optional<Scale> number, Optional<Vector> slot) {}

  private record Scale(boolean log1p, double mean, double deviation, float fill) {
    static Scale of(Json.Obj json) {
      return new Scale(
          json.flag("log1p"),
          json.number("mean"),
          json.number("deviation"),
          (float) json.number("fill"));
    }

    boolean isPlain() {
      return !log1p && mean == 0 && deviation == 1;
    }
  }

  /** A number as a slot. */
  private sealed interface Vector {
    /** An id for what lies between boundaries. */
    record Buckets(double[] boundaries) implements Vector {}

    /** The number times a vector. */
    record Times(Scale scale) implements Vector {}

    /** Linear in pieces between edges. */
    record Pieces(double[] edges) implements Vector {}
  }

  Numbers(Graph graph, FeatureEncoder encoder, String dense) {
    this.graph = graph;
    this.dense = dense;
    for (int f = 0; f < encoder.rawSchema().denseDim(); f++) {
      features.add(feature(Json.parseObject(encoder.numberJson(f), "encoder")));
    }
  }

  private static Feature feature(Json.Obj json) {
    return switch (json.text("encoding")) {
      case "scaled" -> new Feature(Optional.of(Scale.of(json)), Optional.empty());
      case "beside" ->
          new Feature(
              Optional.of(Scale.of(json.object("number"))), feature(json.object("slot")).slot);
      case "field" -> slot(new Vector.Times(Scale.of(json.object("number"))));
      case "quantiles", "boundaries" -> slot(new Vector.Buckets(numbers(json, "boundaries")));
      case "pieces", "pieces_between" -> slot(new Vector.Pieces(numbers(json, "edges")));
      default ->
          throw new IllegalStateException(
              "onnx: got a column encoded as %s, expected a known encoding; it cannot be exported"
                  .formatted(json.text("encoding")));
    };
  }

  private static Feature slot(Vector vector) {
    return new Feature(Optional.empty(), Optional.of(vector));
  }

  /** Floats, which double holds as they are. */
  private static double[] numbers(Json.Obj json, String key) {
    return json.array(key).stream().mapToDouble(value -> (float) value.asNumber(key)).toArray();
  }

  /** The numbers that models read, FLOAT {@code [B, F']}; empty if all have vectors alone. */
  Optional<String> scaled() {
    List<Integer> columns = new ArrayList<>();
    List<Scale> scales = new ArrayList<>();
    for (int f = 0; f < features.size(); f++) {
      int column = f;
      features
          .get(f)
          .number
          .ifPresent(scale -> {
            columns.add(column);
            scales.add(scale);
          });
    }
    if (columns.isEmpty()) {
      return Optional.empty();
    }
    boolean all = columns.size() == features.size();
    long[] numbers = columns.stream().mapToLong(Integer::longValue).toArray();
    String x = all ? dense : graph.gather(dense, graph.integers(numbers), 1);
    return Optional.of(filled(x, scales));
  }

  private String filled(String x, List<Scale> scales) {
    float[] fills = new float[scales.size()];
    for (int f = 0; f < fills.length; f++) {
      fills[f] = scales.get(f).fill;
    }
    String fill = graph.floats("missing", new long[] {1, fills.length}, fills);
    return graph.where(graph.node("IsNaN", x), fill, scaled(x, scales));
  }

  /** {@code [B, F]} scaled column by column; NaN where it is missing. */
  private String scaled(String x, List<Scale> scales) {
    if (scales.stream().allMatch(Scale::isPlain)) {
      return x;
    }
    long[] dims = {1, scales.size()};
    String exact = graph.cast(x, ElementType.DOUBLE);
    if (scales.stream().anyMatch(Scale::log1p)) {
      exact = logarithms(exact, scales, dims);
    }
    double[] means = scales.stream().mapToDouble(Scale::mean).toArray();
    double[] deviations = scales.stream().mapToDouble(Scale::deviation).toArray();
    String centred = graph.node("Sub", exact, graph.doubles("mean", dims, means));
    String result = graph.node("Div", centred, graph.doubles("deviation", dims, deviations));
    return graph.cast(result, ElementType.FLOAT);
  }

  /** {@code sign(x) log(1 + |x|)} where a column has that. */
  private String logarithms(String x, List<Scale> scales, long[] dims) {
    String size = graph.node("Log", graph.node("Add", graph.node("Abs", x), graph.real(1)));
    String logs = graph.node("Mul", graph.node("Sign", x), size);
    if (scales.stream().allMatch(Scale::log1p)) {
      return logs;
    }
    long[] flags = scales.stream().mapToLong(scale -> scale.log1p ? 1 : 0).toArray();
    String mask = graph.cast(graph.longs("log1p", dims, flags), ElementType.BOOL);
    return graph.where(mask, logs, x);
  }

  /** The columns that become slots, in the order of these. */
  List<Integer> slots() {
    List<Integer> columns = new ArrayList<>();
    for (int f = 0; f < features.size(); f++) {
      if (features.get(f).slot.isPresent()) {
        columns.add(f);
      }
    }
    return columns;
  }

  /** The vectors of the slot of column {@code column}, FLOAT {@code [B, W]}. */
  String vectors(int column, ExportedTable table, Pools pools) {
    String x = graph.slice(dense, 1, column, column + 1L);
    String isMissing = graph.node("IsNaN", x);
    return switch (features.get(column).slot.orElseThrow()) {
      case Vector.Buckets(double[] boundaries) -> bucket(x, isMissing, boundaries, table, pools);
      case Vector.Times(Scale scale) -> {
        String both = pools.rows(table, 0, 1);
        String missing = graph.slice(both, 0, 0, 1);
        String vector = graph.slice(both, 0, 1, 2);
        String product = graph.node("Mul", scaled(x, List.of(scale)), vector);
        yield graph.where(isMissing, missing, product);
      }
      case Vector.Pieces(double[] edges) -> pieces(x, isMissing, edges, table, pools);
    };
  }

  private String bucket(
      String x, String isMissing, double[] boundaries, ExportedTable table, Pools pools) {
    String below = boundaries.length == 0 ? graph.integer(0) : below(x, boundaries);
    String id = graph.node("Add", below, graph.integer(1));
    String known =
        graph.where(graph.node("Squeeze", isMissing, graph.integers(1)), graph.integer(0), id);
    String rows = pools.rows(table, LongStream.range(0, boundaries.length + 2L).toArray());
    return graph.gather(rows, known, 0);
  }

  /** The number of boundaries up to each number, INT64 {@code [B]}. */
  private String below(String x, double[] boundaries) {
    float[] all = new float[boundaries.length];
    for (int i = 0; i < all.length; i++) {
      all[i] = (float) boundaries[i];
    }
    if (all.length > MOST_COMPARED) {
      return searched(graph.node("Squeeze", x, graph.integers(1)), all);
    }
    String row = graph.floats("boundaries", new long[] {1, all.length}, all);
    return graph.sum(graph.cast(graph.node("LessOrEqual", row, x), ElementType.INT64), 1);
  }

  private String searched(String x, float[] boundaries) {
    String keys = graph.floats("boundaries", new long[] {boundaries.length}, boundaries);
    String place = graph.integer(0);
    for (int left = boundaries.length; left > 1; left -= left / 2) {
      int half = left / 2;
      String key = graph.gather(keys, graph.node("Add", place, graph.integer(half - 1)), 0);
      String isBelow = graph.node("LessOrEqual", key, x);
      place = graph.where(isBelow, graph.node("Add", place, graph.integer(half)), place);
    }
    String isBelow = graph.node("LessOrEqual", graph.gather(keys, place, 0), x);
    return graph.node("Add", place, graph.cast(isBelow, ElementType.INT64));
  }

  /** {@code b + e_1 w_1 + ... + e_T w_T}: a product of the shares with the rows of all ids. */
  private String pieces(
      String x, String isMissing, double[] edges, ExportedTable table, Pools pools) {
    int count = Math.max(0, edges.length - 1);
    String missing = graph.cast(isMissing, ElementType.FLOAT);
    String present = graph.node("Sub", graph.scalar(1), missing);
    List<String> shares = new ArrayList<>(List.of(missing, present));
    if (count > 0) {
      String share = shares(x, edges, count);
      shares.add(graph.where(isMissing, graph.scalar(0), share));
    }
    String rows = pools.rows(table, LongStream.range(0, count + 2L).toArray());
    return graph.node("MatMul", graph.concat(1, shares), rows);
  }

  /** The share of each piece that lies below the number, FLOAT {@code [B, T]}. */
  private String shares(String x, double[] edges, int count) {
    double[] low = new double[count];
    double[] width = new double[count];
    for (int piece = 0; piece < count; piece++) {
      low[piece] = edges[piece];
      width[piece] = edges[piece + 1] - edges[piece];
    }
    long[] dims = {1, count};
    String exact = graph.cast(x, ElementType.DOUBLE);
    String above = graph.node("Sub", exact, graph.doubles("edges", dims, low));
    String share = graph.node("Div", above, graph.doubles("widths", dims, width));
    String atLeast = graph.node("Max", share, graph.real(0));
    return graph.cast(graph.node("Min", atLeast, graph.real(1)), ElementType.FLOAT);
  }
}
