package dev.tern.cli.translate;

import dev.tern.base.Shown;
import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Collectors;

/** A value of another tool's configuration. */
sealed interface Setting permits Setting.Text, Setting.Many, Section {
  /** Where it stands. */
  Place place();

  /** The value on one line, shortened. */
  String shown();

  /**
   * One value.
   *
   * @param name of the setting, for messages
   */
  record Text(String name, String text, Place place) implements Setting {
    private static final int MOST_DIGITS = 100;

    @Override
    public String shown() {
      return text.isEmpty() ? "\"\"" : Shown.excerpt(text);
    }

    /** The value as a whole number of {@code [least, most]}. */
    long whole(long least, long most) {
      try {
        long value = decimal().longValueExact();
        if (value >= least && value <= most) {
          return value;
        }
      } catch (ArithmeticException _) {
        // Said below.
      }
      throw wrong("a whole number from %d to %d".formatted(least, most));
    }

    /** The value as a number. */
    double real() {
      double value = decimal().doubleValue();
      if (Double.isFinite(value)) {
        return value;
      }
      throw wrong("a number");
    }

    private BigDecimal decimal() {
      if (text.length() > MOST_DIGITS) {
        throw wrong("a number");
      }
      try {
        BigDecimal value = new BigDecimal(text.strip().replaceFirst("[fF]$", ""));
        if (Math.abs((long) value.scale()) <= 400) { // Else its digits would fill the memory.
          return value;
        }
      } catch (NumberFormatException _) {
        // Said below.
      }
      throw wrong("a number");
    }

    /** The value as true or false. */
    boolean flag() {
      return switch (text) {
        case "True", "true", "TRUE", "t", "1", "yes" -> true;
        case "False", "false", "FALSE", "f", "0", "no" -> false;
        default -> throw wrong("true or false");
      };
    }

    private RuntimeException wrong(String expected) {
      return place.wrong(
          "%s: got %s, expected %s; change it".formatted(Shown.excerpt(name), shown(), expected));
    }
  }

  /**
   * A list of values.
   *
   * @param tuple whether they belong together, as in a tuple of Python
   */
  record Many(List<Setting> items, boolean tuple, Place place) implements Setting {
    public Many {
      items = List.copyOf(items);
    }

    Many(List<Setting> items, Place place) {
      this(items, false, place);
    }

    @Override
    public String shown() {
      return Shown.excerpt(
          items.stream().map(Setting::shown).collect(Collectors.joining(", ", "[", "]")));
    }
  }
}
