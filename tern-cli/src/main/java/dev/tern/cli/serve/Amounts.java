package dev.tern.cli.serve;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Sizes and times of options. */
final class Amounts {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,12})([kmg]?)");
  private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s|m)");

  private Amounts() {}

  /** Bytes, as in {@code 8m} for 8 MiB. */
  static final class Bytes implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      Matcher match = SIZE.matcher(text.toLowerCase(Locale.ROOT));
      if (!match.matches()) {
        throw new TypeConversionException("got " + text + ", expected bytes, as in 512k or 8m");
      }
      int shift =
          switch (match.group(2)) {
            case "k" -> 10;
            case "m" -> 20;
            case "g" -> 30;
            default -> 0;
          };
      long count = Long.parseLong(match.group(1));
      return count > Long.MAX_VALUE >> shift ? Long.MAX_VALUE : count << shift;
    }
  }

  /**
   * The most bytes of a model.
   *
   * @param model its name, or its name and label as in {@code ads@canary}; empty for all models
   */
  record Limit(String model, long bytes) {
    boolean isOf(ServedName served) {
      return model.equals(served.name()) || model.equals(served.name() + "@" + served.label());
    }
  }

  /** Bytes of all models, as in {@code 4g}, or of one, as in {@code ads=4g}. */
  static final class Limits implements ITypeConverter<Limit> {
    @Override
    public Limit convert(String text) {
      int end = text.lastIndexOf('=');
      return end <= 0
          ? new Limit("", new Bytes().convert(text))
          : new Limit(text.substring(0, end), new Bytes().convert(text.substring(end + 1)));
    }
  }

  /** A time, as in {@code 100ms}, {@code 5s} or {@code 2m}. */
  static final class Time implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
      Matcher match = TIME.matcher(text.toLowerCase(Locale.ROOT));
      if (!match.matches()) {
        throw new TypeConversionException("got " + text + ", expected a time, as in 100ms or 5s");
      }
      long count = Long.parseLong(match.group(1));
      return switch (match.group(2)) {
        case "ms" -> Duration.ofMillis(count);
        case "s" -> Duration.ofSeconds(count);
        default -> Duration.ofMinutes(count);
      };
    }
  }
}
