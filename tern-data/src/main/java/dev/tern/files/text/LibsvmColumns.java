package dev.tern.files.text;

import dev.tern.base.Shown;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Which column each feature belongs to. Without fields all features are of field 0. */
final class LibsvmColumns {
  private static final BigInteger LIMIT = BigInteger.TWO.pow(64);

  /** Field and feature of each dense column. */
  final long[] denseFields;

  final long[] denseFeatures;

  /** Field of each slot but {@link #query}. */
  final long[] slotFields;

  /** The slot of queries, or -1. */
  final int query;

  private final LibsvmOptions options;
  private final NumberPlaces fields;

  /** Of each field its slot, or -1. */
  private final int[] slots;

  /** Of each field the features that are dense columns, and these. */
  private final NumberPlaces[] features;

  private final int[][] columns;

  /**
   * Finds the columns of {@code schema}.
   *
   * @throws IllegalArgumentException where the notation cannot hold them
   */
  LibsvmColumns(Schema schema, LibsvmOptions options) {
    this.options = options;
    if (schema.labelDim() > 1) {
      throw wrong("labels", schema.labels(), "one label; leave the others out");
    }
    denseFields = new long[schema.denseDim()];
    denseFeatures = new long[schema.denseDim()];
    for (int i = 0; i < denseFields.length; i++) {
      findDense(i, schema.dense().get(i));
    }
    List<String> names = schema.slots().stream().map(Slot::name).toList();
    query = options.fields() ? -1 : names.indexOf(LibsvmOptions.QUERY);
    slotFields = new long[names.size()];
    for (int slot = 0; slot < slotFields.length; slot++) {
      slotFields[slot] = options.fields() ? slotField(names.get(slot)) : 0;
    }
    requireOneSlot(names);
    long[] distinct =
        Arrays.stream(new long[][] {denseFields, slotFields})
            .flatMapToLong(Arrays::stream)
            .distinct()
            .toArray();
    fields = new NumberPlaces(distinct);
    slots = new int[distinct.length];
    features = new NumberPlaces[distinct.length];
    columns = new int[distinct.length][];
    for (int place = 0; place < distinct.length; place++) {
      place(place, distinct[place], schema);
    }
  }

  /**
   * Field and feature of a column alone.
   *
   * @param slot whether it is all of a field, with any feature
   */
  static long[] place(String name, boolean slot, LibsvmOptions options) {
    if (!options.fields() && (slot || name.equals(LibsvmOptions.QUERY))) {
      return new long[] {0, 0};
    }
    Slot ids = Slot.ragged(name);
    LibsvmColumns found =
        new LibsvmColumns(
            new Schema(
                List.of(), slot ? List.of() : List.of(name), slot ? List.of(ids) : List.of()),
            options);
    return slot
        ? new long[] {found.slotFields[0], 0}
        : new long[] {found.denseFields[0], found.denseFeatures[0]};
  }

  private void findDense(int column, String name) {
    int colon = options.names().contains(name) ? -1 : name.lastIndexOf(':');
    if (!options.fields()) {
      denseFeatures[column] = number(name, 1, "a feature's number, as in 7");
    } else if (colon < 0) {
      denseFields[column] = number(name, 0, "a field, as in 3, or its feature, as in 3:17");
      denseFeatures[column] = denseFields[column];
    } else {
      String hint = "a field's feature, as in 3:17";
      denseFields[column] = number(name.substring(0, colon), 0, hint);
      denseFeatures[column] = digits(name.substring(colon + 1), name, hint);
    }
  }

  private long slotField(String name) {
    return number(name, 0, "a field's number, as in 3");
  }

  /** What {@code name} stands for, where names stand for numbers from {@code first} on. */
  private long number(String name, int first, String expected) {
    int index = options.names().indexOf(name);
    return index >= 0 ? index + first : digits(name, name, expected);
  }

  private long digits(String text, String name, String expected) {
    if (!text.matches("[0-9]{1,40}") || new BigInteger(text).compareTo(LIMIT) >= 0) {
      String listed = options.names().isEmpty() ? "" : " or one of " + Shown.list(options.names());
      throw wrong("the column", name, expected + listed + "; give that, or list names in order");
    }
    return Long.parseUnsignedLong(text);
  }

  /** Without fields there is one slot for features that are no dense column, of any name. */
  private void requireOneSlot(List<String> names) {
    List<String> ids = names.stream().filter(name -> !name.equals(LibsvmOptions.QUERY)).toList();
    if (options.fields()) {
      for (int slot = 1; slot < slotFields.length; slot++) {
        long field = slotFields[slot];
        if (Arrays.stream(slotFields, 0, slot).anyMatch(other -> other == field)) {
          throw wrong("two slots of field", Long.toUnsignedString(field), "one; remove the other");
        }
      }
    } else if (ids.size() > 1) {
      throw wrong("the slots", ids, "one for all ids; use libffm, which has fields");
    } else if (!ids.isEmpty()
        && (ids.getFirst().matches("[0-9]+") || options.names().contains(ids.getFirst()))) {
      throw wrong(
          "the slot",
          ids.getFirst(),
          "one for all features that are no dense column; call it features, say");
    }
  }

  private void place(int place, long field, Schema schema) {
    List<Integer> dense = new ArrayList<>();
    for (int i = 0; i < denseFields.length; i++) {
      if (denseFields[i] == field) {
        dense.add(i);
      }
    }
    columns[place] = dense.stream().mapToInt(i -> i).toArray();
    long[] numbers = dense.stream().mapToLong(i -> denseFeatures[i]).toArray();
    if (Arrays.stream(numbers).distinct().count() < numbers.length) {
      throw wrong("dense columns", schema.dense(), "distinct features; remove those named twice");
    }
    features[place] = new NumberPlaces(numbers);
    slots[place] = -1;
    for (int slot = 0; slot < slotFields.length; slot++) {
      if (slotFields[slot] == field && slot != query) {
        slots[place] = slot;
      }
    }
  }

  private IllegalArgumentException wrong(String what, Object got, String expected) {
    return new IllegalArgumentException(
        "%s: got %s %s, expected %s".formatted(options.notation(), what, shown(got), expected));
  }

  private static String shown(Object got) {
    return got instanceof List<?> names ? Shown.list(names) : String.valueOf(got);
  }

  /** The place of {@code field} in what follows, or -1 where no column is of it. */
  int field(long field) {
    return fields.find(field);
  }

  /** The dense column of {@code feature} in the field at {@code place}, or -1. */
  int dense(int place, long feature) {
    int at = features[place].find(feature);
    return at < 0 ? -1 : columns[place][at];
  }

  /** The slot of the field at {@code place}, or -1. */
  int slot(int place) {
    return slots[place];
  }
}
