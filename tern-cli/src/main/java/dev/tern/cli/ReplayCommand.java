package dev.tern.cli;

import dev.tern.cli.config.ConfigException;
import dev.tern.internal.replay.Replay;
import dev.tern.internal.replay.StepLog;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
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
      description = {
        "What to evict: none, lru, size, h_dtr, h_dtr_eq, local or msps;",
        "dtr, which learned from an equal step before; planned, which knows the step",
        "(default ${DEFAULT-VALUE})."
      })
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

  @Option(names = "--json", description = "Print one JSON object a case.")
  private boolean json;

  @Override
  public Integer call() {
    if (!Replay.policies().contains(policy)) {
      throw new ConfigException(
          "replay: got policy " + policy + ", expected one of " + Replay.policies());
    }
    PrintWriter out = spec.commandLine().getOut();
    if (!json) {
      out.printf(
          "%-28s %-9s %6s %-7s %8s %14s %14s%n",
          "case", "policy", "budget", "status", "slowdown", "peak reserved", "peak live");
    }
    for (Path log : logs) {
      Replay replay = new Replay(log.getFileName().toString(), StepLog.read(log));
      for (double budget : budgets) {
        print(out, replay.run(policy, budget, allocator));
      }
    }
    return 0;
  }

  private void print(PrintWriter out, Replay.Result result) {
    if (json) {
      out.println(result.toJson());
    } else {
      String slowdown = Double.isFinite(result.slowdown()) ? "%.4f" : "-";
      out.printf(
          Locale.ROOT,
          "%-28s %-9s %6.3f %-7s %8s %14d %14d%n",
          result.name(),
          result.policy(),
          result.budgetRatio(),
          result.status().name().toLowerCase(Locale.ROOT),
          slowdown.formatted(result.slowdown()),
          result.peakReserved(),
          result.peakLive());
    }
    out.flush();
  }
}
