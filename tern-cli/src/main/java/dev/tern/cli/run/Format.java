package dev.tern.cli.run;

import dev.tern.base.Shown;
import java.nio.file.Path;
import java.util.Locale;

/** Formats numbers for people; an unknown number is a dash. */
public final class Format {
  private static final String DASH = "–";

  private Format() {}

  /** With a fixed number of decimals. */
  public static String fixed(double value, int decimals) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + decimals + "f", value) : DASH;
  }

  /** With a fixed number of decimals and its sign, + too; 0 has none. */
  public static String signed(double value, int decimals) {
    String text = fixed(Math.abs(value), decimals);
    boolean isZero = text.chars().noneMatch(c -> c >= '1' && c <= '9');
    return isZero ? text : (value < 0 ? "-" : "+") + text;
  }

  /** A probability, with three digits however small it is. */
  public static String probability(double value) {
    return !Double.isFinite(value) || value >= 1e-3 || value == 0
        ? fixed(value, 3)
        : String.format(Locale.ROOT, "%.2e", value);
  }

  /** With commas between thousands. */
  public static String whole(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** Three digits and k, M or G. */
  public static String rate(double value) {
    if (!Double.isFinite(value)) {
      return DASH;
    }
    double size = Math.abs(value);
    if (size < 999.5) {
      return fixed(value, size < 10 ? 2 : size < 100 ? 1 : 0);
    }
    double unit = size < 999_500 ? 1e3 : size < 999_500_000 ? 1e6 : 1e9;
    double scaled = value / unit;
    return fixed(scaled, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0)
        + (unit == 1e3 ? "k" : unit == 1e6 ? "M" : "G");
  }

  /** As KiB, MiB or GiB. */
  public static String bytes(long bytes) {
    double unit = bytes >= 1L << 30 ? 1L << 30 : bytes >= 1L << 20 ? 1L << 20 : 1L << 10;
    double scaled = bytes / unit;
    return fixed(scaled, scaled < 9.95 ? 2 : scaled < 99.5 ? 1 : 0)
        + (unit == 1L << 30 ? " GiB" : unit == 1L << 20 ? " MiB" : " KiB");
  }

  /** As seconds, minutes and seconds, or hours and minutes. */
  public static String time(double seconds) {
    if (!Double.isFinite(seconds)) {
      return DASH;
    }
    if (seconds < 59.95) {
      return fixed(seconds, seconds < 9.95 ? 1 : 0) + " s";
    }
    long whole = Math.round(seconds);
    return whole < 3600
        ? whole / 60 + " min " + whole % 60 + " s"
        : whole / 3600 + " h " + whole % 3600 / 60 + " min";
  }

  /** A file as {@link Shown#path} shows it. */
  public static String path(Path path) {
    return Shown.path(path);
  }
}
