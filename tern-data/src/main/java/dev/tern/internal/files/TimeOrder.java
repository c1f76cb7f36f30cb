package dev.tern.internal.files;

import dev.tern.data.encode.TimeParser;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Values of a column as longs that compare as the values do: numbers of any size, or times as
 * {@link TimeParser} reads them. The first value settles which of the two a column holds, as one
 * does not compare with the other. Thread-safe.
 */
public final class TimeOrder {
  /** What a value is that is neither, or not what the column holds. */
  public static final long NONE = Long.MIN_VALUE;

  private static final int NUMBERS = 1;
  private static final int TIMES = 2;

  private final AtomicInteger kind = new AtomicInteger();

  /**
   * The place of {@code bytes[from, to)} in the order, or {@link #NONE}. Whole numbers beyond
   * 2<sup>53</sup> may share a place with their neighbours.
   *
   * @param numbers reads numbers
   */
  public long of(byte[] bytes, int from, int to, NumberParser numbers) {
    if (numbers.parseInteger(bytes, from, to) && (numbers.integer() >= 0 || bytes[from] == '-')) {
      return settles(NUMBERS) ? of(numbers.integer()) : NONE;
    }
    if (numbers.parseFloat(bytes, from, to)) {
      // Names of numbers end in a letter; beyond floats a number may be a double.
      boolean digits = bytes[to - 1] <= '9';
      double number =
          digits
              ? Double.parseDouble(new String(bytes, from, to - from, StandardCharsets.ISO_8859_1))
              : Double.NaN;
      return Double.isFinite(number) && settles(NUMBERS) ? of(number) : NONE;
    }
    long micros = TimeParser.parse(bytes, from, to);
    return micros != TimeParser.NONE && settles(TIMES) ? micros : NONE;
  }

  /** A long that compares with others as {@code number} does. */
  public static long of(double number) {
    long bits = Double.doubleToLongBits(number + 0.0); // -0.0 becomes 0.0
    return bits ^ bits >> 63 & Long.MAX_VALUE;
  }

  /** What values must be as the first was, for messages. */
  public String expected() {
    return switch (kind.get()) {
      case NUMBERS -> "a number as in the rows before";
      case TIMES -> "a time as in the rows before, such as 2026-01-31T08:30:00Z";
      default -> "a number or a time such as 2026-01-31T08:30:00Z";
    };
  }

  private boolean settles(int found) {
    return kind.get() == found || kind.compareAndSet(0, found) || kind.get() == found;
  }
}
