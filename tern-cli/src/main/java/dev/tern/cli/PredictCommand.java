package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.embedding.config.RowFormat;
import dev.tern.predict.Predictor;
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

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description = "The CSV to write: .csv, .tsv or .txt, with .gz behind it compressed.")
  private Path target = Path.of("");

  @Option(names = "--overwrite", description = "Replace a file that is there already.")
  private boolean overwrite;

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
    Config.requireReading(overrides, false);
    requireTable(target);
    WriteOptions.requireNew(target, overwrite);
    Config config = SavedRun.config(checkpoint, overrides);
    List<Path> files = DataSource.files(data);
    WriteOptions.requireNoInput(target, files);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Predictor predictor = Predictor.open(checkpoint, tables);
        DataReader rows =
            DataSource.strict(config.data())
                .forModel(predictor.encoder())
                .withoutLabels()
                .open(data)) {
      progress.begin("predict", "rows", 0, rows.rowCount().orElse(0));
      Scoring scoring =
          new Scoring(predictor, rows, Scoring.name(files), done -> progress.update(done, ""));
      long count = scoring.predict(target);
      progress.close();
      out.println(Format.whole(count) + " predictions in " + target);
      out.flush();
    }
    return 0;
  }

  private static void requireTable(Path target) {
    if (!String.valueOf(target.getFileName())
        .toLowerCase(Locale.ROOT)
        .matches(".+\\.(csv|tsv|txt)(\\.gz)?")) {
      throw new ConfigException(
          target
              + ": got a name that does not end like the name of a text file, expected .csv, .tsv"
              + " or .txt, or these with .gz; give another --out");
    }
  }
}
