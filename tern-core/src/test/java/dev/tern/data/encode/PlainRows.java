package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Reading;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What becomes of values by column name, written plainly: the reference of {@link RowFiller}. */
record PlainRows(
    Schema schema,
    List<IdEncoding> slots,
    Optional<PlainRows.Fields> fields,
    PlainRows.Times times) {

  PlainRows(FeatureEncoder encoder) {
    this(
        encoder.rawSchema(),
        encoder.slots(),
        encoder.reading().map(how -> new Fields(encoder.rawSchema(), how)),
        new Times(encoder.rawSchema()));
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

  private static float number(String column, Object value) {
    return switch (value) {
      case null -> Float.NaN;
      case Number number -> number.floatValue();
      default -> throw wrong(column, value, "a number, or nothing where it is missing");
    };
  }

  private void addIds(int slot, Object value, Batch raw) {
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
  private void addField(int slot, String written, Fields how, Batch raw) {
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

  private static long id(String column, boolean text, Object value) {
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

  static IllegalArgumentException wrong(String column, Object value, String expected) {
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

  static final class Fields {
    private final Reading reading;

    /** The separator of each slot; empty for one value a field. */
    private final String[] separators;

    Fields(Schema schema, Reading reading) {
      this.reading = reading;
      separators =
          schema.slotNames().stream()
              .map(name -> reading.separators().getOrDefault(name, ""))
              .toArray(String[]::new);
    }

    static Optional<Fields> of(Schema schema, Optional<Reading> reading) {
      return reading.map(known -> new Fields(schema, known));
    }

    /** Whether fields of a slot hold several values. */
    boolean splits(int slot) {
      return !separators[slot].isEmpty();
    }

    /** A field without what is dropped around it; empty where it says that it is missing. */
    String field(String text) {
      int from = 0;
      int to = text.length();
      while (from < to && isDropped(text.charAt(from))) {
        from++;
      }
      while (to > from && isDropped(text.charAt(to - 1))) {
        to--;
      }
      String field = text.substring(from, to);
      return reading.missing().contains(field) ? "" : field;
    }

    private boolean isDropped(char c) {
      return reading.trimmed().indexOf(c) >= 0;
    }

    /** Adds the texts between the separators of a field that is not empty. */
    void addTexts(int slot, String field, Batch raw) {
      String separator = separators[slot];
      for (int start = 0; start <= field.length(); ) {
        int end = field.indexOf(separator, start);
        String value = field.substring(start, end < 0 ? field.length() : end);
        if (!reading.missing().contains(value)) {
          raw.addId(slot, TextHash.of(value));
        }
        start = end < 0 ? field.length() + 1 : end + separator.length();
      }
    }

    /**
     * Adds the integers between the separators of a field that is not empty.
     *
     * @return whether all are integers of 64 bits, signed or unsigned
     */
    boolean addIntegers(int slot, String field, Batch raw) {
      String separator = separators[slot];
      for (int start = 0; start <= field.length(); ) {
        int end = separator.isEmpty() ? -1 : field.indexOf(separator, start);
        String value = field.substring(start, end < 0 ? field.length() : end);
        if (!reading.missing().contains(value)) {
          OptionalLong id = integer(value);
          if (id.isEmpty()) {
            return false;
          }
          raw.addId(slot, id.getAsLong());
        }
        start = end < 0 ? field.length() + 1 : end + separator.length();
      }
      return true;
    }

    /** The integer of 64 bits, signed or unsigned, that a text is; empty where it is none. */
    static OptionalLong integer(String text) {
      try {
        boolean negative = text.startsWith("-");
        return OptionalLong.of(negative ? Long.parseLong(text) : Long.parseUnsignedLong(text));
      } catch (NumberFormatException _) {
        return OptionalLong.empty();
      }
    }
  }

  static final class Times {
    private static final String EXPECTED =
        "a time: an Instant, LocalDate, LocalDateTime, OffsetDateTime or ZonedDateTime, a text such"
            + " as 2026-01-31T08:30:00Z, or a number of seconds since 1970";

    private final List<Optional<Part>> dense;
    private final List<Optional<Part>> slots;
    private final List<String> sources;

    /**
     * A column that may be a part of times.
     *
     * @param source name of the column of times
     */
    private record Part(TimePart part, String source) {}

    Times(Schema schema) {
      dense = schema.dense().stream().map(Times::column).toList();
      slots = schema.slotNames().stream().map(Times::column).toList();
      Set<String> names = new TreeSet<>();
      Stream.concat(dense.stream(), slots.stream())
          .forEach(column -> column.ifPresent(times -> names.add(times.source())));
      schema.dense().forEach(names::remove);
      schema.slotNames().forEach(names::remove);
      schema.labels().forEach(names::remove);
      sources = List.copyOf(names);
    }

    private static Optional<Part> column(String name) {
      return TimePart.of(name).map(part -> new Part(part, TimePart.source(name)));
    }

    /** Names of times: a row may have them though they are no columns. */
    List<String> sources() {
      return sources;
    }

    /** Whether a row has dense column {@code i} as a time. */
    boolean hasDense(int i, Map<String, ?> row) {
      return has(dense.get(i), row);
    }

    /** Whether a row has slot {@code i} as a time. */
    boolean hasSlot(int i, Map<String, ?> row) {
      return has(slots.get(i), row);
    }

    private static boolean has(Optional<Part> column, Map<String, ?> row) {
      return column.isPresent() && row.containsKey(column.get().source());
    }

    /** Dense column {@code i} of a row that has it as a time. */
    float number(int i, Map<String, ?> row, Optional<Fields> fields) {
      Part column = dense.get(i).orElseThrow();
      Object time = present(row.get(column.source()), fields);
      return time == null ? Float.NaN : column.part().number(micros(column, time));
    }

    /** Adds the id of slot {@code i}, of texts or integers, of a row that has it as a time. */
    void addId(int i, Map<String, ?> row, Optional<Fields> fields, boolean text, Batch raw) {
      Part column = slots.get(i).orElseThrow();
      Object time = present(row.get(column.source()), fields);
      if (time != null) {
        long whole = column.part().whole(micros(column, time));
        raw.addId(i, text ? TextHash.ofInteger(whole) : whole);
      } else if (text) {
        raw.addId(i, TextHash.EMPTY);
      }
    }

    private static long micros(Part column, Object time) {
      long micros = TimePart.micros(time);
      if (micros == TimeParser.NONE) {
        throw wrong(column.source(), time, EXPECTED);
      }
      return micros;
    }

    /** {@code time}, a field as the reader took it, or null where it is missing. */
    private static Object present(Object time, Optional<Fields> fields) {
      return switch (time) {
        case String text -> {
          String field = fields.isPresent() ? fields.get().field(text) : text;
          yield field.isEmpty() ? null : field;
        }
        case Double number when number.isNaN() -> null;
        case Float number when number.isNaN() -> null;
        case null, default -> time;
      };
    }
  }
}
