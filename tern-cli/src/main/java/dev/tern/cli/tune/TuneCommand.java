package dev.tern.cli.tune;

import dev.tern.base.DataException;
import dev.tern.cli.choice.SeedChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.RunFolder;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern tune}: searches good values of configuration keys. */
@Command(
    name = "tune",
    description = "Trains with many values of configuration keys, and says which are the best.",
    mixinStandardHelpOptions = true)
public final class TuneCommand implements Callable<Integer> {
  static final int MOST_TRIALS = 10_000;
  private static final int INTERRUPTED = 130;
  private static final int SHOWN = 10;

  @Spec private CommandSpec spec = CommandSpec.create();

  private final Training training;

  @Parameters(paramLabel = "CONFIG", description = "The configuration, a YAML file.")
  private Path config = Path.of("");

  @Option(
      names = "--search",
      required = true,
      paramLabel = "KEY=VALUES",
      description =
          "A key and its values: LOW..HIGH, with :log behind it by powers, or A|B|C, as in"
              + " --search train.optimizer.lr=1e-4..1e-2:log; may be repeated.")
  private List<String> searches = List.of();

  @Option(
      names = "--trials",
      paramLabel = "N",
      defaultValue = "20",
      description = "Trials (default ${DEFAULT-VALUE}).")
  private int trials = 20;

  @Mixin private SeedChoice seed = new SeedChoice();

  @Option(
      names = "--halving",
      description =
          "Train all trials for a share of train.epochs, and each time the best third for three"
              + " times as many, until the rest has all of them.")
  private boolean halving;

  @Option(
      names = "--metric",
      paramLabel = "FIGURE",
      description = "The figure to compare by: the same as --set train.monitor=FIGURE.")
  private Optional<String> metric = Optional.empty();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Put a value over the file's in all trials; may be repeated.")
  private List<String> overrides = List.of();

  @Option(names = "--resume", description = "Go on with a search that was interrupted.")
  private boolean resume;

  @Option(names = "--overwrite", description = "Replace an earlier search in the folder.")
  private boolean overwrite;

  /** Trains by {@code training}. */
  public TuneCommand(Training training) {
    this.training = training;
  }

  @Override
  public Integer call() {
    if (trials < 1 || trials > MOST_TRIALS) {
      throw new ConfigException(
          "--trials: got %,d, expected 1 to %,d; give another".formatted(trials, MOST_TRIALS));
    }
    List<String> values = new ArrayList<>(overrides);
    metric.ifPresent(figure -> values.add("train.monitor=" + figure));
    List<Search> keys = searches.stream().map(Search::parse).toList();
    Plan plan = new Plan(config, values, keys, trials, seed.seed(), halving);
    try (Training.Session session = training.begin(spec.commandLine().getErr())) {
      Tuning tuning = Tuning.open(plan, session, earlier());
      boolean stopped = tuning.run();
      session.close();
      print(spec.commandLine().getOut(), plan, tuning);
      if (!stopped && tuning.best().isEmpty()) {
        String first =
            tuning.trials().stream()
                .flatMap(trial -> trial.failure().stream())
                .findFirst()
                .orElse("");
        throw new DataException("tune: all trials failed, the first with: " + first);
      }
      return stopped ? INTERRUPTED : 0;
    }
  }

  private RunFolder.Earlier earlier() {
    if (resume && overwrite) {
      throw new ConfigException(
          "tune: got --resume and --overwrite, expected one of them; --resume goes on with the"
              + " search in the folder, --overwrite removes it");
    }
    return resume
        ? RunFolder.Earlier.RESUME
        : overwrite ? RunFolder.Earlier.REPLACE : RunFolder.Earlier.REFUSE;
  }

  private static void print(PrintWriter out, Plan plan, Tuning tuning) {
    List<Trial> sorted = tuning.sorted();
    if (!sorted.isEmpty()) {
      out.printf("%-6s %-12s %7s %9s  values%n", "trial", tuning.name(), "epochs", "time");
    }
    for (Trial trial : sorted.subList(0, Math.min(SHOWN, sorted.size()))) {
      Trial.Round last = trial.last().orElseThrow();
      out.printf(
          "%-6d %-12s %7s %9s  %s%n",
          trial.number(),
          Format.fixed(last.value(), 5),
          Format.whole(last.epochs()),
          Format.time(last.seconds()),
          trial.shown());
    }
    if (sorted.size() > SHOWN) {
      out.println(sorted.size() - SHOWN + " more in " + Format.path(TuneFile.in(tuning.folder())));
    }
    long failed = tuning.trials().stream().filter(t -> t.failure().isPresent()).count();
    if (failed > 0) {
      out.println(failed + " failed, as " + Format.path(TuneFile.in(tuning.folder())) + " says");
    }
    tuning
        .best()
        .ifPresent(best -> {
          out.println("best   " + plan.command(best, tuning.folder()));
          out.println("config " + Format.path(tuning.folder().resolve(Tuning.BEST)));
        });
    out.println("page   " + Format.path(tuning.folder().resolve("tune.html")));
    out.flush();
  }
}
