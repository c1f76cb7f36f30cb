package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TimeParserTest {
  private static final long FIRST = Instant.parse("0000-01-01T00:00:00Z").getEpochSecond();
  private static final long LAST = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();

  private static long micros(OffsetDateTime time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time.toInstant());
  }

  private static OffsetDateTime random(SplittableRandom random) {
    ZoneOffset zone = ZoneOffset.ofTotalSeconds(60 * random.nextInt(-18 * 60, 18 * 60 + 1));
    long second = random.nextLong(FIRST + 100_000, LAST - 100_000);
    return Instant.ofEpochSecond(second, random.nextInt(1_000_000) * 1_000L).atOffset(zone);
  }

  @Test
  void textIsTheTimeThatJavaTimeTakesItFor() {
    SplittableRandom random = new SplittableRandom(1);
    DateTimeFormatter basic =
        DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss.SSSSSSXX", Locale.ROOT);
    DateTimeFormatter spaced =
        DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSSxxx", Locale.ROOT);
    for (int i = 0; i < 200_000; i++) {
      OffsetDateTime time = random(random);
      long expected = micros(time);
      assertThat(TimeParser.parse(DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(time)))
          .isEqualTo(expected);
      assertThat(TimeParser.parse(spaced.format(time))).isEqualTo(expected);
      assertThat(TimeParser.parse(basic.format(time))).isEqualTo(expected);
      LocalDate date = time.toLocalDate();
      assertThat(TimeParser.parse(date.toString())).isEqualTo(date.toEpochDay() * TimeParser.DAY);
    }
  }

  @Test
  void partsAreThoseOfJavaTime() {
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 200_000; i++) {
      OffsetDateTime time = random(random).withOffsetSameInstant(ZoneOffset.UTC);
      long micros = micros(time);
      int hour = time.getHour();
      int weekday = time.getDayOfWeek().getValue();
      assertThat(TimePart.YEAR.whole(micros)).isEqualTo(time.getYear());
      assertThat(TimePart.MONTH.whole(micros)).isEqualTo(time.getMonthValue());
      assertThat(TimePart.DAY.whole(micros)).isEqualTo(time.getDayOfMonth());
      assertThat(TimePart.WEEKDAY.whole(micros)).isEqualTo(weekday);
      assertThat(TimePart.HOUR.whole(micros)).isEqualTo(hour);
      assertThat(TimePart.HOUR_OF_WEEK.whole(micros)).isEqualTo(24L * (weekday - 1) + hour);
      assertThat(TimePart.DAYS.whole(micros)).isEqualTo(time.toLocalDate().toEpochDay());
      assertThat(TimePart.SECONDS.whole(micros)).isEqualTo(time.toEpochSecond());
      assertThat(TimePart.HOUR.number(micros)).isEqualTo(hour);
    }
    assertThat(TimePart.DAYS.number(TimeParser.parse("1970-01-03T18:00"))).isEqualTo(2.75f);
  }

  @Test
  void everyDayOfFourHundredYearsIsOne() {
    for (LocalDate day = LocalDate.of(1899, 12, 31); day.getYear() < 2300; day = day.plusDays(1)) {
      assertThat(TimeParser.parse(day.toString())).isEqualTo(day.toEpochDay() * TimeParser.DAY);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2026-01-31, 2026-01-31T00:00:00Z",
    "20260131, 2026-01-31T00:00:00Z",
    "20260131083000, 2026-01-31T08:30:00Z",
    "20260131T0830, 2026-01-31T08:30:00Z",
    "20260131 08, 2026-01-31T08:00:00Z",
    "2026-01-31T08, 2026-01-31T08:00:00Z",
    "2026-01-31t08:30z, 2026-01-31T08:30:00Z",
    "2026-01-31 08:30:00 UTC, 2026-01-31T08:30:00Z",
    "2026-01-31 08:30:00GMT, 2026-01-31T08:30:00Z",
    "2026-01-31 08:30:00+00, 2026-01-31T08:30:00Z",
    "2026-01-31T01:30:00+02:00, 2026-01-30T23:30:00Z",
    "2026-01-31T23:30-0130, 2026-02-01T01:00:00Z",
    "2026-01-31T08:30:00.5, 2026-01-31T08:30:00.5Z",
    "'2026-01-31T08:30:00,000001', 2026-01-31T08:30:00.000001Z",
    "2026-01-31T08:30:00.123456789, 2026-01-31T08:30:00.123456Z",
    "2024-02-29, 2024-02-29T00:00:00Z",
    "0000-02-29, 0000-02-29T00:00:00Z",
    "9999-12-31T23:59:59.999999Z, 9999-12-31T23:59:59.999999Z",
    "0, 1970-01-01T00:00:00Z",
    "-1, 1969-12-31T23:59:59Z",
    "1769848200, 2026-01-31T08:30:00Z",
    "1769848200123, 2026-01-31T08:30:00.123Z",
    "1769848200123456, 2026-01-31T08:30:00.123456Z",
    "1769848200123456789, 2026-01-31T08:30:00.123456Z",
    "+1769848200.25, 2026-01-31T08:30:00.25Z",
    "1769848200., 2026-01-31T08:30:00Z",
    "-0.0000001, 1969-12-31T23:59:59.999999Z",
    "1.7698482E9, 2026-01-31T08:30:00Z",
    "1.769848200123E12, 2026-01-31T08:30:00.123Z",
    "-1769848200123456789, 1913-12-01T15:29:59.876543Z"
  })
  void timesAreWrittenInManyWays(String text, Instant expected) {
    assertThat(TimeParser.parse(text))
        .isEqualTo(ChronoUnit.MICROS.between(Instant.EPOCH, expected));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-",
        "+",
        ".",
        "T",
        "abc",
        "NA",
        "nan",
        "inf",
        "1e",
        "1e+",
        "1.5x",
        "0x10",
        "1_000",
        "2026-1-31",
        "2026-01",
        "2026-13-01",
        "2026-00-01",
        "2026-02-29",
        "2026-04-31",
        "1900-02-29",
        "2026-01-00",
        "2026-01-32",
        "2026/01/31",
        "2026-01-31T",
        "2026-01-31 ",
        "2026-01-31Z",
        "2026-01-31T24:00",
        "2026-01-31T08:60",
        "2026-01-31T08:30:60",
        "2026-01-31T8:30",
        "2026-01-31T08:3",
        "2026-01-31T08:30:",
        "2026-01-31T08:30:0",
        "2026-01-31T08:30:00.",
        "2026-01-31T08:30:00.1234567890",
        "2026-01-31T08:30:00+",
        "2026-01-31T08:30:00+1",
        "2026-01-31T08:30:00+19:00",
        "2026-01-31T08:30:00+18:01",
        "2026-01-31T08:30:00+01:60",
        "2026-01-31T08:30:00+01:",
        "2026-01-31T08:30:00 ",
        "2026-01-31T08:30:00  Z",
        "2026-01-31T08:30:00ZZ",
        "2026-01-31T08:30:00 CET",
        "2026-01-31T08:30:00[Europe/Berlin]",
        "2026-01-31T0830:00x",
        "-2026-01-31",
        "+12026-01-31",
        "31.01.2026",
        "01/31/2026",
        "Jan 31, 2026",
        "２０２６-01-31",
        "2026\u221201-31",
        "1e30",
        "1e999",
        "99999999999999999999",
        "2026-01-31T08:30:00.5.5",
        "20260231",
        "20260131240000",
        "20260131086000"
      })
  void whatIsNoTimeIsRefused(String text) {
    assertThat(TimeParser.parse(text)).isEqualTo(TimeParser.NONE);
  }

  @Test
  void anyBytesEndInATimeOrNone() {
    SplittableRandom random = new SplittableRandom(3);
    byte[] alphabet = "0123456789-+:.,TtZz UGMC eE\0é".getBytes(StandardCharsets.UTF_8);
    byte[] bytes = new byte[64];
    for (int i = 0; i < 1_000_000; i++) {
      int length = random.nextInt(40);
      for (int k = 0; k < length; k++) {
        bytes[k] = alphabet[random.nextInt(alphabet.length)];
      }
      if (random.nextBoolean()) {
        byte[] sound = "2026-01-31T08:30:00.5+01:00".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(sound, 0, bytes, 0, random.nextInt(sound.length));
      }
      TimeParser.parse(bytes, 0, length);
    }
  }

  static Stream<Arguments> times() {
    Instant instant = Instant.parse("2026-01-31T08:30:00.5Z");
    long micros = TimeParser.parse("2026-01-31T08:30:00.5Z");
    long midnight = TimeParser.parse("2026-01-31");
    return Stream.of(
        arguments(instant, micros),
        arguments(LocalDateTime.ofInstant(instant, ZoneOffset.UTC), micros),
        arguments(instant.atOffset(ZoneOffset.ofHours(3)), micros),
        arguments(ZonedDateTime.ofInstant(instant, ZoneOffset.ofHours(-3)), micros),
        arguments(LocalDate.of(2026, 1, 31), midnight),
        arguments("2026-01-31T09:30:00.5+01:00", micros),
        arguments(1_769_848_200.5, micros),
        arguments(1_769_848_200_500L, micros),
        arguments(20_260_131, midnight),
        arguments(Double.NaN, TimeParser.NONE),
        arguments(Instant.MAX, TimeParser.NONE),
        arguments(true, TimeParser.NONE));
  }

  @ParameterizedTest
  @MethodSource("times")
  void timesOfJavaAreTimes(Object time, long expected) {
    assertThat(TimePart.micros(time)).isEqualTo(expected);
  }

  @Test
  void aNameThatEndsInAPartAsksForIt() {
    assertThat(TimePart.of("t@hour")).contains(TimePart.HOUR);
    assertThat(TimePart.of("a@b@hour_of_week")).contains(TimePart.HOUR_OF_WEEK);
    assertThat(TimePart.source("a@b@hour_of_week")).isEqualTo("a@b");
    assertThat(TimePart.of("t")).isEmpty();
    assertThat(TimePart.of("@hour")).isEmpty();
    assertThat(TimePart.of("t@HOUR")).isEmpty();
    assertThat(TimePart.of("t@minute")).isEmpty();
  }
}
