package dev.tern.files.parquet;

import java.time.LocalDate;

/** Days and times as ISO 8601 text, without a String for any. */
final class ParquetTimes {
  /** Bytes that the longest text takes, with some to spare. */
  static final int LONGEST = 64;

  /** Microseconds of a day. */
  static final long DAY = 86_400_000_000L;

  private static final int NANOS = 1_000_000_000;
  private static final long DAY_SECONDS = 86_400;

  private ParquetTimes() {}

  /** Prints {@code value} of {@code type}, a day or time, from the start of {@code out}. */
  static int print(byte[] out, ParquetType type, long value) {
    if (type.kind() == ParquetType.Kind.DATE) {
      return printDate(out, value);
    }
    long second = type.second();
    int nanos = (int) (Math.floorMod(value, second) * (NANOS / second));
    return type.kind() == ParquetType.Kind.TIME
        ? printClock(out, 0, Math.floorDiv(value, second), nanos)
        : printInstant(out, Math.floorDiv(value, second), nanos, type.utc());
  }

  /** Prints an instant, such as 2026-01-31T08:30:00.5Z; without the Z where it is no instant. */
  static int printInstant(byte[] out, long seconds, int nanos, boolean utc) {
    int at = printDate(out, Math.floorDiv(seconds, DAY_SECONDS));
    out[at] = 'T';
    at = printClock(out, at + 1, Math.floorMod(seconds, DAY_SECONDS), nanos);
    if (utc) {
      out[at] = 'Z';
      at++;
    }
    return at;
  }

  private static int printDate(byte[] out, long days) {
    LocalDate date = LocalDate.ofEpochDay(days);
    int year = date.getYear();
    int at = 0;
    if (year < 0 || year > 9999) {
      out[0] = (byte) (year < 0 ? '-' : '+');
      at = 1;
    }
    at = printDigits(out, at, Math.abs((long) year), 4);
    out[at] = '-';
    at = printDigits(out, at + 1, date.getMonthValue(), 2);
    out[at] = '-';
    return printDigits(out, at + 1, date.getDayOfMonth(), 2);
  }

  /** Prints 08:30:00, with as many digits of the second as it takes. */
  private static int printClock(byte[] out, int from, long seconds, int nanos) {
    int at = from;
    long left = seconds;
    int fraction = nanos;
    if (seconds < 0) {
      out[at] = '-';
      at++;
      left = nanos == 0 ? -seconds : -seconds - 1;
      fraction = nanos == 0 ? 0 : NANOS - nanos;
    }
    at = printDigits(out, at, left / 3600, 2);
    out[at] = ':';
    at = printDigits(out, at + 1, left / 60 % 60, 2);
    out[at] = ':';
    at = printDigits(out, at + 1, left % 60, 2);
    if (fraction == 0) {
      return at;
    }
    out[at] = '.';
    at = printDigits(out, at + 1, fraction, 9);
    while (out[at - 1] == '0') {
      at--;
    }
    return at;
  }

  /** Prints {@code value}, with zeros before it where it has fewer than {@code least} digits. */
  private static int printDigits(byte[] out, int from, long value, int least) {
    int count = 1;
    for (long rest = value / 10; rest > 0; rest /= 10) {
      count++;
    }
    int end = from + Math.max(count, least);
    long rest = value;
    for (int at = end - 1; at >= from; at--) {
      out[at] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return end;
  }
}
