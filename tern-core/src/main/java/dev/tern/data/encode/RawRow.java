package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Fills rows of a raw batch from values by column name. Allocates nothing for a correct row, but
 * for times that are texts.
 */
record RawRow(Schema schema, List<IdEncoding> slots, Optional<RawFields> fields, RawTimes times) {
  RawRow(Schema schema, List<IdEncoding> slots, Optional<RawFields> fields) {
    this(schema, slots, fields, new RawTimes(schema));
  }

  void add(Map<String, ?> columns, Batch raw) {
    raw.abandonRow();
    int known = 0;
    for (int i = 0; i < schema.labelDim(); i++) {
      String name = schema.labels().get(i);
      Object value = columns.get(name);
      raw.setLabel(i, number(name, value));
      known += value != null || columns.containsKey(name) ? 1 : 0;
    }
    if (schema.weighted()) {
      String name = schema.weight().orElseThrow();
      Object value = columns.get(name);
      if (value != null) {
        raw.setRowWeight(number(name, value));
      }
      known += columns.containsKey(name) ? 1 : 0;
    }
    for (int i = 0; i < schema.denseDim(); i++) {
      String name = schema.dense().get(i);
      Object value = columns.get(name);
      boolean named = value != null || columns.containsKey(name);
      boolean time = !named && times.hasDense(i, columns);
      raw.setDense(i, time ? times.number(i, columns, fields) : number(name, value));
      known += named ? 1 : 0;
    }
    for (int i = 0; i < schema.slotCount(); i++) {
      String name = schema.slots().get(i).name();
      Object value = columns.get(name);
      boolean named = value != null || columns.containsKey(name);
      if (!named && times.hasSlot(i, columns)) {
        times.addId(i, columns, fields, slots.get(i).text(), raw);
      } else {
        addIds(i, value, raw);
      }
      known += named ? 1 : 0;
    }
    for (int i = 0; i < times.sources().size(); i++) {
      known += columns.containsKey(times.sources().get(i)) ? 1 : 0;
    }
    if (known < columns.size()) {
      refuseUnknown(columns);
    }
    raw.endRow();
  }

  private static float number(String column, @Nullable Object value) {
    return switch (value) {
      case null -> Float.NaN;
      case Number number -> number.floatValue();
      default -> throw wrong(column, value, "a number, or nothing where it is missing");
    };
  }

  private void addIds(int slot, @Nullable Object value, Batch raw) {
    Slot column = schema.slots().get(slot);
    boolean text = slots.get(slot).text();
    if (value instanceof Map<?, ?> weights && column.weighted()) {
      if (column.hotness() > 0 && weights.size() != column.hotness()) {
        throw wrong(column.name(), weights, column.hotness() + " values");
      }
      weights.forEach((key, weight) ->
          raw.addId(slot, id(column.name(), text, key), number(column.name(), weight)));
    } else if (value instanceof String field && fields.isPresent() && column.hotness() <= 1) {
      addField(slot, field, fields.get(), raw);
    } else if (value instanceof List<?> list) {
      if (column.hotness() == 1 && list.size() != 1) {
        throw wrong(column.name(), list, "one value");
      }
      if (column.hotness() > 1 && list.size() != column.hotness()) {
        throw wrong(column.name(), list, column.hotness() + " values");
      }
      for (int i = 0; i < list.size(); i++) {
        raw.addId(slot, id(column.name(), text, list.get(i)));
      }
    } else if (value != null) {
      if (column.hotness() > 1) {
        throw wrong(column.name(), value, "a list of " + column.hotness() + " values");
      }
      raw.addId(slot, id(column.name(), text, value));
    } else if (column.hotness() > 1) {
      throw new IllegalArgumentException(
          "column %s: got nothing, expected a list of %d values"
              .formatted(column.name(), column.hotness()));
    } else if (text && column.hotness() == 1) {
      raw.addId(slot, TextHash.EMPTY);
    }
  }

  /** Adds what a field of a file holds, as the reader of the training rows took it. */
  private void addField(int slot, String written, RawFields how, Batch raw) {
    Slot column = schema.slots().get(slot);
    String field = how.field(written);
    if (!slots.get(slot).text()) {
      if (!field.isEmpty() && !how.addIntegers(slot, field, raw)) {
        throw wrong(column.name(), written, "integers of 64 bits");
      }
    } else if (!how.splits(slot)) {
      raw.addId(slot, TextHash.of(field));
    } else if (!field.isEmpty()) {
      how.addTexts(slot, field, raw);
    }
  }

  private static long id(String column, boolean text, @Nullable Object value) {
    return switch (value) {
      case String string when text -> TextHash.of(string);
      case Long number -> integer(text, number);
      case Integer number -> integer(text, number);
      case Short number -> integer(text, number);
      case Byte number -> integer(text, number);
      case null, default -> throw wrong(column, value, text ? "a text" : "an integer of 64 bits");
    };
  }

  private static long integer(boolean text, long value) {
    return text ? TextHash.ofInteger(value) : value;
  }

  static IllegalArgumentException wrong(String column, @Nullable Object value, String expected) {
    String type = value == null ? "" : " of type " + value.getClass().getSimpleName();
    String shown = String.valueOf(value);
    if (shown.length() > 60) {
      shown = shown.substring(0, 57) + "...";
    }
    return new IllegalArgumentException(
        "column %s: got %s%s, expected %s".formatted(column, shown, type, expected));
  }

  private void refuseUnknown(Map<String, ?> columns) {
    NavigableSet<String> unknown = new TreeSet<>(columns.keySet());
    schema.labels().forEach(unknown::remove);
    schema.weight().ifPresent(unknown::remove);
    schema.dense().forEach(unknown::remove);
    schema.slotNames().forEach(unknown::remove);
    times.sources().forEach(unknown::remove);
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "column %s: got a value for it, expected only %s, %s%s and labels %s; leave it out"
              .formatted(
                  unknown.first(),
                  schema.dense(),
                  schema.slotNames(),
                  times.sources().isEmpty() ? "" : ", times " + times.sources(),
                  schema.labels()));
    }
  }
}
