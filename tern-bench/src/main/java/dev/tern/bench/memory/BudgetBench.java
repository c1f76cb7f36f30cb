package dev.tern.bench.memory;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.Result;
import dev.tern.bench.memory.BudgetChild.Run;
import dev.tern.model.ModelConfig;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * {@code bench budget}: deep models trained with only a share of the memory that the values of a
 * step take without a limit. Each run is a process of its own. A round has one run without a limit
 * and one for each share; they take turns step by step, so what else the machine does meets all of
 * them alike. A step's slowdown is its time divided by the time of the same step without a limit. A
 * run's slowdown is the median over the later half of its steps. A run counts only if all that it
 * trained is the same to the last bit as without a limit, and {@code outside}, the most memory that
 * the process held for values of a step, is at most the budget and {@value #SLACK_MIB} MiB. Last
 * comes the largest batch that trains in the memory that a small one takes without a limit.
 */
public final class BudgetBench {
  private static final long MIB = 1L << 20;
  private static final int SLACK_MIB = 64;
  private static final int UNITS = 12;
  private static final int BLOCKS = 8;

  /** Parts of the small batch by which the large one grows in trials. */
  private static final double GROWTH = 0.5;

  private final Arguments arguments;
  private final String model;
  private final String threads;

  private BudgetBench(Arguments arguments, String model, String threads) {
    this.arguments = arguments;
    this.model = model;
    this.threads = threads;
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("--models", "residual,transformer");
    defaults.put("--threads", "2");
    defaults.put("--batch", "4096");
    defaults.put("--shares", "0.5,0.35");
    defaults.put("--steps", "24");
    defaults.put("--rounds", "3");
    defaults.put("--plan-seconds", "0");
    defaults.put("--small-batch", "512");
    defaults.put("--peers", Machine.peers());
    Arguments arguments = Arguments.parse("budget", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
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
    List<Limit> shares = limits();
    List<Run> whole = new ArrayList<>();
    Map<Limit, List<Run>> limited = new LinkedHashMap<>();
    for (int i = 0; i < arguments.positive("--rounds"); i++) {
      List<Run> round = round(shares);
      whole.add(round.getFirst());
      for (int j = 0; j < shares.size(); j++) {
        Run run = round.get(j + 1);
        requireSame(whole.getFirst(), run, shares.get(j).share());
        limited.computeIfAbsent(shares.get(j), s -> new ArrayList<>()).add(run);
      }
    }
    print(new Limit(1, 0), whole, whole);
    limited.forEach((share, runs) -> print(share, runs, whole));
  }

  /**
   * The memory that a run has.
   *
   * @param planSeconds how long it searches for a schedule; 0 for a second or so
   */
  private record Limit(double share, double planSeconds) {
    @Override
    public String toString() {
      return share + (planSeconds > 0 ? " plan_seconds=" + planSeconds : "");
    }
  }

  /** Each share, and where that is asked for each once more with a longer search. */
  private List<Limit> limits() {
    double seconds = Double.parseDouble(arguments.text("--plan-seconds"));
    List<Limit> limits = new ArrayList<>();
    for (String share : arguments.list("--shares")) {
      limits.add(new Limit(Double.parseDouble(share), 0));
      if (seconds > 0) {
        limits.add(new Limit(Double.parseDouble(share), seconds));
      }
    }
    return limits;
  }

  /** A run without a limit, then one for each limit, which took turns. */
  private List<Run> round(List<Limit> shares) {
    int batch = arguments.positive("--batch");
    int steps = arguments.positive("--steps");
    List<BudgetChild> children = new ArrayList<>();
    try {
      BudgetChild whole = start(batch, steps, Long.MAX_VALUE, 0);
      children.add(whole);
      long bytes = firstStep(whole, batch, Long.MAX_VALUE);
      for (Limit share : shares) {
        long limit = (long) (share.share() * bytes);
        children.add(start(batch, steps, limit, share.planSeconds()));
        firstStep(children.getLast(), batch, limit);
      }
      for (int i = 1; i < steps; i++) {
        children.forEach(BudgetChild::step);
      }
      return children.stream().map(BudgetChild::end).toList();
    } finally {
      children.forEach(BudgetChild::close);
    }
  }

  /** The bytes that its steps take. */
  private long firstStep(BudgetChild child, int batch, long limit) {
    return child
        .step()
        .orElseThrow(() ->
            new IllegalStateException(
                "bench budget: %s at batch %d does not train in %d bytes"
                    .formatted(model, batch, limit)));
  }

  private BudgetChild start(int batch, int steps, long limit, double planSeconds) {
    return BudgetChild.start(
        List.of(
            model,
            threads,
            Integer.toString(batch),
            Integer.toString(steps),
            Long.toString(limit),
            arguments.text("--peers"),
            Double.toString(planSeconds)));
  }

  private void requireSame(Run whole, Run run, double share) {
    if (!run.digest().equals(whole.digest())) {
      throw new IllegalStateException(
          "bench budget: got other weights from %s at %.2f of %d bytes: %s, expected %s"
              .formatted(model, share, whole.bytes(), run.digest(), whole.digest()));
    }
  }

  /** Slowdowns are those by the run of the same round. */
  private void print(Limit limit, List<Run> runs, List<Run> whole) {
    double share = limit.share();
    List<Double> slowdowns = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      slowdowns.add(runs.get(i).slowdown(whole.get(i)));
    }
    long budget = (long) (share * whole.getFirst().bytes());
    long outside = runs.stream().mapToLong(Run::outside).max().orElseThrow();
    String name = model + " batch=" + arguments.text("--batch") + " share=" + limit;
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
    long budget = bytes(small, Long.MAX_VALUE).orElseThrow();
    int largest = small;
    for (double times = 2; ; times += GROWTH) {
      int batch = (int) (times * small);
      if (bytes(batch, budget).isEmpty()) {
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

  /** The bytes that a step takes, or none where {@code limit} does not do. */
  private Optional<Long> bytes(int batch, long limit) {
    try (BudgetChild child = start(batch, 2, limit, 0)) {
      Optional<Long> bytes = child.step();
      if (bytes.isPresent()) {
        child.step();
        child.end();
      }
      return bytes;
    }
  }
}
