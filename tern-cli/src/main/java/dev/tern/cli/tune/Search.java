package dev.tern.cli.tune;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A key and where its values come from: {@code LOW..HIGH}, whole numbers where both are; the same
 * with {@code :log}, where each power of ten is as likely as another; or values joined by {@code
 * |}.
 */
sealed interface Search {
  /** Digits of a value that is no whole number. */
  MathContext DIGITS = new MathContext(4);

  Pattern RANGE = Pattern.compile("(?s)([^|]*?)\\.\\.([^|]*?)(:log)?");
  Pattern WHOLE = Pattern.compile("[+-]?[0-9]{1,15}");

  /** Keys whose values would make trials no longer comparable, or their folders one. */
  Set<String> FIXED =
      Set.of(
          "run.dir",
          "train.monitor",
          "train.monitor_task",
          "train.evaluate_every",
          "data.train",
          "data.eval",
          "data.eval_from",
          "data.group");

  /** The key's path. */
  String key();

  /** What was asked for, behind the key. */
  String text();

  /** A value at random, as it stands in {@code --set}. */
  String draw(SplittableRandom random);

  /** Where a value stands on an axis, 0 at the start to 1 at the end. */
  double at(String value);

  /** Values to write beside an axis, from its start to its end. */
  List<String> marks();

  /** Numbers from {@code low} to {@code high}. */
  record Range(String key, String text, BigDecimal low, BigDecimal high, boolean log, boolean whole)
      implements Search {
    @Override
    public String draw(SplittableRandom random) {
      double share = random.nextDouble();
      if (whole && !log) {
        long span = high.longValueExact() - low.longValueExact() + 1;
        return Long.toString(low.longValueExact() + (long) Math.min(span - 1.0, share * span));
      }
      double from = log ? Math.log(low.doubleValue()) : low.doubleValue();
      double to = log ? Math.log(high.doubleValue()) : high.doubleValue();
      double value = from + share * (to - from);
      BigDecimal drawn = new BigDecimal(log ? Math.exp(value) : value);
      BigDecimal rounded =
          whole ? BigDecimal.valueOf(Math.round(drawn.doubleValue())) : drawn.round(DIGITS);
      return rounded.max(low).min(high).toPlainString();
    }

    @Override
    public double at(String value) {
      double number = Double.parseDouble(value);
      return log
          ? Math.log(number / low.doubleValue()) / Math.log(high.doubleValue() / low.doubleValue())
          : (number - low.doubleValue()) / (high.doubleValue() - low.doubleValue());
    }

    @Override
    public List<String> marks() {
      double middle =
          log
              ? Math.sqrt(low.doubleValue() * high.doubleValue())
              : (low.doubleValue() + high.doubleValue()) / 2;
      return Stream.of(low, new BigDecimal(middle), high).map(Range::mark).toList();
    }

    private static String mark(BigDecimal value) {
      BigDecimal rounded = value.round(new MathContext(3)).stripTrailingZeros();
      int power = rounded.precision() - rounded.scale() - 1;
      return rounded.signum() != 0 && (power < -3 || power > 5)
          ? rounded.scaleByPowerOfTen(-power).toPlainString() + "e" + power
          : rounded.toPlainString();
    }
  }

  /** One of some values. */
  record Choice(String key, String text, List<String> values) implements Search {
    public Choice {
      values = List.copyOf(values);
    }

    @Override
    public String draw(SplittableRandom random) {
      return values.get(random.nextInt(values.size()));
    }

    @Override
    public double at(String value) {
      return (double) values.indexOf(value) / (values.size() - 1);
    }

    @Override
    public List<String> marks() {
      return values;
    }
  }

  /**
   * Reads {@code KEY=LOW..HIGH}, {@code KEY=LOW..HIGH:log} or {@code KEY=A|B|C}.
   *
   * @throws ConfigException if it is none of these, or the key is none or may not be searched
   */
  static Search parse(String text) {
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw wrong(text, "no key and values");
    }
    String key = text.substring(0, equals).strip();
    String spec = text.substring(equals + 1).strip();
    Config.requireKey("--search", key);
    if (FIXED.contains(key)) {
      throw new ConfigException(
          "--search: got "
              + key
              + ", expected a key whose values leave trials comparable, each in a folder of its"
              + " own; give it by --set");
    }
    Matcher range = RANGE.matcher(spec);
    if (range.matches()) {
      return range(text, key, spec, range);
    }
    List<String> values = Stream.of(spec.split("\\|", -1)).map(String::strip).toList();
    if (values.size() < 2) {
      throw wrong(text, values.getFirst().isEmpty() ? "no values" : "one value");
    }
    if (values.contains("")) {
      throw wrong(text, "an empty value");
    }
    if (Set.copyOf(values).size() < values.size()) {
      throw wrong(text, "a value twice");
    }
    return new Choice(key, spec, values);
  }

  private static Search range(String text, String key, String spec, Matcher range) {
    BigDecimal low = number(text, range.group(1));
    BigDecimal high = number(text, range.group(2));
    boolean log = range.group(3) != null;
    if (low.compareTo(high) >= 0) {
      throw wrong(text, "a range that ends where it begins or before");
    }
    if (log && low.signum() <= 0) {
      throw wrong(text, "a range of powers that does not begin above 0");
    }
    boolean whole =
        WHOLE.matcher(range.group(1).strip()).matches()
            && WHOLE.matcher(range.group(2).strip()).matches();
    return new Range(key, spec, low, high, log, whole);
  }

  private static BigDecimal number(String text, String number) {
    try {
      BigDecimal value = new BigDecimal(number.strip());
      if (value.precision() <= 30 && Math.abs((long) value.scale()) <= 300) {
        return value;
      }
    } catch (NumberFormatException _) {
      // Said below.
    }
    throw wrong(text, "an end of a range that is no number");
  }

  private static ConfigException wrong(String text, String got) {
    return new ConfigException(
        "--search "
            + (text.length() <= 80 ? text : text.substring(0, 80) + "...")
            + ": got "
            + got
            + ", expected KEY=LOW..HIGH, KEY=LOW..HIGH:log or KEY=A|B; write it as in --search"
            + " train.optimizer.lr=1e-4..1e-2:log or --search 'model.hidden=[64,32]|[128,64]'");
  }
}
