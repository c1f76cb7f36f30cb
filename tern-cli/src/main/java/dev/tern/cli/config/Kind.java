package dev.tern.cli.config;

import dev.tern.data.encode.TimeParser;
import dev.tern.files.text.CsvOptions;
import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The kind of a key's values: reads, writes and describes them. Reading a written value gives the
 * same value.
 *
 * @param <T> the value's type
 */
sealed interface Kind<T> {
  /** A whole number of 0 or more. */
  Kind<Long> COUNT = new Whole(0, Long.MAX_VALUE);

  /** A number of 0 or more. */
  Kind<Double> FACTOR = new Real(0, Double.MAX_VALUE);

  /** Any number that a float holds. */
  Kind<Double> NUMBER = new Real(-Float.MAX_VALUE, Float.MAX_VALUE);

  /** A number from 0 to just below 1. */
  Kind<Double> SHARE = new Real(0, 0.9999999);

  /** One name. */
  Kind<String> NAME = new Text("a name", false);

  /** Names of columns. */
  Kind<List<String>> NAMES = new Columns();

  /** Widths of layers. */
  Kind<List<Integer>> WIDTHS = new Wholes(new Whole(1, 1 << 20));

  /** The value, or empty where {@code raw} is not of this kind. */
  Optional<T> read(Raw raw);

  /** The value as YAML on one line. */
  String write(T value);

  /** The values this kind takes, to stand after "expected". */
  String expected();

  /** Whether a list is read; an override then splits at commas. */
  default boolean list() {
    return false;
  }

  /** Any text, for instance a column's name; {@code orEmpty} where nothing is a value too. */
  record Text(String expected, boolean orEmpty) implements Kind<String> {
    @Override
    public Optional<String> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar && (orEmpty || !scalar.text().isEmpty())
          ? Optional.of(scalar.text())
          : Optional.empty();
    }

    @Override
    public String write(String value) {
      return YamlText.quote(value);
    }
  }

  /**
   * What separates fields; {@code tab} and {@code space} stand for one, and {@code \\u0001} for the
   * character of this code.
   */
  record Delimiter() implements Kind<String> {
    private static final Pattern CODE =
        Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))");

    @Override
    public Optional<String> read(Raw raw) {
      return raw instanceof Raw.Scalar(String text, Raw.Source _)
          ? Optional.of(meant(text)).filter(CsvOptions::isDelimiter)
          : Optional.empty();
    }

    private static String meant(String text) {
      return switch (text) {
        case "tab", "\\t" -> "\t";
        case "space" -> " ";
        default -> CODE.matcher(text).replaceAll(code -> Matcher.quoteReplacement(character(code)));
      };
    }

    private static String character(MatchResult code) {
      String digits = code.group(1) == null ? code.group(2) : code.group(1);
      return String.valueOf((char) Integer.parseInt(digits, 16));
    }

    @Override
    public String write(String value) {
      return switch (value) {
        case "\t" -> "tab";
        case " " -> "space";
        default -> {
          StringBuilder text = new StringBuilder();
          for (char c : value.toCharArray()) {
            text.append(c > ' ' && c < 127 ? String.valueOf(c) : "\\u%04x".formatted((int) c));
          }
          yield YamlText.quote(text.toString());
        }
      };
    }

    @Override
    public String expected() {
      return "1 to 16 characters that no number holds, tab, space, or codes as in \\u0001";
    }
  }

  /** The processor, or a CUDA device by its number. */
  record CudaDevice() implements Kind<String> {
    private static final Pattern NAME = Pattern.compile("cpu|cuda(?::(\\d{1,4}))?");

    /** The device's number; empty for the processor. */
    static OptionalInt ordinal(String value) {
      Matcher name = NAME.matcher(value);
      if (!name.matches() || value.equals("cpu")) {
        return OptionalInt.empty();
      }
      return OptionalInt.of(name.group(1) == null ? 0 : Integer.parseInt(name.group(1)));
    }

    @Override
    public Optional<String> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar && NAME.matcher(scalar.text()).matches()
          ? Optional.of(scalar.text())
          : Optional.empty();
    }

    @Override
    public String write(String value) {
      return YamlText.quote(value);
    }

    @Override
    public String expected() {
      return "cpu, cuda or cuda:N, for example cuda:1";
    }
  }

  /** One of a few names. */
  record Choice(List<String> names) implements Kind<String> {
    static Choice of(String... names) {
      return new Choice(List.of(names));
    }

    @Override
    public Optional<String> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar
          ? names.stream().filter(scalar.text()::equals).findFirst()
          : Optional.empty();
    }

    @Override
    public String write(String value) {
      return value; // names are plain, and a truth value is read as its text
    }

    @Override
    public String expected() {
      return names.size() == 1 ? names.getFirst() : "one of " + String.join(", ", names);
    }
  }

  /** {@code true} or {@code false}. */
  record Flag() implements Kind<Boolean> {
    @Override
    public Optional<Boolean> read(Raw raw) {
      return switch (raw) {
        case Raw.Scalar(String text, Raw.Source _) when text.equals("true") -> Optional.of(true);
        case Raw.Scalar(String text, Raw.Source _) when text.equals("false") -> Optional.of(false);
        default -> Optional.empty();
      };
    }

    @Override
    public String write(Boolean value) {
      return value.toString();
    }

    @Override
    public String expected() {
      return "true or false";
    }
  }

  /** A whole number; underscores may group its digits. */
  record Whole(long min, long max) implements Kind<Long> {
    @Override
    public Optional<Long> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar ? parse(scalar.text()) : Optional.empty();
    }

    Optional<Long> parse(String text) {
      try {
        return Optional.of(new BigDecimal(text.replace("_", "")).longValueExact())
            .filter(v -> v >= min && v <= max);
      } catch (NumberFormatException | ArithmeticException _) {
        return Optional.empty();
      }
    }

    @Override
    public String write(Long value) {
      return value.toString();
    }

    @Override
    public String expected() {
      return "a whole number "
          + range(Long.toString(min), max == Long.MAX_VALUE ? "" : Long.toString(max));
    }
  }

  /** A finite number of {@code [min, max]}. */
  record Real(double min, double max) implements Kind<Double> {
    @Override
    public Optional<Double> read(Raw raw) {
      if (!(raw instanceof Raw.Scalar scalar)) {
        return Optional.empty();
      }
      try {
        return Optional.of(new BigDecimal(scalar.text().replace("_", "")).doubleValue())
            .filter(v -> v >= min && v <= max);
      } catch (NumberFormatException _) {
        return Optional.empty();
      }
    }

    @Override
    public String write(Double value) {
      BigDecimal decimal = BigDecimal.valueOf(value).stripTrailingZeros();
      boolean plain = value == 0 || Math.abs(value) >= 1e-4 && Math.abs(value) < 1e7;
      return plain
          ? decimal.toPlainString()
          : decimal.toString().toLowerCase(Locale.ROOT).replace("+", "");
    }

    @Override
    public String expected() {
      return "a number " + range(write(min), max == Double.MAX_VALUE ? "" : write(max));
    }
  }

  /** A number, or {@code same} for the one that another key has. */
  record OrSame(Kind<Double> number) implements Kind<Optional<Double>> {
    @Override
    public Optional<Optional<Double>> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar && scalar.text().equals("same")
          ? Optional.of(Optional.empty())
          : number.read(raw).map(Optional::of);
    }

    @Override
    public String write(Optional<Double> value) {
      return value.map(number::write).orElse("same");
    }

    @Override
    public String expected() {
      return number.expected() + ", or same";
    }
  }

  /** Texts in order; one scalar stands for a list of one. */
  record Texts(String expected) implements Kind<List<String>> {
    @Override
    public Optional<List<String>> read(Raw raw) {
      return Optional.of(scalars(raw).stream().map(Raw.Scalar::text).toList());
    }

    @Override
    public String write(List<String> value) {
      return value.stream().map(YamlText::quote).collect(Collectors.joining(", ", "[", "]"));
    }

    @Override
    public boolean list() {
      return true;
    }
  }

  /** Names of columns in order; {@code C1..C26} stands for {@code C1} to {@code C26}. */
  record Columns() implements Kind<List<String>> {
    private static final Pattern RANGE = Pattern.compile("(.*?)([0-9]{1,6})\\.\\.\\1([0-9]{1,6})");

    @Override
    public Optional<List<String>> read(Raw raw) {
      List<String> names = new ArrayList<>();
      for (Raw.Scalar scalar : scalars(raw)) {
        Matcher range = RANGE.matcher(scalar.text());
        if (scalar.text().isEmpty()) {
          return Optional.empty();
        } else if (range.matches()) {
          int first = Integer.parseInt(range.group(2));
          int last = Integer.parseInt(range.group(3));
          if (first > last) {
            return Optional.empty();
          }
          for (int i = first; i <= last; i++) {
            names.add(range.group(1) + i);
          }
        } else {
          names.add(scalar.text());
        }
      }
      return Optional.of(List.copyOf(names));
    }

    @Override
    public String write(List<String> value) {
      return value.stream().map(YamlText::quote).collect(Collectors.joining(", ", "[", "]"));
    }

    @Override
    public String expected() {
      return "a list of names, where C1..C3 stands for C1, C2 and C3";
    }

    @Override
    public boolean list() {
      return true;
    }
  }

  /** Whole numbers in order; one scalar stands for a list of one. */
  record Wholes(Whole item) implements Kind<List<Integer>> {
    @Override
    public Optional<List<Integer>> read(Raw raw) {
      List<Integer> values = new ArrayList<>();
      for (Raw.Scalar scalar : scalars(raw)) {
        Optional<Long> value = item.read(scalar);
        if (value.isEmpty()) {
          return Optional.empty();
        }
        values.add(Math.toIntExact(value.get()));
      }
      return Optional.of(List.copyOf(values));
    }

    @Override
    public String write(List<Integer> value) {
      return value.toString();
    }

    @Override
    public String expected() {
      return "a list of whole numbers "
          + range(Long.toString(item.min()), Long.toString(item.max()));
    }

    @Override
    public boolean list() {
      return true;
    }
  }

  /** Numbers in order; one scalar stands for a list of one. */
  record Reals(Kind<Double> item) implements Kind<List<Double>> {
    @Override
    public Optional<List<Double>> read(Raw raw) {
      List<Double> values = new ArrayList<>();
      for (Raw.Scalar scalar : scalars(raw)) {
        Optional<Double> value = item.read(scalar);
        if (value.isEmpty()) {
          return Optional.empty();
        }
        values.add(value.get());
      }
      return Optional.of(List.copyOf(values));
    }

    @Override
    public String write(List<Double> value) {
      return value.stream().map(item::write).collect(Collectors.joining(", ", "[", "]"));
    }

    @Override
    public String expected() {
      return "a list of numbers";
    }

    @Override
    public boolean list() {
      return true;
    }
  }

  /** A path, made absolute against the current directory. */
  record File(String expected) implements Kind<Path> {
    @Override
    public Optional<Path> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar ? path(scalar.text()) : Optional.empty();
    }

    static Optional<Path> path(String text) {
      try {
        return text.isEmpty()
            ? Optional.empty()
            : Optional.of(Path.of(text).toAbsolutePath().normalize());
      } catch (InvalidPathException _) {
        return Optional.empty();
      }
    }

    @Override
    public String write(Path value) {
      return YamlText.quote(value.toString());
    }
  }

  /**
   * Paths in order, made absolute against the current directory; one scalar stands for a list of
   * one, {@code orEmpty} where there may be none.
   */
  record Files(String expected, boolean orEmpty) implements Kind<List<Path>> {
    @Override
    public Optional<List<Path>> read(Raw raw) {
      List<Path> paths = new ArrayList<>();
      for (Raw.Scalar scalar : scalars(raw)) {
        Optional<Path> path = File.path(scalar.text());
        if (path.isEmpty()) {
          return Optional.empty();
        }
        paths.add(path.get());
      }
      return paths.isEmpty() && !orEmpty ? Optional.empty() : Optional.of(List.copyOf(paths));
    }

    @Override
    public String write(List<Path> value) {
      return value.stream()
          .map(path -> YamlText.quote(path.toString()))
          .collect(Collectors.joining(", ", "[", "]"));
    }

    @Override
    public boolean list() {
      return true;
    }
  }

  /** Bytes: a whole number with the suffix k, m, g or t for powers of 1024. */
  record Bytes(long min) implements Kind<Long> {
    private static final String SUFFIXES = "kmgt";

    @Override
    public Optional<Long> read(Raw raw) {
      if (!(raw instanceof Raw.Scalar scalar) || scalar.text().isEmpty()) {
        return Optional.empty();
      }
      String text = scalar.text().toLowerCase(Locale.ROOT);
      int power = SUFFIXES.indexOf(text.charAt(text.length() - 1)) + 1;
      String digits = power == 0 ? text : text.substring(0, text.length() - 1);
      long unit = 1L << (10 * power);
      return new Whole(0, Long.MAX_VALUE / unit)
          .parse(digits)
          .map(v -> v * unit)
          .filter(v -> v >= min);
    }

    @Override
    public String write(Long value) {
      int power =
          value == 0 ? 0 : Math.min(SUFFIXES.length(), Long.numberOfTrailingZeros(value) / 10);
      return power == 0
          ? value.toString()
          : (value >> (10 * power)) + SUFFIXES.substring(power - 1, power);
    }

    @Override
    public String expected() {
      return "bytes, at least " + write(min) + ", as in 512m or 2g";
    }
  }

  /** A time of 1 s to 36500 d: a whole number with the suffix s, m, h or d. */
  record Time() implements Kind<Duration> {
    private static final String SUFFIXES = "smhd";
    private static final long[] SECONDS = {1, 60, 3600, 86_400};
    private static final long MOST = 36_500 * 86_400L;

    @Override
    public Optional<Duration> read(Raw raw) {
      if (!(raw instanceof Raw.Scalar scalar) || scalar.text().isEmpty()) {
        return Optional.empty();
      }
      String text = scalar.text();
      int unit = SUFFIXES.indexOf(text.charAt(text.length() - 1));
      return unit < 0
          ? Optional.empty()
          : new Whole(1, MOST / SECONDS[unit])
              .parse(text.substring(0, text.length() - 1))
              .map(v -> Duration.ofSeconds(v * SECONDS[unit]));
    }

    @Override
    public String write(Duration value) {
      long seconds = value.toSeconds();
      int unit = SECONDS.length - 1;
      while (seconds % SECONDS[unit] != 0) {
        unit--;
      }
      return seconds / SECONDS[unit] + SUFFIXES.substring(unit, unit + 1);
    }

    @Override
    public String expected() {
      return "a time from 1s to 36500d, as in 90s, 30m, 12h or 7d";
    }
  }

  /** A moment: a time or date in text, or a number since 1970; empty for none. */
  record Moment() implements Kind<String> {
    @Override
    public Optional<String> read(Raw raw) {
      return raw instanceof Raw.Scalar scalar
              && (scalar.text().isEmpty() || micros(scalar.text()) != TimeParser.NONE)
          ? Optional.of(scalar.text())
          : Optional.empty();
    }

    /** Microseconds since 1970. */
    static long micros(String moment) {
      return TimeParser.parse(moment);
    }

    @Override
    public String write(String value) {
      return YamlText.quote(value);
    }

    @Override
    public String expected() {
      return "a time or date as in 2026-01-31 or 2026-01-31T08:30:00Z, or seconds since 1970";
    }
  }

  /** How often something happens: {@code epoch}, {@code never} or a number of steps. */
  record Often() implements Kind<Every> {
    private static final Whole STEPS = new Whole(1, Long.MAX_VALUE);

    @Override
    public Optional<Every> read(Raw raw) {
      return switch (raw) {
        case Raw.Scalar(String text, Raw.Source _) when text.equals("epoch") ->
            Optional.of(Every.EPOCH);
        case Raw.Scalar(String text, Raw.Source _) when text.equals("never") ->
            Optional.of(Every.NEVER);
        case Raw.Scalar scalar -> STEPS.read(scalar).map(Every::steps);
        case Raw.Sequence _ -> Optional.empty();
      };
    }

    @Override
    public String write(Every value) {
      return value.toString();
    }

    @Override
    public String expected() {
      return "epoch, never or a number of steps";
    }
  }

  private static List<Raw.Scalar> scalars(Raw raw) {
    return switch (raw) {
      case Raw.Scalar scalar -> List.of(scalar);
      case Raw.Sequence sequence -> sequence.items();
    };
  }

  private static String range(String min, String max) {
    return max.isEmpty() ? "of at least " + min : "from " + min + " to " + max;
  }
}
