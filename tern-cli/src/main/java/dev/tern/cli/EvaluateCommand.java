package dev.tern.cli;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.run.Format;
import dev.tern.cli.table.CheckpointChoice;
import dev.tern.data.DataReader;
import dev.tern.embedding.config.RowFormat;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import dev.tern.train.Metrics;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern evaluate}: metrics of a checkpoint on labelled rows. */
@Command(
    name = "evaluate",
    description =
        "Scores labelled rows and prints AUC, log loss, calibration and the memory of tables.",
    mixinStandardHelpOptions = true)
final class EvaluateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DATA",
      description = "Files of the format that the run was trained on, or - for the standard input.")
  private List<Path> data = List.of();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "How files are read, where that differs from the run's, as in --set"
              + " data.delimiter=tab.")
  private List<String> overrides = List.of();

  @Option(
      names = "--tables",
      paramLabel = "FORMAT",
      description =
          "How rows of embedding tables lie in memory: stored, or int8 in about a byte a weight"
              + " (default ${DEFAULT-VALUE}).",
      defaultValue = "stored")
  private RowFormat tables = RowFormat.STORED;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Config.requireReading(overrides, true);
    Checkpoint opened = checkpoint.open();
    DataConfig config = SavedRun.config(opened, checkpoint.path(), overrides);
    DataSource source = DataSource.of(config).once();
    List<Path> inputs = DataSource.inputs(data);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Predictor predictor = Predictor.open(opened, ScoreOptions.DEFAULT.withTables(tables));
        DataReader rows = source.forModel(predictor.encoder()).open(inputs)) {
      progress.begin("evaluate", "rows", 0, rows.rowCount().orElse(0));
      Scoring scoring =
          new Scoring(predictor, rows, Scoring.name(data), done -> progress.update(done, ""));
      Metrics.Result result = scoring.evaluate();
      source.noteSkipped(progress);
      ColumnNotes.scored(scoring.counts(), progress);
      progress.close();
      if (result.rows() == 0) {
        throw DataSource.withoutRows(data);
      }
      if (Double.isNaN(result.auc())) {
        progress.note(
            "no AUC: all %s labels are %d; %s"
                .formatted(
                    Format.whole(result.rows()),
                    result.positives() == 0 ? 0 : 1,
                    LabelCheck.advice(config.positive())));
      }
      out.printf(
          "rows %s%nAUC %s%nlog loss %s%ncalibration %s%ntables %s%n",
          Format.whole(result.rows()),
          Format.fixed(result.auc(), 6),
          Format.fixed(result.logLoss(), 6),
          Format.fixed(result.calibration(), 4),
          Format.bytes(predictor.tableBytes()));
      out.flush();
    }
    return 0;
  }
}
