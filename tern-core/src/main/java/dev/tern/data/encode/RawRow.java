package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Fills rows of a raw batch from values by column name, with a {@link RowFiller}. Allocates nothing
 * for a correct row, if one thread at a time asks for it. Thread-safe.
 */
final class RawRow {
  private final RowRoles columns;
  private final Optional<RawFields> fields;

  /** A filler that nobody uses. */
  private final AtomicReference<@Nullable RowFiller> spare = new AtomicReference<>();

  RawRow(Schema schema, List<IdEncoding> slots, Optional<RawFields> fields) {
    columns = new RowRoles(schema, slots);
    this.fields = fields;
  }

  RowFiller filler() {
    return new RowFiller(columns, fields);
  }

  void add(Map<String, ?> row, Batch raw) {
    RowFiller taken = spare.getAndSet(null);
    RowFiller filler = taken == null ? filler() : taken;
    filler.beginAlone(raw);
    try {
      add(row, filler);
    } finally {
      filler.release();
      spare.set(filler);
    }
  }

  private void add(Map<String, ?> row, RowFiller filler) {
    int known = 0;
    for (int column = 0; column < columns.count(); column++) {
      String name = columns.name(column);
      Object value = row.get(name);
      if (value != null || row.containsKey(name)) {
        set(column, value, filler);
        known++;
      }
    }
    if (known < row.size()) {
      refuseUnknown(row);
    }
    filler.endRow();
  }

  private void set(int column, @Nullable Object value, RowFiller filler) {
    if (value == null) {
      filler.setMissing(column);
    } else if (columns.isNumber[column]) {
      setNumber(column, value, filler);
    } else if (columns.slot[column] >= 0) {
      setSlot(column, columns.slot[column], value, filler);
    } else {
      setTime(column, value, filler);
    }
  }

  private void setNumber(int column, Object value, RowFiller filler) {
    if (!(value instanceof Number number) || columns.slot[column] >= 0 && !isInteger(value)) {
      throw wrong(columns.name(column), value, "a number, or nothing where it is missing");
    }
    if (isInteger(value)) {
      filler.setInteger(column, number.longValue());
    } else {
      boolean binary = number instanceof Double || number instanceof Float;
      filler.setNumber(column, binary ? number.doubleValue() : number.floatValue());
    }
  }

  private void setSlot(int column, int slot, Object value, RowFiller filler) {
    String name = columns.name(column);
    int hotness = columns.hotness[slot];
    boolean weighted = columns.schema.slots().get(slot).weighted();
    switch (value) {
      case Map<?, ?> weights when weighted -> {
        requireSize(name, weights, weights.size(), hotness);
        filler.beginList(column);
        weights.forEach((key, weight) -> {
          addId(column, key, filler);
          filler.addWeight(number(name, weight));
        });
        filler.endList();
      }
      case List<?> list -> {
        requireSize(name, list, list.size(), hotness);
        filler.beginList(column);
        for (int i = 0; i < list.size(); i++) {
          addId(column, list.get(i), filler);
        }
        filler.endList();
      }
      default -> {
        if (hotness > 1) {
          throw wrong(name, value, "a list of " + hotness + " values");
        }
        if (value instanceof String text && (columns.text[slot] || fields.isPresent())) {
          filler.setText(column, text);
        } else if (isInteger(value)) {
          filler.setInteger(column, ((Number) value).longValue());
        } else {
          throw wrong(name, value, columns.text[slot] ? "a text" : "an integer of 64 bits");
        }
      }
    }
  }

  private static void requireSize(String column, Object values, int size, int hotness) {
    if (hotness > 0 && size != hotness) {
      throw wrong(column, values, hotness == 1 ? "one value" : hotness + " values");
    }
  }

  private void addId(int column, @Nullable Object value, RowFiller filler) {
    boolean text = columns.text[columns.slot[column]];
    if (value instanceof String string && text) {
      filler.addText(string);
    } else if (value instanceof Number number && isInteger(value)) {
      filler.addInteger(number.longValue());
    } else {
      throw wrong(columns.name(column), value, text ? "a text" : "an integer of 64 bits");
    }
  }

  private static float number(String column, @Nullable Object value) {
    return switch (value) {
      case null -> Float.NaN;
      case Number number -> number.floatValue();
      default -> throw wrong(column, value, "a number, or nothing where it is missing");
    };
  }

  private void setTime(int column, Object value, RowFiller filler) {
    switch (value) {
      case String text -> filler.setText(column, text);
      case Double number -> filler.setNumber(column, number);
      case Float number -> filler.setNumber(column, number);
      case Number number -> filler.setInteger(column, number.longValue());
      default -> filler.setTime(column, TimePart.micros(value), value);
    }
  }

  private static boolean isInteger(Object value) {
    return value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte;
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

  private void refuseUnknown(Map<String, ?> row) {
    NavigableSet<String> unknown = new TreeSet<>(row.keySet());
    unknown.removeIf(name -> columns.find(name) >= 0);
    if (!unknown.isEmpty()) {
      throw columns.unknown(unknown.first());
    }
  }
}
