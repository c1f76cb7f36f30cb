package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.util.List;

/** Encodings of dense columns as JSON, with what was fitted. */
final class NumberJson {
  private static final String EDGES = "edges";
  private static final String BOUNDARIES = "boundaries";

  private NumberJson() {}

  /** What is read of a column. */
  record Column(NumberEncoding encoding, NumberFeature feature) {}

  /** {@code out} with an encoding and its feature. */
  static Json.Obj write(NumberEncoding encoding, NumberFeature feature, Json.Obj out) {
    switch (encoding) {
      case NumberEncoding.Auto _ -> throw new AssertionError("an encoder holds what was chosen");
      case NumberEncoding.Scaled(boolean log1p, boolean standardize, float fill) ->
          out.put("encoding", "scaled")
              .put("log1p", log1p)
              .put("standardize", standardize)
              .put("fill", fill);
      case NumberEncoding.Quantiles(int count) ->
          out.put("encoding", "quantiles").put("count", count);
      case NumberEncoding.Boundaries _ -> out.put("encoding", BOUNDARIES);
      case NumberEncoding.Pieces(int count) -> out.put("encoding", "pieces").put("count", count);
      case NumberEncoding.PiecesBetween _ -> out.put("encoding", "pieces_between");
      case NumberEncoding.Field(NumberEncoding number) ->
          out.put("encoding", "field")
              .put("number", write(number, feature.scaling().orElseThrow(), Json.object()));
      case NumberEncoding.Beside(NumberEncoding number, NumberEncoding slot) ->
          out.put("encoding", "beside")
              .put("number", write(number, feature.number().orElseThrow(), Json.object()))
              .put("slot", write(slot, feature.slot().orElseThrow(), Json.object()));
    }
    return switch (feature) {
      case NumberFeature.Scale scale ->
          out.put("mean", scale.mean()).put("deviation", scale.deviation());
      case NumberFeature.Buckets buckets -> out.put(BOUNDARIES, numbers(buckets.values()));
      case NumberFeature.Pieces pieces -> out.put(EDGES, numbers(pieces.values()));
      case NumberFeature.Field _, NumberFeature.Beside _ -> out;
    };
  }

  private static Json.Arr numbers(List<Float> values) {
    return new Json.Arr(values.stream().<Json>map(Json.Real::new).toList());
  }

  /**
   * What {@link #write} wrote.
   *
   * @param name of the column, for messages
   */
  static Column read(Json.Obj json, String name) {
    String encoding = json.text("encoding");
    return switch (encoding) {
      case "scaled" -> scaled(json);
      case "quantiles" ->
          new Column(
              new NumberEncoding.Quantiles(Math.toIntExact(json.integer("count"))),
              NumberFeature.Buckets.of(ascending(json, BOUNDARIES)));
      case BOUNDARIES ->
          new Column(
              new NumberEncoding.Boundaries(ascending(json, BOUNDARIES)),
              NumberFeature.Buckets.of(ascending(json, BOUNDARIES)));
      case "pieces" -> pieces(json);
      case "pieces_between" -> {
        List<Float> edges = ascending(json, EDGES);
        yield new Column(new NumberEncoding.PiecesBetween(edges), NumberFeature.Pieces.of(edges));
      }
      case "field" -> {
        Column number = read(json.object("number"), name);
        yield new Column(
            new NumberEncoding.Field(number.encoding), new NumberFeature.Field(scale(number)));
      }
      case "beside" -> {
        Column number = read(json.object("number"), name);
        Column slot = read(json.object("slot"), name);
        yield new Column(
            new NumberEncoding.Beside(number.encoding, slot.encoding),
            new NumberFeature.Beside(scale(number), slot.feature));
      }
      default ->
          throw new DataException(
              "dense column %s: got encoding \"%s\", expected scaled, quantiles, boundaries, pieces, pieces_between, field or beside"
                  .formatted(name, encoding));
    };
  }

  private static NumberFeature.Scale scale(Column number) {
    if (number.feature instanceof NumberFeature.Scale scale) {
      return scale;
    }
    throw new DataException("got %s, expected a number that is scaled".formatted(number.encoding));
  }

  private static Column scaled(Json.Obj json) {
    double deviation = json.number("deviation");
    if (!(deviation > 0)) {
      throw new DataException("got deviation %s, expected above 0".formatted(deviation));
    }
    boolean log1p = json.flag("log1p");
    float fill = (float) json.number("fill");
    return new Column(
        new NumberEncoding.Scaled(log1p, json.flag("standardize"), fill),
        new NumberFeature.Scale(log1p, json.number("mean"), deviation, fill));
  }

  private static Column pieces(Json.Obj json) {
    NumberEncoding.Pieces pieces =
        new NumberEncoding.Pieces(Math.toIntExact(json.integer("count")));
    List<Float> edges = ascending(json, EDGES);
    if (edges.size() > pieces.count() + 1) {
      throw new DataException(
          "got %d edges of %d pieces, expected at most one more"
              .formatted(edges.size(), pieces.count()));
    }
    return new Column(pieces, NumberFeature.Pieces.of(edges));
  }

  private static List<Float> ascending(Json.Obj json, String key) {
    List<Float> values =
        json.array(key).stream().map(value -> (float) value.asNumber(key)).toList();
    return new NumberEncoding.Boundaries(values).values();
  }
}
