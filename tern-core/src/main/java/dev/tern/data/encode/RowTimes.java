package dev.tern.data.encode;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The times of rows being filled, of which columns are parts. A value that is no time is an error
 * only once a part is asked for: a row may have the parts themselves. One thread at a time.
 */
final class RowTimes {
  static final String EXPECTED =
      "a time: an Instant, LocalDate, LocalDateTime, OffsetDateTime or ZonedDateTime, a text such"
          + " as 2026-01-31T08:30:00Z, or a number of seconds since 1970";

  private static final long MISSING = TimeParser.NONE;
  private static final long WRONG = MISSING + 1;

  /** By source and row, in microseconds. */
  private final long[][] micros;

  /** By source, the first value that is no time. */
  private final @Nullable String[] wrong;

  RowTimes(int sources) {
    micros = new long[sources][1];
    wrong = new String[sources];
  }

  void setMissing(int source, int row) {
    put(source, row, MISSING);
  }

  /** Sets a time in microseconds; where it is none, {@code got} says what was there instead. */
  void set(int source, int row, long time, Object got) {
    boolean isTime = time != TimeParser.NONE;
    put(source, row, isTime ? time : WRONG);
    if (!isTime) {
      wrong[source] = String.valueOf(got);
    }
  }

  /** Sets a text, which a field of a file is where it is known how fields are read. */
  void setText(int source, int row, TextBytes text, Optional<RawFields> fields) {
    byte[] array = text.array();
    int from = text.from();
    int to = text.to();
    boolean missing = from == to;
    if (fields.isPresent()) {
      from = fields.get().start(array, from, to);
      to = fields.get().end(array, from, to);
      missing = from == to || fields.get().isMissing(array, from, to);
    }
    if (missing) {
      setMissing(source, row);
    } else {
      long time = TimeParser.parse(array, from, to);
      set(source, row, time, time == TimeParser.NONE ? text.shown() : "");
    }
  }

  private void put(int source, int row, long time) {
    if (row >= micros[source].length) {
      micros[source] = Arrays.copyOf(micros[source], Math.max(row + 1, 2 * row));
    }
    micros[source][row] = time;
  }

  boolean isMissing(int source, int row) {
    return micros[source][row] == MISSING;
  }

  /** Whether the value of a row is neither missing nor a time. */
  boolean isWrong(int source, int row) {
    return micros[source][row] == WRONG;
  }

  String wrong(int source) {
    return String.valueOf(wrong[source]);
  }

  long get(int source, int row) {
    return micros[source][row];
  }
}
