package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern predict}: scores new rows into a CSV file. */
@Command(
    name = "predict",
    description = "Scores rows; the output has one probability a row, in order.",
    mixinStandardHelpOptions = true)
final class PredictCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "CHECKPOINT", description = "A run or checkpoint folder.")
  private Path checkpoint = Path.of("");

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DATA",
      description = "Files of the format that the run was trained on; no label is needed.")
  private List<Path> data = List.of();

  @Option(names = "--out", required = true, paramLabel = "FILE", description = "The CSV to write.")
  private Path target = Path.of("");

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Put a value over the run's.")
  private List<String> overrides = List.of();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Config config = SavedRun.config(checkpoint, overrides);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Predictor predictor = Predictor.open(checkpoint);
        DataReader rows = DataSource.strict(config.data()).withoutLabels().open(data)) {
      progress.begin("predict", "rows", 0, rows.rowCount().orElse(0));
      long count = Scoring.predict(predictor, rows, target, done -> progress.update(done, ""));
      progress.close();
      out.println(Format.whole(count) + " predictions in " + target);
      out.flush();
    }
    return 0;
  }
}
