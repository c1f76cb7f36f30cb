package dev.tern.model.graph;

import dev.tern.internal.json.Json;
import java.util.List;

/**
 * A number that layers of an op have, or a list of them.
 *
 * @param list whether there are several
 * @param least the smallest that is allowed, and {@code most} the largest
 */
record GraphNumber(String name, Kind kind, boolean list, double least, double most) {
  /** More than any size of a layer: what a float of a file of weights still counts exactly. */
  static final int MOST = 1 << 24;

  /** More numbers in a list than any layer has. */
  private static final int MOST_ITEMS = 1 << 16;

  /** What a number is. */
  enum Kind {
    WHOLE,
    REAL,
    FLAG
  }

  static GraphNumber whole(String name, int least) {
    return new GraphNumber(name, Kind.WHOLE, false, least, MOST);
  }

  static GraphNumber whole(String name, int least, int most) {
    return new GraphNumber(name, Kind.WHOLE, false, least, most);
  }

  static GraphNumber wholes(String name, int least) {
    return new GraphNumber(name, Kind.WHOLE, true, least, MOST);
  }

  static GraphNumber real(String name, double least, double most) {
    return new GraphNumber(name, Kind.REAL, false, least, most);
  }

  static GraphNumber flag(String name) {
    return new GraphNumber(name, Kind.FLAG, false, 0, 1);
  }

  static GraphNumber flags(String name) {
    return new GraphNumber(name, Kind.FLAG, true, 0, 1);
  }

  /** Throws if these are not what a layer may have. */
  void require(List<Double> values, String layer) {
    boolean many = list ? !values.isEmpty() && values.size() <= MOST_ITEMS : values.size() == 1;
    if (!many || !values.stream().allMatch(this::holds)) {
      throw new IllegalArgumentException(
          "%s: got %s %s, expected %s from %s to %s; change it"
              .formatted(layer, name, shown(values), expected(), text(least), text(most)));
    }
  }

  private static String shown(List<Double> values) {
    List<String> first = values.stream().limit(8).map(GraphNumber::text).toList();
    return values.size() == 1 ? first.getFirst() : first + (values.size() > 8 ? "..." : "");
  }

  private static String text(double value) {
    return value == (long) value ? Long.toString((long) value) : Double.toString(value);
  }

  private String expected() {
    String one = kind == Kind.REAL ? "a number" : "a whole number";
    return list ? "a list of 1 to " + MOST_ITEMS + ", each " + one : one;
  }

  private boolean holds(double value) {
    return value >= least && value <= most && (kind == Kind.REAL || value == Math.rint(value));
  }

  Json write(List<Double> values) {
    return list
        ? new Json.Arr(values.stream().map(this::write).toList())
        : write(values.getFirst());
  }

  private Json write(double value) {
    return switch (kind) {
      case WHOLE -> new Json.Int((long) value);
      case REAL -> new Json.Real(value);
      case FLAG -> new Json.Bool(value != 0);
    };
  }

  List<Double> read(Json json, String where) {
    return list
        ? json.asArray(where).stream().map(item -> number(item, where)).toList()
        : List.of(number(json, where));
  }

  private double number(Json json, String where) {
    return kind == Kind.FLAG ? json.asFlag(where) ? 1 : 0 : json.asNumber(where);
  }
}
