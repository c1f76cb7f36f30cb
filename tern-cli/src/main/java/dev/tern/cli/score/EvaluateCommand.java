package dev.tern.cli.score;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.choice.CheckpointChoice;
import dev.tern.cli.choice.ReadingChoice;
import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.ColumnChoice;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileNames;
import dev.tern.cli.files.LabelCheck;
import dev.tern.cli.notes.ColumnNotes;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Format;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.metrics.ClassMetrics;
import dev.tern.metrics.Metrics;
import dev.tern.metrics.TaskMetrics;
import dev.tern.metrics.ValueMetrics;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
        "Scores labelled rows and prints AUC, log loss, calibration, its error and the memory of"
            + " tables.",
    mixinStandardHelpOptions = true)
public final class EvaluateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private CheckpointChoice checkpoint = new CheckpointChoice();

  @Mixin private ReadingChoice reading = new ReadingChoice();

  @Mixin private TablesChoice tables = new TablesChoice();

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DATA",
      description = "Files of the format that the run was trained on, or - for the standard input.")
  private List<Path> data = List.of();

  @Option(
      names = "--group",
      paramLabel = "COLUMN",
      description =
          "A column with one value a row, such as user: also prints figures of the rows of each"
              + " value (GAUC, NDCG, recall, hit rate, MRR); the default is the run's data.group.")
  private Optional<String> group = Optional.empty();

  @Option(
      names = "--at",
      paramLabel = "K",
      description =
          "Rows of a group that count as its first, by score, in NDCG, recall and hit rate"
              + " (default ${DEFAULT-VALUE}).",
      defaultValue = "10")
  private int at = 10;

  @Option(
      names = "--bins",
      paramLabel = "N",
      description =
          "Bins of equally many rows by prediction, over which the calibration error (ECE) is"
              + " taken (default ${DEFAULT-VALUE}).",
      defaultValue = "15")
  private int bins = 15;

  @Option(
      names = "--against",
      paramLabel = "CHECKPOINT",
      description =
          "Another checkpoint or run's folder, whose model scores the same rows: also prints its"
              + " AUC and log loss, and how far the first model's are apart from them.")
  private Optional<Path> against = Optional.empty();

  @Override
  public Integer call() {
    if (at < 1) {
      throw new ConfigException("--at: got " + at + ", expected 1 or more; 10 is usual");
    }
    if (bins < 1 || bins > 10_000) {
      throw new ConfigException("--bins: got " + bins + ", expected 1 to 10000; 15 are usual");
    }
    List<String> overrides = reading.overrides(true);
    Checkpoint opened = checkpoint.open();
    Optional<Checkpoint> other = against.map(checkpoint::open);
    DataConfig config = SavedRun.config(opened, checkpoint.path(), overrides);
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Predictor predictor = open(opened)) {
      ColumnChoice columns = ColumnChoice.of(config).forModel(predictor.encoder(), Set.of());
      if (other.isEmpty()) {
        evaluate(progress, predictor, columns, Optional.empty());
      } else {
        DataConfig own = SavedRun.config(other.get(), against.orElseThrow(), overrides);
        try (Predictor second = open(other.get())) {
          Rival.requireSameTasks(predictor, second);
          ColumnChoice others = ColumnChoice.of(own).forModel(second.encoder(), Set.of());
          evaluate(progress, predictor, columns, Optional.of(new Rival(second, others)));
        }
      }
    }
    return 0;
  }

  private Predictor open(Checkpoint opened) {
    return Predictor.open(opened, tables.options());
  }

  /**
   * Reads the rows once and prints what they say.
   *
   * @param columns of the first model
   */
  private void evaluate(
      Progress progress, Predictor predictor, ColumnChoice columns, Optional<Rival> rival) {
    PrintWriter out = spec.commandLine().getOut();
    DataConfig config = columns.config();
    List<Path> inputs = DataSource.inputs(data);
    DataSource plain = DataSource.of(config).once().forModel(predictor.encoder());
    boolean takesMore = plain.takesMore(inputs);
    Optional<String> column = group.or(config::group);
    DataSource source =
        plain
            .with(rival.map(second -> second.more(columns, takesMore)).orElse(Columns.NONE))
            .grouped(column, inputs);
    try (DataReader rows = source.open(inputs)) {
      progress.begin("evaluate", "rows", 0, rows.rowCount().orElse(0));
      Scoring scoring =
          new Scoring(predictor, rows, FileNames.of(data), done -> progress.update(done, ""));
      Optional<GroupScores> groups =
          column.map(name -> new GroupScores(rows.schema(), scoring.labels(), name, at));
      rival.ifPresent(second -> second.begin(rows.schema(), scoring.labels(), scoring.source()));
      List<TaskMetrics.Result> tasks =
          scoring.evaluate(bins, Stream.concat(groups.stream(), rival.stream()).toList());
      source.noteSkipped(progress);
      ColumnNotes.scored(scoring.counts(), progress);
      progress.close();
      if (scoring.counts().rows() == 0) {
        throw DataSource.withoutRows(data);
      }
      for (TaskMetrics.Result task : tasks) {
        String name = tasks.size() > 1 ? task.task() + " " : "";
        task.classes().ifPresent(classes -> print(out, classes));
        print(out, progress, task, name, config);
        if (!predictor.hasOwnLoss() && task.values().isEmpty()) {
          printProbabilities(out, task.metrics(), name);
          task.reliability()
              .ifPresent(reliability ->
                  line(
                      out,
                      name + "ECE in " + bins + " bins",
                      Format.fixed(reliability.error(), 6)));
        }
      }
      groups.ifPresent(scores -> scores.print(out, progress));
      rival.ifPresent(second -> second.print(out, predictor));
      line(out, "tables", Format.bytes(predictor.tableBytes()));
      out.flush();
    }
  }

  /** Prints the figures of all classes of a label. */
  private static void print(PrintWriter out, ClassMetrics.Result result) {
    line(out, result.label() + " rows", Format.whole(result.rows()));
    line(out, result.label() + " accuracy", Format.fixed(result.accuracy(), 6));
    line(out, result.label() + " log loss", Format.fixed(result.logLoss(), 6));
  }

  /** Prints the figures of a task, each behind {@code name}. */
  private static void print(
      PrintWriter out, Progress progress, TaskMetrics.Result task, String name, DataConfig config) {
    if (task.values().isPresent()) {
      print(out, task.values().get(), name);
      return;
    }
    Metrics.Result result = task.metrics();
    if (result.rows() == 0) {
      progress.note(
          "no %sAUC: no row counts for it; see data.labels.within and data.labels.missing"
              .formatted(name));
    } else if (Double.isNaN(result.auc())) {
      progress.note(
          "no %sAUC: all %s labels are %d; %s"
              .formatted(
                  name,
                  Format.whole(result.rows()),
                  result.positives() == 0 ? 0 : 1,
                  LabelCheck.advice(config)));
    }
    line(out, name + "rows", Format.whole(result.rows()));
    line(out, name + "AUC", Format.fixed(result.auc(), 6));
    // Of soft labels it is not known.
    if (config.isWhole(task.task()) || !Double.isNaN(result.aucDeviation())) {
      line(
          out,
          name + "AUC in 95% of samples",
          Format.fixed(result.aucLow(), 4) + " to " + Format.fixed(result.aucHigh(), 4));
    }
  }

  private static void printProbabilities(PrintWriter out, Metrics.Result result, String name) {
    line(out, name + "log loss", Format.fixed(result.logLoss(), 6));
    line(out, name + "normalized entropy", Format.fixed(result.normalizedEntropy(), 4));
    line(out, name + "RCE", Format.fixed(result.relativeCrossEntropy(), 4));
    line(out, name + "calibration", Format.fixed(result.calibration(), 4));
  }

  /** Prints the figures of a task that predicts values. */
  private static void print(PrintWriter out, ValueMetrics.Result result, String name) {
    line(out, name + "rows", Format.whole(result.rows()));
    line(out, name + "loss", Format.fixed(result.loss(), 6));
    line(out, name + "MSE", Format.fixed(result.mse(), 6));
    line(out, name + "MAE", Format.fixed(result.mae(), 6));
    line(out, name + "R2", Format.fixed(result.r2(), 6));
    line(out, name + "SMAPE", Format.fixed(result.smape(), 6));
    line(out, name + "calibration", Format.fixed(result.calibration(), 4));
  }

  private static void line(PrintWriter out, String name, String value) {
    out.println(name + " " + value);
  }
}
