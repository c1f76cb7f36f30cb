package dev.tern.bench;

import dev.tern.model.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code bench budget}: deep models trained with only a share of the memory that the values of a
 * step take without a limit. Each run is a process of its own; shares take turns. A run counts only
 * if all that it trained is the same to the last bit as without a limit, and {@code outside}, the
 * most memory that the process held for values of a step, is at most the budget and {@value
 * #SLACK_MIB} MiB. Last comes the largest batch that trains in the memory that a small one takes
 * without a limit.
 */
final class BudgetBench {
  private static final long MIB = 1L << 20;
  private static final int SLACK_MIB = 64;
  private static final int UNITS = 12;
  private static final int BLOCKS = 8;

  /** Parts of the small batch by which the large one grows in trials. */
  private static final double GROWTH = 0.5;

  private final Arguments arguments;
  private final String model;
  private final String threads;

  /** What one process prints. */
  private record Run(long bytes, long without, double millis, String digest, long outside) {
    static Run of(String line) {
      String[] words = line.strip().split(" ");
      return new Run(
          Long.parseLong(words[0]),
          Long.parseLong(words[1]),
          Double.parseDouble(words[2]),
          words[3] + " " + words[4],
          Long.parseLong(words[5]));
    }
  }

  private BudgetBench(Arguments arguments, String model, String threads) {
    this.arguments = arguments;
    this.model = model;
    this.threads = threads;
  }

  static void run(List<String> args) {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("--models", "residual,transformer");
    defaults.put("--threads", "2");
    defaults.put("--batch", "4096");
    defaults.put("--shares", "0.5,0.35");
    defaults.put("--steps", "12");
    defaults.put("--rounds", "3");
    defaults.put("--small-batch", "512");
    defaults.put("--peers", Main.peers());
    Arguments arguments = Arguments.parse("budget", args, defaults);
    if (!arguments.json()) {
      System.out.println(Main.machine());
    }
    for (String model : arguments.list("--models")) {
      for (String threads : arguments.list("--threads")) {
        BudgetBench bench = new BudgetBench(arguments, model, threads);
        bench.measure();
        bench.enlarge();
      }
    }
  }

  /** Deep models: 12 residual units of two layers, or 8 blocks of attention over 40 tokens. */
  static ModelConfig model(String name) {
    return switch (name) {
      case "residual" ->
          ModelConfig.of(
              ModelConfig.Type.DEEPCROSSING,
              8,
              Collections.nCopies(UNITS, 884).toArray(Integer[]::new));
      case "transformer" ->
          ModelConfig.of(
                  ModelConfig.Type.TRANSFORMER,
                  16,
                  Collections.nCopies(BLOCKS, 64).toArray(Integer[]::new))
              .withHeads(2);
      default ->
          throw new IllegalArgumentException(
              "--models: got " + name + ", expected residual or transformer");
    };
  }

  private void measure() {
    List<Double> shares = arguments.list("--shares").stream().map(Double::valueOf).toList();
    List<Run> whole = new ArrayList<>();
    Map<Double, List<Run>> limited = new LinkedHashMap<>();
    for (int round = 0; round < arguments.positive("--rounds"); round++) {
      whole.add(run(arguments.positive("--batch"), arguments.positive("--steps"), Long.MAX_VALUE));
      long bytes = whole.getFirst().bytes();
      for (double share : shares) {
        Run run =
            run(
                arguments.positive("--batch"),
                arguments.positive("--steps"),
                (long) (share * bytes));
        requireSame(whole.getFirst(), run, share);
        limited.computeIfAbsent(share, s -> new ArrayList<>()).add(run);
      }
    }
    print(1, whole, whole);
    limited.forEach((share, runs) -> print(share, runs, whole));
  }

  private void requireSame(Run whole, Run run, double share) {
    if (!run.digest().equals(whole.digest())) {
      throw new IllegalStateException(
          "bench budget: got other weights from %s at %.2f of %d bytes: %s, expected %s"
              .formatted(model, share, whole.bytes(), run.digest(), whole.digest()));
    }
  }

  private Run run(int batch, int steps, long limit) {
    String line = output(batch, steps, limit);
    if (line.strip().equals(BudgetRun.REFUSED)) {
      throw new IllegalStateException(
          "bench budget: %s at batch %d does not train in %d bytes".formatted(model, batch, limit));
    }
    return Run.of(line);
  }

  private String output(int batch, int steps, long limit) {
    List<String> options =
        List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-XX:NativeMemoryTracking=summary");
    try {
      return Children.output(
          options,
          BudgetRun.class.getName(),
          model,
          threads,
          Integer.toString(batch),
          Integer.toString(steps),
          Long.toString(limit),
          arguments.text("--peers"));
    } catch (IOException e) {
      throw new UncheckedIOException("budget: cannot run java", e);
    }
  }

  /** Slowdowns are those by the run of the same round. */
  private void print(double share, List<Run> runs, List<Run> whole) {
    List<Double> slowdowns = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      slowdowns.add(runs.get(i).millis() / whole.get(i).millis());
    }
    long budget = (long) (share * whole.getFirst().bytes());
    long outside = runs.stream().mapToLong(Run::outside).max().orElseThrow();
    String name = model + " batch=" + arguments.text("--batch") + " share=" + share;
    Result result =
        new Result(
            "budget", name, Integer.parseInt(threads), slowdowns, "x the time", "", List.of());
    String head = arguments.json() ? result.toJson() : result.toText();
    String tail =
        String.format(
            Locale.ROOT,
            arguments.json()
                ? ",\"budget_mib\":%.1f,\"used_mib\":%.1f,\"outside_mib\":%.1f,\"digest\":\"%s\"}"
                : "  budget %.1f MiB, used %.1f, outside %.1f, weights and loss %s",
            mib(budget),
            mib(runs.getFirst().bytes()),
            mib(outside),
            runs.getFirst().digest());
    System.out.println((arguments.json() ? head.substring(0, head.length() - 1) : head) + tail);
    if (share < 1 && outside > budget + SLACK_MIB * MIB) {
      throw new IllegalStateException(
          "bench budget: %s held %.1f MiB for values of a step, expected at most %.1f and %d more"
              .formatted(name, mib(outside), mib(budget), SLACK_MIB));
    }
  }

  private static double mib(long bytes) {
    return bytes / (double) MIB;
  }

  /** The largest batch that takes a step in the memory of a small one without a limit. */
  private void enlarge() {
    int small = arguments.positive("--small-batch");
    long budget = run(small, 2, Long.MAX_VALUE).bytes();
    int largest = small;
    for (double times = 2; ; times += GROWTH) {
      int batch = (int) (times * small);
      if (!trains(batch, budget)) {
        break;
      }
      largest = batch;
    }
    System.out.printf(
        Locale.ROOT,
        arguments.json()
            ? "{\"bench\":\"budget\",\"case\":\"%s largest batch\",\"budget_mib\":%.1f,"
                + "\"without\":%d,\"with\":%d,\"ratio\":%.2f}%n"
            : "budget    %s in %.1f MiB: largest batch %d, with recomputation %d, %.2f times%n",
        model,
        mib(budget),
        small,
        largest,
        largest / (double) small);
  }

  private boolean trains(int batch, long budget) {
    return !output(batch, 2, budget).strip().equals(BudgetRun.REFUSED);
  }
}
