package dev.tern.spark;

import dev.tern.data.encode.TextHash;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.spark.ml.linalg.Vector;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What Tern should make of a value that Spark reads, written with java.time and java.math alone.
 */
final class SparkValues {
  private static final double MICROS_OF_A_DAY = 86_400e6;
  private static final DateTimeFormatter TIME =
      new DateTimeFormatterBuilder()
          .appendPattern("HH:mm:ss")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .toFormatter();

  private SparkValues() {}

  /** A dense number; NaN is missing. */
  static float number(@Nullable Object value) {
    return switch (value) {
      case null -> Float.NaN;
      case Boolean b -> b ? 1 : 0;
      case BigDecimal d -> (float) d.doubleValue();
      case Float f -> f;
      case Double d -> d.floatValue();
      case Number n -> n.longValue();
      case LocalDate d -> d.toEpochDay();
      case Instant t -> (float) (micros(t) / MICROS_OF_A_DAY);
      case LocalDateTime t -> (float) (micros(t.toInstant(ZoneOffset.UTC)) / MICROS_OF_A_DAY);
      case LocalTime t -> (float) (t.toNanoOfDay() / 1000 / MICROS_OF_A_DAY);
      default -> throw new AssertionError("no number: " + value.getClass());
    };
  }

  /** The numbers of a vector. */
  static List<Float> vector(Object value) {
    List<Float> numbers = new ArrayList<>();
    if (value instanceof Vector v) {
      for (double d : v.toArray()) {
        numbers.add((float) d);
      }
    } else {
      elements(value).forEach(e -> numbers.add(number(e)));
    }
    return numbers;
  }

  /** The ids of an integer value: none where it is missing. */
  static List<Long> id(@Nullable Object value) {
    return switch (value) {
      case null -> List.of();
      case Boolean b -> List.of(b ? 1L : 0L);
      case BigDecimal d -> List.of(d.toBigIntegerExact().longValue());
      case Double d -> Double.isNaN(d) ? List.of() : List.of(new BigDecimal(d).longValueExact());
      case Float f -> Float.isNaN(f) ? List.of() : List.of(new BigDecimal(f).longValueExact());
      case Number n -> List.of(n.longValue());
      case LocalDate d -> List.of(d.toEpochDay());
      case Instant t -> List.of(micros(t));
      case LocalDateTime t -> List.of(micros(t.toInstant(ZoneOffset.UTC)));
      case LocalTime t -> List.of(t.toNanoOfDay() / 1000);
      default -> throw new AssertionError("no id: " + value.getClass());
    };
  }

  /** The id of a text value: its hash. */
  static long text(@Nullable Object value) {
    return switch (value) {
      case null -> TextHash.of("");
      case byte[] bytes -> TextHash.of(bytes, 0, bytes.length);
      case BigDecimal d when d.signum() == 0 -> TextHash.of("0");
      case BigDecimal d -> TextHash.of(d.stripTrailingZeros().toPlainString());
      case LocalDate d -> TextHash.of(d.toString());
      case Instant t -> TextHash.of(date(t.atOffset(ZoneOffset.UTC).toLocalDateTime()) + "Z");
      case LocalDateTime t -> TextHash.of(date(t));
      case LocalTime t -> TextHash.of(TIME.format(t));
      case Double d -> TextHash.of(new BigDecimal(d).toPlainString());
      default -> TextHash.of(value.toString());
    };
  }

  /** The elements of a list, and of the lists in it; none where it is missing. */
  static List<Object> elements(@Nullable Object value) {
    List<Object> all = new ArrayList<>();
    if (value instanceof Iterable<?> list) {
      for (Object element : CollectionConverters.asJava(list)) {
        if (element instanceof Iterable<?>) {
          all.addAll(elements(element));
        } else {
          all.add(element);
        }
      }
    }
    return all;
  }

  static List<Long> ids(@Nullable Object value) {
    return elements(value).stream().flatMap(e -> id(e).stream()).toList();
  }

  static List<Long> texts(@Nullable Object value) {
    return elements(value).stream().flatMapToLong(e -> LongStream.of(text(e))).boxed().toList();
  }

  private static String date(LocalDateTime time) {
    return time.toLocalDate() + "T" + TIME.format(time);
  }

  private static long micros(Instant time) {
    return Math.addExact(
        Math.multiplyExact(time.getEpochSecond(), 1_000_000L),
        Duration.ofNanos(time.getNano()).dividedBy(ChronoUnit.MICROS.getDuration()));
  }
}
