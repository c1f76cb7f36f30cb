package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * A JSON object of a graph file, with where it stands, for errors.
 *
 * @param file name of the file
 * @param path of the object in it, such as {@code layers[3].fc_param}
 */
record Place(String file, String path, Json.Obj json) {
  /** More than any size or number of a graph. */
  private static final int MOST = 1 << 24;

  /** An error about this object, or about a field of it. */
  DataException wrong(String field, String got, String expected) {
    return new DataException(
        "%s: %s: got %s, expected %s".formatted(file, at(field), got, expected));
  }

  private String at(String field) {
    return field.isEmpty() ? path : path.isEmpty() ? field : path + "." + field;
  }

  boolean has(String field) {
    return json.has(field);
  }

  Json get(String field) {
    Json value = json.fields().get(field);
    if (value == null) {
      throw wrong(field, "none", "it beside " + json.fields().keySet());
    }
    return value;
  }

  Place object(String field) {
    if (get(field) instanceof Json.Obj object) {
      return new Place(file, at(field), object);
    }
    throw wrong(field, get(field).kind(), "an object");
  }

  /** The objects of an array. */
  List<Place> objects(String field) {
    List<Place> all = new ArrayList<>();
    for (Json item : items(field)) {
      String place = at(field) + "[" + all.size() + "]";
      if (!(item instanceof Json.Obj object)) {
        throw new Place(file, place, json).wrong("", item.kind(), "an object");
      }
      all.add(new Place(file, place, object));
    }
    return all;
  }

  private List<Json> items(String field) {
    if (get(field) instanceof Json.Arr(List<Json> items)) {
      return items;
    }
    throw wrong(field, get(field).kind(), "an array");
  }

  String text(String field) {
    if (get(field) instanceof Json.Str(String text) && !text.isEmpty()) {
      return text;
    }
    throw wrong(field, get(field).kind(), "a name");
  }

  /** A name, or a list of names. */
  List<String> names(String field) {
    if (!(get(field) instanceof Json.Arr(List<Json> items))) {
      return List.of(text(field));
    }
    List<String> names = new ArrayList<>();
    for (Json item : items) {
      if (!(item instanceof Json.Str(String text)) || text.isEmpty()) {
        throw wrong(field + "[" + names.size() + "]", item.kind(), "a name");
      }
      names.add(text);
    }
    return names;
  }

  int whole(String field, int least) {
    return whole(get(field), field, least);
  }

  OptionalInt wholeIfAny(String field, int least) {
    return has(field) ? OptionalInt.of(whole(field, least)) : OptionalInt.empty();
  }

  private int whole(Json value, String field, int least) {
    return whole(value, field, least, MOST);
  }

  private int whole(Json value, String field, int least, int most) {
    if (value instanceof Json.Int(long number) && number >= least && number <= most) {
      return (int) number;
    }
    throw wrong(field, value.kind(), "a whole number from %d to %d".formatted(least, most));
  }

  /** A whole number, or a list of them. */
  List<Integer> wholes(String field, int least) {
    return wholes(field, least, MOST);
  }

  /** The same with a bound of their own. */
  List<Integer> wholes(String field, int least, int most) {
    if (!(get(field) instanceof Json.Arr(List<Json> items))) {
      return List.of(whole(get(field), field, least, most));
    }
    List<Integer> all = new ArrayList<>();
    for (Json item : items) {
      all.add(whole(item, field + "[" + all.size() + "]", least, most));
    }
    return all;
  }

  /** A list of pairs of whole numbers. */
  List<List<Integer>> pairs(String field) {
    List<List<Integer>> pairs = new ArrayList<>();
    for (Json item : items(field)) {
      String at = field + "[" + pairs.size() + "]";
      if (!(item instanceof Json.Arr(List<Json> ends)) || ends.size() != 2) {
        throw wrong(at, item.kind(), "two whole numbers");
      }
      pairs.add(
          List.of(whole(ends.getFirst(), at + "[0]", 0), whole(ends.getLast(), at + "[1]", 0)));
    }
    return pairs;
  }

  double real(String field) {
    double value =
        switch (get(field)) {
          case Json.Int(long number) -> number;
          case Json.Real(double number) -> number;
          default -> Double.NaN;
        };
    if (Math.abs(value) <= Float.MAX_VALUE) {
      return value;
    }
    throw wrong(field, get(field).kind(), "a number that a float holds");
  }

  OptionalDouble realIfAny(String field) {
    return has(field) ? OptionalDouble.of(real(field)) : OptionalDouble.empty();
  }

  List<Double> reals(String field) {
    List<Double> all = new ArrayList<>();
    for (Json item : items(field)) {
      Place one = new Place(file, path, Json.object().put("v", item));
      try {
        all.add(one.real("v"));
      } catch (DataException e) {
        throw wrong(field + "[" + all.size() + "]", item.kind(), "a number that a float holds");
      }
    }
    return all;
  }

  boolean flag(Json value, String field) {
    if (value instanceof Json.Bool(boolean flag)) {
      return flag;
    }
    throw wrong(field, value.kind(), "true or false");
  }

  List<Boolean> flags(String field) {
    List<Boolean> all = new ArrayList<>();
    for (Json item : items(field)) {
      all.add(flag(item, field + "[" + all.size() + "]"));
    }
    return all;
  }
}
