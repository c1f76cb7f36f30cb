package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.RunException;
import dev.tern.cli.run.RunFolder;
import dev.tern.cli.score.Scoring;
import dev.tern.data.DataReader;
import dev.tern.files.text.ScoreWriter;
import dev.tern.metrics.Metrics;
import dev.tern.metrics.Reliability;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code tern quickstart}: trains, evaluates and predicts on generated rows, without a
 * configuration file.
 */
@Command(
    name = "quickstart",
    description = "Generates rows, trains a model, evaluates it and predicts; takes no file.",
    mixinStandardHelpOptions = true)
final class QuickstartCommand implements Callable<Integer> {
  private static final String CONFIG = "quickstart.yaml";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Change a value.")
  private List<String> overrides = List.of();

  @Option(
      names = "--overwrite",
      description = "Replace an earlier run in the folder: the files that Tern wrote, no others.")
  private boolean overwrite;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Config config = Config.quickstart(CONFIG, overrides);
    requireGenerated(config.data());
    RunFolder.Earlier earlier = earlier(config.run().dir());
    out.println("data    " + config.data().summary());
    out.println("model   " + config.modelSummary());
    out.println(
        "train   "
            + config.train().summary()
            + ", memory "
            + Format.bytes(config.train().memory()));
    out.flush();
    Path predictions = RunFolder.predictions(config.run().dir());
    try (Progress progress = Progress.of(spec.commandLine().getErr())) {
      TrainRun.Outcome outcome =
          TrainRun.run(config, earlier, RunFolder.Maker.QUICKSTART, progress, Optional.empty());
      if (outcome.stopped()) {
        return TrainCommand.INTERRUPTED;
      }
      try (Predictor predictor = Predictor.open(config.run().dir())) {
        DataSource source = DataSource.strict(config.data());
        try (DataReader rows = source.eval().orElseThrow()) {
          progress.begin("evaluate", "rows", 0, rows.rowCount().orElse(0));
          Metrics.Result result =
              scoring(predictor, rows, progress)
                  .evaluate(Reliability.BINS, List.of())
                  .getFirst()
                  .metrics();
          progress.note("evaluation of the saved model: AUC " + Format.fixed(result.auc(), 4));
        }
        try (DataReader rows = source.eval().orElseThrow();
            ScoreWriter writer =
                ScoreWriter.create(predictions, ',', List.of(), Scoring.columns(predictor))) {
          progress.begin("predict", "rows", 0, rows.rowCount().orElse(0));
          scoring(predictor, rows, progress).predict(writer, Optional.empty());
        }
      }
      progress.close();
      TrainCommand.print(out, config, outcome);
      out.println("predictions " + predictions);
      out.flush();
      return 0;
    }
  }

  private static Scoring scoring(Predictor predictor, DataReader rows, Progress progress) {
    return new Scoring(predictor, rows, "generated rows", done -> progress.update(done, ""));
  }

  private static void requireGenerated(DataConfig data) {
    if (!data.format().equals("criteo-synthetic")) {
      throw new ConfigException(
          "quickstart: got data.format "
              + data.format()
              + ", expected criteo-synthetic; for rows of your own use tern train");
    }
    if (data.synthetic().evalRows() == 0) {
      throw new ConfigException(
          "quickstart: got data.eval_rows 0, expected at least 1 row to evaluate and predict; give"
              + " more");
    }
  }

  /**
   * What to do with an earlier run in {@code dir}: an earlier quickstart in the default folder is
   * replaced; any other run stays unless the user asks.
   */
  private RunFolder.Earlier earlier(Path dir) {
    boolean quickstart = RunFolder.maker(dir).equals(Optional.of(RunFolder.Maker.QUICKSTART));
    Path predictions = RunFolder.predictions(dir);
    if (!quickstart && Files.exists(predictions)) {
      throw new RunException(
          predictions
              + ": got a file that no quickstart wrote, expected none; move it away, or give --set"
              + " run.dir=OTHER");
    }
    Path usual = Config.quickstart(CONFIG, List.of()).run().dir();
    return overwrite || quickstart && dir.equals(usual)
        ? RunFolder.Earlier.REPLACE
        : RunFolder.Earlier.REFUSE;
  }
}
