package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.RunFolder;
import dev.tern.data.DataReader;
import dev.tern.predict.Predictor;
import dev.tern.train.Metrics;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tern quickstart}: the whole way on generated rows, without a configuration. */
@Command(
    name = "quickstart",
    description = "Generates rows, trains a model, evaluates it and predicts; takes no file.",
    mixinStandardHelpOptions = true)
final class QuickstartCommand implements Callable<Integer> {
  private static final String CONFIG = "quickstart.yaml";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Change a value.")
  private List<String> overrides = List.of();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Config config = Config.parse(text(), CONFIG, overrides);
    out.println("data    " + config.data().summary());
    out.println("model   " + config.model().summary());
    out.println(
        "train   "
            + config.train().summary()
            + ", memory "
            + Format.bytes(config.train().memory()));
    out.flush();
    Path predictions = config.run().dir().resolve("predictions.csv");
    try (Progress progress = Progress.of(spec.commandLine().getErr())) {
      TrainRun.Outcome outcome = TrainRun.run(config, RunFolder.Earlier.REPLACE, progress);
      if (outcome.stopped()) {
        return TrainCommand.INTERRUPTED;
      }
      try (Predictor predictor = Predictor.open(config.run().dir())) {
        DataSource source = DataSource.strict(config.data());
        try (DataReader rows = source.eval().orElseThrow()) {
          progress.begin("evaluate", "rows", 0, rows.rowCount().orElse(0));
          Metrics.Result result =
              Scoring.evaluate(predictor, rows, done -> progress.update(done, ""));
          progress.note("evaluation of the saved model: AUC " + Format.fixed(result.auc(), 4));
        }
        try (DataReader rows = source.eval().orElseThrow()) {
          progress.begin("predict", "rows", 0, rows.rowCount().orElse(0));
          Scoring.predict(predictor, rows, predictions, done -> progress.update(done, ""));
        }
      }
      progress.close();
      TrainCommand.print(out, config, outcome);
      out.println("predictions " + predictions);
      out.flush();
      return 0;
    }
  }

  /** The configuration. */
  static String text() {
    try (InputStream in = QuickstartCommand.class.getResourceAsStream("/" + CONFIG)) {
      return new String(Objects.requireNonNull(in, CONFIG).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(CONFIG, e);
    }
  }
}
