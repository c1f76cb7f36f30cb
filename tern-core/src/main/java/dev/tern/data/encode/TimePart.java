package dev.tern.data.encode;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A part of the times of a column. A column called {@code t@hour} is the hours of the times in
 * column {@code t}, unless there is a column of that very name. All parts are of UTC. Any part is a
 * dense number or an id.
 */
public enum TimePart {
  /** Days since 1970-01-01; a dense number has the fraction that has passed of the last, too. */
  DAYS,
  /**
   * Seconds since 1970-01-01. A dense number is a 32-bit float, which tells recent times about two
   * minutes apart.
   */
  SECONDS,
  /** Microseconds since 1970-01-01, as an id; as a dense number no more exact than seconds. */
  MICROSECONDS,
  /** 0 to 9999. */
  YEAR,
  /** 1 to 12. */
  MONTH,
  /** Of the month: 1 to 31. */
  DAY,
  /** 1, Monday, to 7. */
  WEEKDAY,
  /** Of the day: 0 to 23. */
  HOUR,
  /** Since Monday: 0 to 167. */
  HOUR_OF_WEEK;

  /** What stands between the name of a column and that of a part. */
  private static final char SIGN = '@';

  /** Days from Monday to Thursday, 1970-01-01. */
  private static final long THURSDAY = 3;

  /** The part that {@code column} asks for by the end of its name. */
  public static Optional<TimePart> of(String column) {
    int sign = column.lastIndexOf(SIGN);
    if (sign < 1) {
      return Optional.empty();
    }
    String name = column.substring(sign + 1);
    for (TimePart part : values()) {
      if (part.toString().equals(name)) {
        return Optional.of(part);
      }
    }
    return Optional.empty();
  }

  /** The column that holds the times of {@code column}, which {@link #of} knows. */
  public static String source(String column) {
    return column.substring(0, column.lastIndexOf(SIGN));
  }

  /** As it stands behind the sign. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** This part of a time in microseconds since 1970-01-01T00:00Z, as an id. */
  public long whole(long micros) {
    long day = Math.floorDiv(micros, TimeParser.DAY);
    return switch (this) {
      case DAYS -> day;
      case SECONDS -> Math.floorDiv(micros, TimeParser.SECOND);
      case MICROSECONDS -> micros;
      case YEAR -> year(day);
      case MONTH -> monthAndDay(day) / 32;
      case DAY -> monthAndDay(day) % 32;
      case WEEKDAY -> Math.floorMod(day + THURSDAY, 7) + 1;
      case HOUR -> Math.floorMod(micros, TimeParser.DAY) / TimeParser.HOUR;
      case HOUR_OF_WEEK ->
          Math.floorMod(day + THURSDAY, 7) * 24L
              + Math.floorMod(micros, TimeParser.DAY) / TimeParser.HOUR;
    };
  }

  /** This part of a time in microseconds since 1970-01-01T00:00Z, as a number. */
  public float number(long micros) {
    return switch (this) {
      case DAYS -> (float) (micros / (double) TimeParser.DAY);
      case SECONDS -> (float) (micros / (double) TimeParser.SECOND);
      default -> whole(micros);
    };
  }

  /**
   * The microseconds since 1970-01-01T00:00Z of a time as Java has it: {@link Instant}, {@link
   * LocalDate}, {@link LocalDateTime}, {@link OffsetDateTime}, {@link ZonedDateTime}, or what
   * {@link TimeParser} takes, a {@link CharSequence} or {@link Number}. {@link TimeParser#NONE}
   * where it is none.
   */
  static long micros(@Nullable Object time) {
    return switch (time) {
      case Instant instant -> micros(instant);
      case LocalDate date -> micros(date.atStartOfDay().toInstant(ZoneOffset.UTC));
      case LocalDateTime local -> micros(local.toInstant(ZoneOffset.UTC));
      case OffsetDateTime offset -> micros(offset.toInstant());
      case ZonedDateTime zoned -> micros(zoned.toInstant());
      case CharSequence text -> TimeParser.parse(text.toString());
      case Float number -> TimeParser.ofNumber(number.doubleValue());
      case Double number -> TimeParser.ofNumber(number.doubleValue());
      case Number number -> TimeParser.ofNumber(number.longValue());
      case null, default -> TimeParser.NONE;
    };
  }

  private static long micros(Instant instant) {
    try {
      return Math.addExact(
          Math.multiplyExact(instant.getEpochSecond(), TimeParser.SECOND),
          instant.getNano() / 1_000L);
    } catch (ArithmeticException e) {
      return TimeParser.NONE;
    }
  }

  private static long year(long day) {
    long era = Math.floorDiv(day + 719_468, 146_097);
    int yearOfEra = yearOfEra((int) Math.floorMod(day + 719_468, 146_097));
    boolean january = monthAndDay(day) < 3 * 32;
    return 400 * era + yearOfEra + (january ? 1 : 0);
  }

  /** Years within 400 that begin in March; inverts {@code TimeParser.days}. */
  private static int yearOfEra(int dayOfEra) {
    return (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  }

  /** 32 times the month of {@code day}, and the day of the month. */
  private static int monthAndDay(long day) {
    int dayOfEra = (int) Math.floorMod(day + 719_468, 146_097);
    int years = yearOfEra(dayOfEra);
    int dayOfYear = dayOfEra - (365 * years + years / 4 - years / 100);
    int fromMarch = (5 * dayOfYear + 2) / 153;
    int month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
    return 32 * month + dayOfYear - (153 * fromMarch + 2) / 5 + 1;
  }
}
