package dev.tern.serve.grpc;

import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/** The fields of the head of a call, and of the end of its answer. */
public final class GrpcHead {
  private static final String TYPE = "application/grpc";
  private static final int MOST_DIGITS = 8;
  private static final int MOST_SHOWN = 1_000;
  private static final String HEX = "0123456789ABCDEF";

  private GrpcHead() {}

  /**
   * Whether a field {@code Content-Type} is of gRPC in any form, be it one that {@link #reads} does
   * not take.
   */
  public static boolean isGrpc(String contentType) {
    return contentType.regionMatches(true, 0, TYPE, 0, TYPE.length());
  }

  /** Whether a field {@code Content-Type} is of messages of Protocol Buffers. */
  public static boolean reads(String contentType) {
    int end = contentType.indexOf(';');
    String type = (end < 0 ? contentType : contentType.substring(0, end)).strip();
    return type.equalsIgnoreCase(TYPE) || type.equalsIgnoreCase(TYPE + "+proto");
  }

  /** Whether messages may be compressed as a field {@code grpc-encoding} says. */
  public static boolean inflates(String encoding) {
    return switch (encoding.strip().toLowerCase(Locale.ROOT)) {
      case "", "identity", "gzip" -> true;
      default -> false;
    };
  }

  /**
   * The time that a field {@code grpc-timeout} gives a call, in nanoseconds; empty where there is
   * none. For example {@code 100m} is a tenth of a second.
   *
   * @throws RefusedException where it is no number of at most eight digits and a unit
   */
  public static OptionalLong timeout(String field) {
    if (field.isEmpty()) {
      return OptionalLong.empty();
    }
    int digits = field.length() - 1;
    TimeUnit unit =
        switch (field.charAt(digits)) {
          case 'H' -> TimeUnit.HOURS;
          case 'M' -> TimeUnit.MINUTES;
          case 'S' -> TimeUnit.SECONDS;
          case 'm' -> TimeUnit.MILLISECONDS;
          case 'u' -> TimeUnit.MICROSECONDS;
          case 'n' -> TimeUnit.NANOSECONDS;
          default -> throw wrongTimeout();
        };
    if (digits < 1 || digits > MOST_DIGITS) {
      throw wrongTimeout();
    }
    long number = 0;
    for (int i = 0; i < digits; i++) {
      char digit = field.charAt(i);
      if (digit < '0' || digit > '9') {
        throw wrongTimeout();
      }
      number = 10 * number + digit - '0';
    }
    return OptionalLong.of(Math.min(unit.toNanos(number), TimeUnit.DAYS.toNanos(365)));
  }

  private static RefusedException wrongTimeout() {
    return new RefusedException(
        400, "grpc-timeout: got another value, expected one such as 100m, of at most eight digits");
  }

  /** A message for a field {@code grpc-message}: bytes that a head may not have as {@code %XX}. */
  public static String message(String text) {
    String shown = text.length() > MOST_SHOWN ? text.substring(0, MOST_SHOWN) : text;
    StringBuilder field = new StringBuilder(shown.length() + 16);
    for (byte each : shown.getBytes(StandardCharsets.UTF_8)) {
      if (each >= ' ' && each <= '~' && each != '%') {
        field.append((char) each);
      } else {
        field.append('%').append(HEX.charAt(each >> 4 & 15)).append(HEX.charAt(each & 15));
      }
    }
    return field.toString();
  }
}
