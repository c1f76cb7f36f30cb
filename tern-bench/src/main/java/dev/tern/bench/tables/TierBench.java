package dev.tern.bench.tables;

import dev.tern.bench.Arguments;
import dev.tern.bench.Children;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A table that is larger than its memory, beside the same one in memory, each in a process of its
 * own: the same rows, byte for byte, the time of a step, also where its batch was looked up ahead,
 * and the physical memory of the process. Fails where rows differ, where none had to leave memory,
 * or where the process holds more than a tenth above the limit. Then its store beside another, by
 * {@link StoreBench}.
 */
public final class TierBench {
  /** What the JVM takes beside the table: heap, classes, code, threads. */
  private static final long JVM = 208L << 20;

  private static final List<String> OPTIONS = List.of("-Xmx64m");

  private final Arguments arguments;

  private TierBench(Arguments arguments) {
    this.arguments = arguments;
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--ids", "10000000");
    defaults.put("--steps", "2000");
    defaults.put("--batch", "8192");
    defaults.put("--width", "8");
    defaults.put("--memory", "300000000"); // of a table of 641 MB, 82 beside the JVM
    defaults.put("--store-ids", "1000000");
    defaults.put("--store-memory", String.valueOf(8L << 20));
    defaults.put("--folder", System.getProperty("java.io.tmpdir"));
    Arguments arguments = Arguments.parse("tier", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    new TierBench(arguments).run();
    StoreBench.run(arguments);
  }

  private void run() {
    long limit = Long.parseLong(arguments.text("--memory"));
    if (limit <= JVM) {
      throw new IllegalArgumentException(
          "bench tier: got --memory %d, expected more than the %d of the JVM"
              .formatted(limit, JVM));
    }
    Map<String, String> all = child("in memory", 0, false);
    Map<String, String> tier =
        requireSame(all, child("in " + limit + " bytes", limit - JVM, false));
    Map<String, String> ahead =
        requireSame(all, child("in " + limit + " bytes, looked up ahead", limit - JVM, true));
    double step = number(all, "steps");
    print("step in less memory, of the same in memory", number(tier, "steps") / step, "times");
    print("what is left of it after looking ahead", number(ahead, "steps") / step, "times");
    print("rows of the same bytes", number(tier, "rows"), "rows");
    double share = Math.max(number(tier, "resident"), number(ahead, "resident")) / limit;
    print("most physical memory, of the limit", share, "times");
    if (share > 1.1) {
      throw new IllegalStateException("tier bench: got more physical memory than 1.1 of the limit");
    }
  }

  /** What a process printed that had to have rows leave memory, beside one that had not. */
  static Map<String, String> requireSame(Map<String, String> all, Map<String, String> tier) {
    if (!Objects.equals(all.get("digest"), tier.get("digest"))) {
      throw new IllegalStateException(
          "tier bench: got rows of digest %s, expected %s"
              .formatted(tier.get("digest"), all.get("digest")));
    }
    if (!(number(tier, "spilled") > 0)) {
      throw new IllegalStateException(
          "tier bench: got memory enough for all rows, expected some that leave it; lessen --memory"
              + " or give more --ids");
    }
    return tier;
  }

  private Map<String, String> child(String name, long memory, boolean ahead) {
    try {
      String output =
          Children.output(
              OPTIONS,
              TierRun.class.getName(),
              arguments.text("--ids"),
              arguments.text("--steps"),
              arguments.text("--batch"),
              arguments.text("--width"),
              String.valueOf(memory),
              arguments.text("--folder"),
              String.valueOf(ahead));
      Map<String, String> numbers = new TreeMap<>();
      for (String line : output.strip().split("\n")) {
        String[] words = line.split(" ");
        numbers.put(words[0], words[1]);
        if (words.length == 3) {
          print(words[0] + ", " + name, Double.parseDouble(words[1]), words[2]);
        }
      }
      return numbers;
    } catch (IOException e) {
      throw new UncheckedIOException("tier bench: cannot run java", e);
    }
  }

  private static double number(Map<String, String> numbers, String name) {
    return Double.parseDouble(numbers.getOrDefault(name, "NaN"));
  }

  private void print(String name, double value, String unit) {
    String full =
        String.format(
            Locale.ROOT,
            "%s, %s ids x %s",
            name,
            arguments.text("--ids"),
            arguments.text("--width"));
    Result result = new Result("tier", full, 1, List.of(value), unit, "", List.of());
    System.out.println(arguments.json() ? result.toJson() : result.toText());
  }
}
