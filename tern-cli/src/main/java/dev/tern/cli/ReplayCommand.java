package dev.tern.cli;

import dev.tern.cli.choice.JsonChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.internal.json.Json;
import dev.tern.internal.replay.Replay;
import dev.tern.internal.replay.TraceLog;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern replay}: recorded training steps under memory budgets. */
@Command(
    name = "replay",
    description = "Replays recorded training steps within memory budgets.",
    mixinStandardHelpOptions = true)
final class ReplayCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "1..*",
      paramLabel = "LOG",
      description = "Logs of steps, as the DTR simulator reads them; .gz or plain.")
  private List<Path> logs = List.of();

  @Option(
      names = "--policy",
      defaultValue = Replay.DTR,
      description =
          "What to evict. Published: none, lru, size, h_dtr, h_dtr_eq, local, msps, which know the"
              + " past of the step alone. dtr learned from an equal step before, in about a"
              + " second; planned searches up to a minute (default ${DEFAULT-VALUE}).")
  private String policy = Replay.DTR;

  @Option(
      names = "--budget",
      split = ",",
      defaultValue = "0.5",
      description =
          "Shares of the peak without a limit, up to 1, or bytes above (default ${DEFAULT-VALUE}).")
  private List<Double> budgets = List.of();

  @Option(
      names = "--allocator",
      defaultValue = "arena",
      description =
          "arena: every storage finds a place at its address; counted: bytes are summed up as if"
              + " every gap could be used (default ${DEFAULT-VALUE}).")
  private Replay.Memory allocator = Replay.Memory.ARENA;

  @Option(
      names = "--bound",
      description = "Add a slowdown that no choice of what to evict can beat: lower_bound.")
  private boolean bound;

  @Mixin private JsonChoice json = new JsonChoice();

  @Override
  public Integer call() {
    check();
    PrintWriter out = spec.commandLine().getOut();
    if (!json.isGiven()) {
      printHeader(out);
    }
    for (Path log : logs) {
      Replay replay = new Replay(String.valueOf(log.getFileName()), TraceLog.read(log));
      for (double budget : budgets) {
        replay(out, replay, budget);
      }
    }
    return 0;
  }

  private void check() {
    if (!Replay.policies().contains(policy)) {
      throw new ConfigException(
          "replay: got policy " + policy + ", expected one of " + Replay.policies());
    }
    for (double budget : budgets) {
      if (!(budget > 0 && budget < Double.POSITIVE_INFINITY)) {
        throw new ConfigException(
            "--budget: got " + budget + ", expected a share of the peak above 0, or bytes");
      }
    }
  }

  private void replay(PrintWriter out, Replay replay, double budget) {
    Replay.Result result = replay.run(policy, budget, allocator);
    OptionalDouble least =
        bound ? OptionalDouble.of(replay.lowerBound(budget)) : OptionalDouble.empty();
    if (json.isGiven()) {
      out.println(toJson(result, least));
    } else {
      print(out, result, least);
    }
    out.flush();
  }

  private static Json.Obj toJson(Replay.Result result, OptionalDouble least) {
    Json.Obj object = result.toJson();
    least.ifPresent(number -> object.put("lower_bound", Replay.finite(number)));
    return object;
  }

  private void printHeader(PrintWriter out) {
    out.printf(
        "%-28s %-9s %6s %-7s %8s %14s %14s%s%n",
        "case",
        "policy",
        "budget",
        "status",
        "slowdown",
        "peak reserved",
        "peak live",
        bound ? " lower bound" : "");
  }

  private static void print(PrintWriter out, Replay.Result result, OptionalDouble least) {
    out.printf(
        Locale.ROOT,
        "%-28s %-9s %6.3f %-7s %8s %14d %14d",
        result.name(),
        result.policy(),
        result.budgetRatio(),
        result.status().name().toLowerCase(Locale.ROOT),
        factor(result.slowdown()),
        result.peakReserved(),
        result.peakLive());
    least.ifPresent(number -> out.printf(Locale.ROOT, " %11s", factor(number)));
    out.println();
  }

  private static String factor(double number) {
    return Double.isFinite(number) ? String.format(Locale.ROOT, "%.4f", number) : "-";
  }
}
