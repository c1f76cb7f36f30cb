package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.choice.ReadingChoice;
import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileNames;
import dev.tern.cli.notes.ColumnNotes;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.files.KeptTexts;
import dev.tern.files.text.ScoreWriter;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern predict}: scores new rows into a CSV file. */
@Command(
    name = "predict",
    description = "Scores rows; the output has one probability a row and task, in order.",
    mixinStandardHelpOptions = true)
public final class PredictCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Mixin private ReadingChoice reading = new ReadingChoice();

  @Mixin private TablesChoice tables = new TablesChoice();

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DATA",
      description =
          "Files of the format that the run was trained on, or - for the standard input; no label"
              + " is needed.")
  private List<Path> data = List.of();

  @Option(
      names = "--out",
      required = true,
      paramLabel = "FILE",
      description =
          "The CSV to write: .csv, .tsv or .txt, with .gz behind it compressed; - for the standard"
              + " output.")
  private Path target = Path.of("");

  @Option(names = "--overwrite", description = "Replace a file that is there already.")
  private boolean overwrite;

  @Option(
      names = "--keep",
      split = ",",
      paramLabel = "COLUMN",
      description =
          "Columns of CSV or Parquet files that stand before the prediction as they are, as in"
              + " --keep user,item.")
  private List<String> keep = List.of();

  @Override
  public Integer call() {
    List<String> overrides = reading.overrides(false);
    ScoreTarget out = new ScoreTarget(target);
    out.check(overwrite);
    Optional<KeptTexts> kept = kept();
    Checkpoint opened = checkpoint.open();
    DataConfig config = SavedRun.config(opened, checkpoint.path(), overrides);
    List<Path> inputs = DataSource.inputs(data);
    List<Path> files = DataSource.files(inputs);
    out.requireNoInput(files);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Predictor predictor = Predictor.open(opened, tables.options());
        DataReader rows = rows(source(config, predictor), inputs, kept);
        ScoreWriter writer = out.open(keep, Scoring.columns(predictor))) {
      progress.begin("predict", "rows", 0, rows.rowCount().orElse(0));
      Scoring scoring =
          new Scoring(predictor, rows, FileNames.of(files), done -> progress.update(done, ""));
      long count = scoring.predict(writer, kept);
      ColumnNotes.scored(scoring.counts(), progress);
      if (count == 0) {
        progress.note("warning: " + FileNames.of(files) + ": got no rows, so there are no scores");
      }
      progress.close();
      String place = out.isStandard() ? "" : " in " + target;
      say(Format.whole(count) + " predictions" + place, out.isStandard());
    } catch (DataException e) {
      if (out.isClosedBy(e)) {
        return 1; // Its reader has had enough, as head has.
      }
      throw e;
    }
    return 0;
  }

  private Optional<KeptTexts> kept() {
    return keep.isEmpty() ? Optional.empty() : Optional.of(Retrieval.texts(keep));
  }

  private static DataSource source(DataConfig config, Predictor predictor) {
    return DataSource.strict(config).forModel(predictor.encoder()).withoutLabels().once();
  }

  private static DataReader rows(DataSource source, List<Path> inputs, Optional<KeptTexts> kept) {
    return kept.isPresent() ? source.open(inputs, kept.get()) : source.open(inputs);
  }

  /** Prints a line beside the predictions, which have the standard output for themselves. */
  private void say(String line, boolean aside) {
    PrintWriter to = aside ? spec.commandLine().getErr() : spec.commandLine().getOut();
    to.println(line);
    to.flush();
  }
}
