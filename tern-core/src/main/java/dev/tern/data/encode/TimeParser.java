package dev.tern.data.encode;

import java.nio.charset.StandardCharsets;

/**
 * Times as microseconds since 1970-01-01T00:00Z, from text or numbers, with no object a value.
 *
 * <p>Text is as ISO 8601 has it: {@code 2026-01-31} or {@code 20260131}; then perhaps {@code T} or
 * a space and {@code 08}, {@code 08:30}, {@code 08:30:00} or {@code 083000}, seconds with up to 9
 * digits behind a point or comma; then perhaps {@code Z}, {@code UTC}, {@code GMT} or an offset up
 * to 18 hours, {@code +01}, {@code +01:00} or {@code +0100}. Years are 0000 to 9999. A time without
 * a zone is one of UTC. Days and hours that do not exist are no time, nor are 24:00 and leap
 * seconds. Nanoseconds are cut to the microsecond within which they lie.
 *
 * <p>A number, in text or not, counts by its size from 1970 on: seconds below 10<sup>11</sup>
 * (until the year 5138), milliseconds below 10<sup>14</sup>, microseconds below 10<sup>17</sup>,
 * else nanoseconds. But a whole number of 8 or 14 digits whose first four are a year from 1900 to
 * 2100 is a day or second: {@code 20260131}, {@code 20260131083000}.
 */
public final class TimeParser {
  /** What no time is. */
  public static final long NONE = Long.MIN_VALUE;

  /** Microseconds of a second, an hour and a day. */
  static final long SECOND = 1_000_000;

  static final long HOUR = 3_600 * SECOND;
  static final long DAY = 24 * HOUR;

  private static final long MILLISECONDS = 100_000_000_000L;
  private static final long MICROSECONDS = 1_000 * MILLISECONDS;
  private static final long NANOSECONDS = 1_000 * MICROSECONDS;
  private static final int MOST_DIGITS = 18;
  private static final int OFFSET_HOURS = 18;
  private static final int FIRST_YEAR = 1900;
  private static final int LAST_YEAR = 2100;
  private static final long CLOCK = 1_000_000;
  private static final long FIRST_DATE = 10_000L * FIRST_YEAR;
  private static final long END_DATE = 10_000L * (LAST_YEAR + 1);

  private TimeParser() {}

  /** The time that {@code text} holds, or {@link #NONE}. */
  public static long parse(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return parse(bytes, 0, bytes.length);
  }

  /** The time that all of {@code text[from, to)} are, or {@link #NONE}. */
  public static long parse(byte[] text, int from, int to) {
    return isDate(text, from, to) ? iso(text, from, to) : number(text, from, to);
  }

  /** Whether the text is a date and perhaps a time, written with signs between them. */
  private static boolean isDate(byte[] text, int from, int to) {
    int length = to - from;
    return length >= 10 && text[from + 4] == '-' || length >= 11 && separates(text[from + 8]);
  }

  private static boolean separates(byte value) {
    return value == 'T' || value == 't' || value == ' ';
  }

  private static long iso(byte[] text, int from, int to) {
    boolean extended = text[from + 4] == '-';
    int year = digits(text, from, to, 4);
    int month = digits(text, from + (extended ? 5 : 4), to, 2);
    int day = digits(text, from + (extended ? 8 : 6), to, 2);
    if (extended && text[from + 7] != '-') {
      return NONE;
    }
    long midnight = midnight(year, month, day);
    int clock = from + (extended ? 10 : 8);
    if (midnight == NONE || clock == to) {
      return midnight;
    }
    return separates(text[clock]) ? clock(text, clock + 1, to, midnight) : NONE;
  }

  /** The time of the day that {@code [from, to)} are and its zone, from {@code midnight} on. */
  private static long clock(byte[] text, int from, int to, long midnight) {
    int hour = digits(text, from, to, 2);
    int minute = 0;
    int second = 0;
    long fraction = 0;
    int p = from + 2;
    boolean colons = p < to && text[p] == ':';
    int gap = colons ? 1 : 0;
    if (colons || isDigit(text, p, to)) {
      minute = digits(text, p + gap, to, 2);
      p += gap + 2;
      if (p < to && (colons ? text[p] == ':' : isDigit(text, p, to))) {
        second = digits(text, p + gap, to, 2);
        p += gap + 2;
        if (p < to && (text[p] == '.' || text[p] == ',')) {
          int end = digitsEnd(text, p + 1, to);
          if (end == p + 1 || end - p > 10) {
            return NONE;
          }
          fraction = fraction(text, p + 1, end);
          p = end;
        }
      }
    }
    long offset = offset(text, p, to);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
      return NONE;
    }
    return offset == NONE
        ? NONE
        : midnight + hour * HOUR + (60L * minute + second) * SECOND + fraction - offset;
  }

  /** Microseconds by which a zone is ahead of UTC; {@link #NONE} where the text is no zone. */
  private static long offset(byte[] text, int from, int to) {
    if (from >= to) {
      return from == to ? 0 : NONE;
    }
    int p = text[from] == ' ' ? from + 1 : from;
    if (p == to) {
      return NONE;
    }
    if (text[p] != '+' && text[p] != '-') {
      return isUtc(text, p, to) ? 0 : NONE;
    }
    int hours = digits(text, p + 1, to, 2);
    int minutes = 0;
    if (to > p + 3) {
      int colon = text[p + 3] == ':' ? 1 : 0;
      minutes = to == p + 5 + colon ? digits(text, p + 3 + colon, to, 2) : -1;
    }
    boolean valid = hours >= 0 && minutes >= 0 && minutes < 60;
    int all = 60 * hours + minutes;
    if (!valid || all > 60 * OFFSET_HOURS) {
      return NONE;
    }
    return (text[p] == '-' ? -60L : 60L) * all * SECOND;
  }

  private static boolean isUtc(byte[] text, int from, int to) {
    return switch (to - from) {
      case 1 -> text[from] == 'Z' || text[from] == 'z';
      case 3 ->
          text[from] == 'U' && text[from + 1] == 'T' && text[from + 2] == 'C'
              || text[from] == 'G' && text[from + 1] == 'M' && text[from + 2] == 'T';
      default -> false;
    };
  }

  /** The number that {@code count} digits at {@code from} are; -1 where they are not. */
  private static int digits(byte[] text, int from, int to, int count) {
    if (from + count > to) {
      return -1;
    }
    int value = 0;
    for (int p = from; p < from + count; p++) {
      if (!isDigit(text, p, to)) {
        return -1;
      }
      value = 10 * value + text[p] - '0';
    }
    return value;
  }

  private static boolean isDigit(byte[] text, int at, int to) {
    return at < to && text[at] >= '0' && text[at] <= '9';
  }

  private static int digitsEnd(byte[] text, int from, int to) {
    int p = from;
    while (isDigit(text, p, to)) {
      p++;
    }
    return p;
  }

  /** The microseconds that the digits {@code [from, to)} behind the point of seconds are. */
  private static long fraction(byte[] text, int from, int to) {
    long value = 0;
    for (int i = 0; i < 6; i++) {
      value = 10 * value + (from + i < to ? text[from + i] - '0' : 0);
    }
    return value;
  }

  /** The first microsecond of a day; {@link #NONE} where there is no such day. */
  private static long midnight(int year, int month, int day) {
    boolean exists = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= days(year, month);
    return exists ? days(year, month, day) * DAY : NONE;
  }

  private static int days(int year, int month) {
    return switch (month) {
      case 2 -> year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
      case 4, 6, 9, 11 -> 30;
      default -> 31;
    };
  }

  /**
   * Days since 1970-01-01. Years are taken to begin in March, so that the leap day is their last
   * (Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil).
   */
  private static long days(int year, int month, int day) {
    long marchYear = month <= 2 ? year - 1L : year;
    long era = Math.floorDiv(marchYear, 400);
    long yearOfEra = marchYear - 400 * era;
    long dayOfYear = (153L * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    long dayOfEra = 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return 146_097 * era + dayOfEra - 719_468;
  }

  /** The time that a number in text is; an exponent takes the way of the JDK's parser. */
  private static long number(byte[] text, int from, int to) {
    boolean signed = from < to && (text[from] == '-' || text[from] == '+');
    int first = signed ? from + 1 : from;
    int point = digitsEnd(text, first, to);
    if (point == first) {
      return NONE;
    }
    boolean negative = text[from] == '-';
    if (point == to && to - first <= MOST_DIGITS) {
      long value = whole(text, first, to);
      return ofNumber(negative ? -value : value);
    }
    int end = point < to && text[point] == '.' ? digitsEnd(text, point + 1, to) : point;
    if (end < to && !isExponent(text, end, to)) {
      return NONE;
    }
    long value = point - first <= MOST_DIGITS ? whole(text, first, point) : MILLISECONDS;
    if (end == to && value < MILLISECONDS && !isZeros(text, point + 1, end)) {
      // To the microsecond; what is cut off a negative number makes it earlier.
      boolean cut = end - point > 7 && !isZeros(text, point + 7, end);
      long micros = value * SECOND + fraction(text, point + 1, end);
      return negative ? -micros - (cut ? 1 : 0) : micros;
    }
    return ofNumber(
        Double.parseDouble(new String(text, from, to - from, StandardCharsets.ISO_8859_1)));
  }

  private static boolean isExponent(byte[] text, int from, int to) {
    if (text[from] != 'e' && text[from] != 'E') {
      return false;
    }
    boolean signed = from + 1 < to && (text[from + 1] == '-' || text[from + 1] == '+');
    int first = signed ? from + 2 : from + 1;
    return first < to && digitsEnd(text, first, to) == to;
  }

  private static boolean isZeros(byte[] text, int from, int to) {
    int p = from;
    while (p < to && text[p] == '0') {
      p++;
    }
    return p >= to;
  }

  private static long whole(byte[] text, int from, int to) {
    long value = 0;
    for (int p = from; p < to; p++) {
      value = 10 * value + text[p] - '0';
    }
    return value;
  }

  /** The time that {@code number} is by its size, or {@link #NONE}. */
  public static long ofNumber(long number) {
    if (number >= FIRST_DATE && number < END_DATE) {
      return written((int) number, 0);
    }
    if (number >= FIRST_DATE * CLOCK && number < END_DATE * CLOCK) {
      return written((int) (number / CLOCK), (int) (number % CLOCK));
    }
    long size = number == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(number);
    if (size < MILLISECONDS) {
      return number * SECOND;
    }
    if (size < MICROSECONDS) {
      return number * 1_000;
    }
    return size < NANOSECONDS ? number : Math.floorDiv(number, 1_000);
  }

  /** The time of the digits yyyyMMdd and HHmmss; {@link #NONE} where there is none. */
  private static long written(int date, int clock) {
    long midnight = midnight(date / 10_000, date / 100 % 100, date % 100);
    if (midnight == NONE || clock >= 240_000 || clock / 100 % 100 > 59 || clock % 100 > 59) {
      return NONE;
    }
    return midnight + clock / 10_000 * HOUR + (clock / 100 % 100 * 60L + clock % 100) * SECOND;
  }

  /**
   * The time that {@code number} is by its size, to the nearest microsecond, or {@link #NONE} where
   * it is no number or beyond 64 bits.
   */
  public static long ofNumber(double number) {
    if (!(Math.abs(number) < 0x1p63)) {
      return NONE;
    }
    if (number == Math.rint(number)) {
      return ofNumber((long) number);
    }
    double size = Math.abs(number);
    if (size < MILLISECONDS) {
      return Math.round(number * SECOND);
    }
    return size < MICROSECONDS ? Math.round(number * 1_000) : Math.round(number);
  }
}
