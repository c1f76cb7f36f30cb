package dev.tern.data.encode;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parts of times in rows of values by column name: a row without a value for {@code t@hour} may
 * have the time as {@code t}. What becomes of it is what readers of files make of the column.
 */
final class RawTimes {
  private static final String EXPECTED =
      "a time: an Instant, LocalDate, LocalDateTime, OffsetDateTime or ZonedDateTime, a text such"
          + " as 2026-01-31T08:30:00Z, or a number of seconds since 1970";

  private final List<Optional<Column>> dense;
  private final List<Optional<Column>> slots;
  private final List<String> sources;

  /**
   * A column that may be a part of times.
   *
   * @param source name of the column of times
   */
  private record Column(TimePart part, String source) {}

  RawTimes(Schema schema) {
    dense = schema.dense().stream().map(RawTimes::column).toList();
    slots = schema.slotNames().stream().map(RawTimes::column).toList();
    Set<String> names = new TreeSet<>();
    Stream.concat(dense.stream(), slots.stream())
        .forEach(column -> column.ifPresent(times -> names.add(times.source())));
    schema.dense().forEach(names::remove);
    schema.slotNames().forEach(names::remove);
    schema.labels().forEach(names::remove);
    sources = List.copyOf(names);
  }

  private static Optional<Column> column(String name) {
    return TimePart.of(name).map(part -> new Column(part, TimePart.source(name)));
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

  private static boolean has(Optional<Column> column, Map<String, ?> row) {
    return column.isPresent() && row.containsKey(column.get().source());
  }

  /** Dense column {@code i} of a row that has it as a time. */
  float number(int i, Map<String, ?> row, Optional<RawFields> fields) {
    Column column = dense.get(i).orElseThrow();
    Object time = present(row.get(column.source()), fields);
    return time == null ? Float.NaN : column.part().number(micros(column, time));
  }

  /** Adds the id of slot {@code i}, of texts or integers, of a row that has it as a time. */
  void addId(int i, Map<String, ?> row, Optional<RawFields> fields, boolean text, Batch raw) {
    Column column = slots.get(i).orElseThrow();
    Object time = present(row.get(column.source()), fields);
    if (time != null) {
      long whole = column.part().whole(micros(column, time));
      raw.addId(i, text ? TextHash.ofInteger(whole) : whole);
    } else if (text) {
      raw.addId(i, TextHash.EMPTY);
    }
  }

  private static long micros(Column column, Object time) {
    long micros = TimePart.micros(time);
    if (micros == TimeParser.NONE) {
      throw RawRow.wrong(column.source(), time, EXPECTED);
    }
    return micros;
  }

  /** {@code time}, a field as the reader took it, or null where it is missing. */
  private static @Nullable Object present(@Nullable Object time, Optional<RawFields> fields) {
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
