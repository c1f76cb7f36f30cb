package dev.tern.data.encode;

import dev.tern.data.Schema;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The names that a row may have, by number, and what each is for: a label, the weight of the row, a
 * dense number, a slot, the times that parts are taken from. A name has one role as a rule, and may
 * have several. Immutable; arrays are not written to.
 */
final class RowRoles {
  final Schema schema;
  private final String[] names;

  // By column, -1 where it is none.
  final int[] label;
  final int[] dense;
  final int[] slot;
  final int[] time;
  final boolean[] weight;

  /** By column, whether it is a dense number, a label or a weight. */
  final boolean[] isNumber;

  /** By column, whether it is a dense number or a slot without weights, and nothing else. */
  final boolean[] isPlain;

  /** By column, whether it is a slot of one id without weights, and nothing else. */
  final boolean[] isId;

  // By slot: whether its values are texts, how many a row has.
  final boolean[] text;
  final int[] hotness;

  /** Names of times, of which some are columns as well. */
  final List<String> sources;

  /** By source its column. */
  final int[] ofSource;

  /** By column, the source that a dense number or a slot is a part of; -1 for none. */
  final int[] partOf;

  private final TimePart[] parts;

  /** Column + 1 by the hash of its name, by open addressing; 0 is free. */
  private final int[] places;

  RowRoles(Schema schema, List<IdEncoding> slots) {
    this.schema = schema;
    int slotCount = slots.size();
    text = new boolean[slotCount];
    hotness = new int[slotCount];
    for (int s = 0; s < slotCount; s++) {
      text[s] = slots.get(s).text();
      hotness[s] = schema.slots().get(s).hotness();
    }
    sources =
        Stream.concat(schema.dense().stream(), schema.slotNames().stream())
            .filter(name -> TimePart.of(name).isPresent())
            .map(TimePart::source)
            .distinct()
            .toList();
    names = names(schema, sources);
    places = places(names);
    weight = new boolean[names.length];
    schema.weight().ifPresent(name -> weight[find(name)] = true);
    label = numbers(schema.labels());
    dense = numbers(schema.dense());
    slot = numbers(schema.slotNames());
    time = numbers(sources);
    ofSource = sources.stream().mapToInt(this::find).toArray();
    partOf = new int[names.length];
    parts = new TimePart[names.length];
    isNumber = new boolean[names.length];
    isPlain = new boolean[names.length];
    isId = new boolean[names.length];
    for (int column = 0; column < names.length; column++) {
      classify(column);
    }
  }

  private void classify(int column) {
    boolean feature = dense[column] >= 0 || slot[column] >= 0;
    Optional<TimePart> part = feature ? TimePart.of(names[column]) : Optional.empty();
    parts[column] = part.orElse(TimePart.DAYS);
    partOf[column] = part.isEmpty() ? -1 : sources.indexOf(TimePart.source(names[column]));
    isNumber[column] = dense[column] >= 0 || label[column] >= 0 || weight[column];
    boolean other = label[column] >= 0 || weight[column] || time[column] >= 0;
    boolean alone = slot[column] < 0 || !isNumber[column];
    boolean weighs = slot[column] >= 0 && schema.slots().get(slot[column]).weighted();
    isPlain[column] = feature && alone && !other && !weighs;
    isId[column] = isPlain[column] && slot[column] >= 0 && hotness[slot[column]] <= 1;
  }

  private static String[] names(Schema schema, List<String> times) {
    Set<String> names = new LinkedHashSet<>(schema.labels());
    schema.weight().ifPresent(names::add);
    names.addAll(schema.dense());
    names.addAll(schema.slotNames());
    names.addAll(times);
    return names.toArray(String[]::new);
  }

  private static int[] places(String[] names) {
    int[] places = new int[Integer.highestOneBit(Math.max(1, names.length)) << 2];
    for (int column = 0; column < names.length; column++) {
      int place = place(names[column]) & places.length - 1;
      while (places[place] != 0) {
        place = place + 1 & places.length - 1;
      }
      places[place] = column + 1;
    }
    return places;
  }

  private static int place(String name) {
    int hash = name.hashCode();
    return hash ^ hash >>> 16;
  }

  private int[] numbers(List<String> of) {
    int[] numbers = new int[names.length];
    Arrays.fill(numbers, -1);
    for (int i = 0; i < of.size(); i++) {
      numbers[find(of.get(i))] = i;
    }
    return numbers;
  }

  /** A name that no column has. */
  IllegalArgumentException unknown(String name) {
    List<String> times =
        sources.stream()
            .filter(source -> {
              int column = find(source);
              return !isNumber[column] && slot[column] < 0;
            })
            .sorted()
            .toList();
    return new IllegalArgumentException(
        "column %s: got a value for it, expected only %s, %s%s and labels %s; leave it out"
            .formatted(
                name,
                schema.dense(),
                schema.slotNames(),
                times.isEmpty() ? "" : ", times " + times,
                schema.labels()));
  }

  /** The part that a column is of the times of {@link #partOf}. */
  TimePart part(int column) {
    return parts[column];
  }

  int count() {
    return names.length;
  }

  String name(int column) {
    return names[column];
  }

  /** The column of a name, or -1. */
  int find(String name) {
    int place = place(name) & places.length - 1;
    while (places[place] != 0) {
      int column = places[place] - 1;
      if (names[column].equals(name)) {
        return column;
      }
      place = place + 1 & places.length - 1;
    }
    return -1;
  }

  /** As {@link #find(String)}. */
  int find(char[] name, int from, int to) {
    int hash = 0;
    for (int i = from; i < to; i++) {
      hash = 31 * hash + name[i]; // As String.hashCode.
    }
    int place = (hash ^ hash >>> 16) & places.length - 1;
    while (places[place] != 0) {
      int column = places[place] - 1;
      if (isSame(names[column], name, from, to)) {
        return column;
      }
      place = place + 1 & places.length - 1;
    }
    return -1;
  }

  private static boolean isSame(String name, char[] other, int from, int to) {
    boolean same = name.length() == to - from;
    for (int i = 0; same && i < name.length(); i++) {
      same = name.charAt(i) == other[from + i];
    }
    return same;
  }
}
