package dev.tern.cli;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.YamlText;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileNames;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.DaysReport;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.RunFolder;
import dev.tern.cli.score.Scoring;
import dev.tern.data.DataReader;
import dev.tern.metrics.Reliability;
import dev.tern.metrics.TaskMetrics;
import dev.tern.predict.Predictor;
import dev.tern.predict.ScoreOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Training of days after each other: the run of a day begins with the weights of the day before,
 * whose model is tested on the day first. Each day has a run folder in the folder of the whole; of
 * earlier days the checkpoints go.
 */
final class DailyTraining {
  /** The first day has nothing to go on with. */
  private static final String WITHOUT_STATE = "train.from_state=false";

  private final Path config;
  private final List<String> overrides;
  private final Path folder;
  private final List<Path> days;

  /**
   * Days in the order of their names.
   *
   * @param overrides of the configuration, for all days
   * @param pattern which files or folders are days
   */
  DailyTraining(Path config, List<String> overrides, String pattern) {
    this.config = config;
    this.overrides = overrides;
    days = DataSource.files(List.of(Path.of(pattern)));
    Set<String> names = new HashSet<>();
    for (Path day : days) {
      if (!names.add(name(day))) {
        throw new ConfigException(
            "--days: got two days of the name "
                + name(day)
                + ", expected each once; give one pattern of dated names, as in 'data/day=*'");
      }
    }
    List<String> first = ofData(0);
    first.add(WITHOUT_STATE);
    folder = Config.load(config, first).run().dir();
  }

  /** As in {@code day=2026-01-31}, or the name of a file without its ending. */
  private static String name(Path day) {
    String name = String.valueOf(day.getFileName());
    int dot = Files.isDirectory(day) ? -1 : name.indexOf('.');
    return dot <= 0 ? name : name.substring(0, dot);
  }

  /** The settings of a day, whose run has its place in {@link #folder} yet to come. */
  private List<String> ofData(int day) {
    List<String> values = new ArrayList<>(overrides);
    values.add("data.train=[" + YamlText.quote(days.get(day).toString()) + "]");
    values.add("data.eval=[]");
    values.add("data.eval_from=");
    values.add("train.early_stop=0"); // Without rows to evaluate on nothing ends a run early.
    return values;
  }

  /** The configuration of a day's run, which begins with the weights of a checkpoint. */
  private Config ofDay(int day, Optional<Path> from) {
    List<String> values = ofData(day);
    values.add(from.map(Config::from).orElse(WITHOUT_STATE));
    values.add("run.dir=" + dir(day));
    return Config.load(config, values);
  }

  /**
   * Trains on all days.
   *
   * @param earlier what becomes of days that were trained on before
   * @return whether it was interrupted
   */
  boolean run(RunFolder.Earlier earlier, Progress progress) {
    DaysReport report =
        earlier == RunFolder.Earlier.RESUME ? DaysReport.read(folder) : DaysReport.begin(folder);
    requireSameDays(report);
    for (int day = report.days().size(); day < days.size(); day++) {
      Optional<Path> before = day == 0 ? Optional.empty() : Optional.of(checkpoint(dir(day - 1)));
      Config resolved = ofDay(day, before);
      progress.note("day " + (day + 1) + " of " + days.size() + ": " + name(days.get(day)));
      DaysReport.Day tested =
          before.isPresent()
              ? tested(before.get(), days.get(day), resolved, progress)
              : DaysReport.Day.first(name(days.get(day)));
      // A day that was interrupted is trained on anew.
      RunFolder.Earlier own =
          earlier == RunFolder.Earlier.REFUSE ? earlier : RunFolder.Earlier.REPLACE;
      TrainRun.Outcome outcome =
          TrainRun.run(resolved, own, RunFolder.Maker.TRAIN, progress, Optional.empty());
      if (outcome.stopped()) {
        progress.note("--resume goes on with " + name(days.get(day)));
        return true;
      }
      report.add(tested);
      if (day > 0) {
        removeCheckpoints(dir(day - 1));
      }
    }
    return false;
  }

  private void requireSameDays(DaysReport report) {
    for (int day = 0; day < report.days().size(); day++) {
      String done = report.days().get(day).name();
      if (day >= days.size() || !name(days.get(day)).equals(done)) {
        throw new ConfigException(
            "--days: got "
                + (day < days.size() ? name(days.get(day)) : "nothing")
                + " as day "
                + (day + 1)
                + ", expected "
                + done
                + ", which was trained on; keep the days in front, or begin anew with --overwrite");
      }
    }
  }

  private Path dir(int day) {
    return folder.resolve(name(days.get(day)));
  }

  /** The last step of a day's run. */
  private static Path checkpoint(Path run) {
    try (Stream<Path> all = Files.list(run.resolve("checkpoints"))) {
      return all.filter(path -> String.valueOf(path.getFileName()).matches("step-\\d+"))
          .max(Comparator.comparing(DailyTraining::step))
          .orElseThrow(() ->
              new DataException(
                  run + ": got no checkpoint, expected one of the day's end; train on it again"));
    } catch (IOException e) {
      throw new DataException(
          run + ": cannot be read (" + DataException.reason(e) + "); train on the day again", e);
    }
  }

  private static long step(Path checkpoint) {
    return Long.parseLong(String.valueOf(checkpoint.getFileName()).substring("step-".length()));
  }

  /** How the model of the days before predicts a day. */
  private static DaysReport.Day tested(Path model, Path day, Config resolved, Progress progress) {
    DataSource source = DataSource.of(resolved.data()).once();
    List<Path> rows = List.of(day);
    try (Predictor predictor = Predictor.open(Checkpoint.open(model), ScoreOptions.DEFAULT);
        DataReader reader = source.forModel(predictor.encoder()).open(rows)) {
      progress.begin("test on " + name(day), "rows", 0, reader.rowCount().orElse(0));
      Scoring scoring =
          new Scoring(predictor, reader, FileNames.of(rows), done -> progress.update(done, ""));
      TaskMetrics.Result result = scoring.evaluate(Reliability.BINS, List.of()).getFirst();
      source.noteSkipped(progress);
      DaysReport.Day figures =
          new DaysReport.Day(
              name(day),
              result.loss(),
              result.metrics().auc(),
              result.calibration(),
              result.reliability().map(Reliability::error).orElse(Double.NaN));
      progress.note(
          "tested on "
              + figures.name()
              + "  loss "
              + Format.fixed(figures.loss(), 4)
              + "  AUC "
              + Format.fixed(figures.auc(), 4));
      return figures;
    }
  }

  private static void removeCheckpoints(Path run) {
    try (Stream<Path> all = Files.walk(run.resolve("checkpoints"))) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(run + ": cannot remove its checkpoints", e);
    }
  }

  /** Prints the days in a table. */
  static String table(List<DaysReport.Day> done) {
    StringBuilder out = new StringBuilder();
    for (DaysReport.Day day : done) {
      out.append(day.name())
          .append("  AUC ")
          .append(Format.fixed(day.auc(), 4))
          .append("  log loss ")
          .append(Format.fixed(day.loss(), 4))
          .append("  calibration ")
          .append(Format.fixed(day.calibration(), 3))
          .append("  ECE ")
          .append(Format.fixed(day.ece(), 4))
          .append('\n');
    }
    return out.toString();
  }

  /** The folder of all days. */
  Path folder() {
    return folder;
  }
}
