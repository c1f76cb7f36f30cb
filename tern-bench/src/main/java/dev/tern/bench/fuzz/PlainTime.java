package dev.tern.bench.fuzz;

import dev.tern.data.encode.TimeParser;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times in text by patterns and java.time, to hold {@link TimeParser} against. */
final class PlainTime {
  private static final String CLOCK =
      "[Tt ](?<hour>\\d\\d)(?:(?<colon>:?)(?<minute>\\d\\d)"
          + "(?:\\k<colon>(?<second>\\d\\d)(?:[.,](?<fraction>\\d{1,9}))?)?)?";

  private static final String ZONE =
      " ?(?:[Zz]|UTC|GMT|(?<sign>[+-])(?<zoneHour>\\d\\d)(?::?(?<zoneMinute>\\d\\d))?)";

  private static final Pattern TIME =
      Pattern.compile(
          "(?<year>\\d{4})(?<dash>-?)(?<month>\\d\\d)\\k<dash>(?<day>\\d\\d)(?:%s(?:%s)?)?"
              .formatted(CLOCK, ZONE));

  private static final Pattern NUMBER =
      Pattern.compile("[+-]?\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d{1,3})?");

  /** Microseconds that a number may count, by its size: of seconds, milliseconds and so on. */
  private static final List<BigDecimal> UNITS =
      List.of(
          BigDecimal.valueOf(1_000_000),
          BigDecimal.valueOf(1_000),
          BigDecimal.ONE,
          new BigDecimal("0.001"));

  private PlainTime() {}

  /**
   * Throws where {@link TimeParser} finds another time in {@code text} than this does. Of a number
   * the unit is not looked at.
   */
  static void check(byte[] text) {
    long got = TimeParser.parse(text, 0, text.length);
    String characters = new String(text, StandardCharsets.ISO_8859_1);
    Matcher time = TIME.matcher(characters);
    boolean whole = characters.matches("\\d{8}");
    if (time.matches() && !whole) {
      require(got, micros(time), characters);
    } else if (!NUMBER.matcher(characters).matches()) {
      boolean long_ = characters.matches("[+-]?\\d+(\\.\\d*)?[eE][+-]?\\d{4,}");
      if (!long_) {
        require(got, TimeParser.NONE, characters);
      }
    } else if (got != TimeParser.NONE && !isDate(new BigDecimal(characters))) {
      BigDecimal number = new BigDecimal(characters);
      boolean any =
          UNITS.stream()
              .map(number::multiply)
              .anyMatch(micros ->
                  micros
                          .subtract(BigDecimal.valueOf(got))
                          .abs()
                          .compareTo(micros.abs().scaleByPowerOfTen(-14).add(BigDecimal.ONE))
                      <= 0);
      if (!any) {
        throw wrong(got, characters, "the number in a unit of time");
      }
    }
  }

  /** Whether the digits of a number are a day of the years 1900 to 2100, or a second. */
  private static boolean isDate(BigDecimal number) {
    BigDecimal first = BigDecimal.valueOf(19_000_000);
    BigDecimal end = BigDecimal.valueOf(21_010_000);
    BigDecimal days = number.scaleByPowerOfTen(-6);
    return number.compareTo(first) >= 0 && number.compareTo(end) < 0
        || days.compareTo(first) >= 0 && days.compareTo(end) < 0;
  }

  static void require(long got, long expected, String text) {
    if (got != expected) {
      throw wrong(got, text, String.valueOf(expected));
    }
  }

  private static IllegalStateException wrong(long got, String text, String expected) {
    return new IllegalStateException(
        "time: got %s for %s, expected %s".formatted(got, text, expected));
  }

  private static long micros(Matcher time) {
    try {
      LocalDate day =
          LocalDate.of(number(time, "year"), number(time, "month"), number(time, "day"));
      LocalTime clock =
          LocalTime.of(number(time, "hour"), number(time, "minute"), number(time, "second"));
      int minutes = 60 * number(time, "zoneHour") + number(time, "zoneMinute");
      if (minutes > 18 * 60 || number(time, "zoneMinute") > 59) {
        return TimeParser.NONE;
      }
      String fraction = time.group("fraction");
      String micros = ((fraction == null ? "" : fraction) + "000000").substring(0, 6);
      long offset = "-".equals(time.group("sign")) ? -60L * minutes : 60L * minutes;
      long seconds = LocalDateTime.of(day, clock).toEpochSecond(ZoneOffset.UTC) - offset;
      return seconds * 1_000_000 + Integer.parseInt(micros);
    } catch (DateTimeException e) {
      return TimeParser.NONE;
    }
  }

  private static int number(Matcher time, String group) {
    String digits = time.group(group);
    return digits == null ? 0 : Integer.parseInt(digits);
  }
}
