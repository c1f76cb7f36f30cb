package dev.tern.cli;

import dev.tern.cli.board.Board;
import dev.tern.cli.board.MlflowLog;
import dev.tern.cli.board.TensorBoardFiles;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.DaysReport;
import dev.tern.cli.run.EvaluatedTask;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.RunFolder;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.train.Monitor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern train}: trains a model as a configuration says. */
@Command(
    name = "train",
    description = "Trains a model and leaves a run folder with checkpoints and a report.",
    mixinStandardHelpOptions = true)
final class TrainCommand implements Callable<Integer> {
  static final int INTERRUPTED = 130;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      arity = "0..1",
      paramLabel = "CONFIG",
      description = "The configuration, a YAML file.")
  private Optional<Path> config = Optional.empty();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Put a value over the file's, as in --set train.epochs=3; may be repeated.")
  private List<String> overrides = List.of();

  @Option(
      names = "--resume",
      description = "Go on with an interrupted run, on the same training files.")
  private boolean resume;

  @Option(
      names = "--from",
      paramLabel = "RUN",
      description =
          "Begin with the weights of an earlier run or checkpoint: the same as --set"
              + " train.from=RUN.")
  private Optional<Path> from = Optional.empty();

  @Option(
      names = "--days",
      paramLabel = "PATTERN",
      description = {
        "Train on one file or folder after another, in the order of their names, as in"
            + " 'data/day=*'. Each is tested on before it is trained on: days.jsonl and days.html"
            + " in the run's folder say how well."
      })
  private Optional<String> days = Optional.empty();

  @Option(
      names = "--overwrite",
      description = "Replace an earlier run in the folder: the files that Tern wrote, no others.")
  private boolean overwrite;

  @Option(
      names = "--record",
      paramLabel = "FILE",
      description = "Write a log of a training step, which tern replay reads.")
  private Optional<Path> record = Optional.empty();

  @Option(
      names = "--board",
      description =
          "Serve a page with the live curves until training ends, for this machine alone.")
  private boolean board;

  @Option(
      names = "--board-port",
      paramLabel = "PORT",
      description = "The same at this port; 0 for any free one (default " + Board.PORT + ").")
  private Optional<Integer> boardPort = Optional.empty();

  @Option(
      names = "--tensorboard",
      paramLabel = "FOLDER",
      description = "Write event files for TensorBoard there, in train and eval.")
  private Optional<Path> events = Optional.empty();

  @Option(
      names = "--mlflow",
      paramLabel = "URL",
      description =
          "Log parameters and metrics to this MLflow tracking server, as http://127.0.0.1:5000.")
  private Optional<String> mlflow = Optional.empty();

  @Option(
      names = "--mlflow-experiment",
      paramLabel = "NAME",
      description = "The experiment of the run there (default ${DEFAULT-VALUE}).",
      defaultValue = "tern")
  private String experiment = "tern";

  @Option(names = "--help-config", description = "Print all keys of a configuration.")
  private boolean helpConfig;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    if (helpConfig) {
      out.print(Config.help());
      out.flush();
      return 0;
    }
    Path file =
        config.orElseThrow(() ->
            new ConfigException(
                "train: got no configuration, expected a YAML file; see examples/"));
    List<String> values = new ArrayList<>(overrides);
    from.ifPresent(run -> values.add(Config.from(run)));
    if (days.isPresent()) {
      return daily(out, file, values);
    }
    Config resolved =
        resume ? Config.loadResumed(file, values, RunFolder::earlier) : Config.load(file, values);
    RunFolder.Earlier earlier = earlier();
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Closing _ = board(resolved.run().dir(), progress);
        Closing _ = events(resolved.run().dir(), progress);
        Logging log = mlflow(resolved, progress)) {
      TrainRun.Outcome outcome =
          TrainRun.run(resolved, earlier, RunFolder.Maker.TRAIN, progress, record);
      log.ends(outcome.stopped() ? MlflowLog.End.KILLED : MlflowLog.End.FINISHED);
      print(out, resolved, outcome);
      return outcome.stopped() ? INTERRUPTED : 0;
    }
  }

  private RunFolder.Earlier earlier() {
    if (resume && overwrite) {
      throw new ConfigException(
          "train: got --resume and --overwrite, expected one of them; --resume goes on with the"
              + " run in the folder, --overwrite removes it");
    }
    return resume
        ? RunFolder.Earlier.RESUME
        : overwrite ? RunFolder.Earlier.REPLACE : RunFolder.Earlier.REFUSE;
  }

  /** Something that ends with the command. */
  private interface Closing extends AutoCloseable {
    @Override
    void close();
  }

  /** Starts the board of {@code runs}, if it is asked for. */
  private Closing board(Path runs, Progress progress) {
    if (!board && boardPort.isEmpty()) {
      return () -> {};
    }
    Board started =
        Board.start(List.of(runs.toString()), true, Board.HOST, boardPort.orElse(Board.PORT));
    progress.note("board at " + started.url() + " until training ends");
    return started::close;
  }

  /** Begins to write events of the run in {@code dir}, if they are asked for. */
  private Closing events(Path dir, Progress progress) {
    if (events.isEmpty()) {
      return () -> {};
    }
    TensorBoardFiles files = TensorBoardFiles.follow(dir, events.get());
    return () -> {
      files.close();
      files.failure().ifPresent(progress::note);
    };
  }

  /** A log of the run elsewhere. */
  private record Logging(Optional<MlflowLog> log, Progress progress) implements Closing {
    void ends(MlflowLog.End how) {
      log.ifPresent(each -> each.ends(how));
    }

    @Override
    public void close() {
      log.ifPresent(MlflowLog::close);
      log.flatMap(MlflowLog::failure).ifPresent(progress::note);
    }
  }

  /** Begins to log the run on an MLflow server, if that is asked for. */
  private Logging mlflow(Config config, Progress progress) {
    Path dir = config.run().dir();
    return new Logging(
        mlflow.map(server -> {
          Map<String, String> tags =
              Map.of("mlflow.source.name", "tern train", "tern.folder", dir.toString());
          String name = String.valueOf(dir.getFileName());
          try {
            MlflowLog.Target target =
                new MlflowLog.Target(MlflowLog.Target.address(server), experiment, name, tags);
            return MlflowLog.follow(target, dir, config.values(), progress::note);
          } catch (IllegalArgumentException e) {
            throw new ConfigException(String.valueOf(e.getMessage()), e);
          }
        }),
        progress);
  }

  /** The option that {@code --days} does not go with, if one is given. */
  private Optional<String> notDaily() {
    Map<String, Optional<?>> options =
        Map.of("--record", record, "--from", from, "--tensorboard", events, "--mlflow", mlflow);
    return options.entrySet().stream()
        .filter(option -> option.getValue().isPresent())
        .map(Map.Entry::getKey)
        .sorted()
        .findFirst();
  }

  /** Days after each other. */
  private int daily(PrintWriter out, Path file, List<String> values) {
    notDaily()
        .ifPresent(option -> {
          throw new ConfigException(
              "train: got --days with " + option + ", expected one of them; leave the other out");
        });
    RunFolder.Earlier earlier = earlier();
    DailyTraining training = new DailyTraining(file, values, days.orElseThrow());
    try (Progress progress = Progress.of(spec.commandLine().getErr());
        Closing _ = board(training.folder().resolve("*"), progress)) {
      boolean stopped = training.run(earlier, progress);
      progress.close();
      out.print(DailyTraining.table(DaysReport.read(training.folder()).days()));
      out.println("report " + Format.path(training.folder().resolve("days.html")));
      out.flush();
      return stopped ? INTERRUPTED : 0;
    }
  }

  static void print(PrintWriter out, Config config, TrainRun.Outcome outcome) {
    outcome
        .best()
        .ifPresent(best ->
            out.println(
                "best "
                    + classes(best).orElseGet(() -> figures(best.loss(), best.auc(), best.values()))
                    + " at step "
                    + Format.whole(best.step())
                    + by(config.train().options().monitor(), best)));
    outcome
        .best()
        .filter(best -> Double.isFinite(best.calibrationError()))
        .ifPresent(best ->
            out.println(
                "calibration "
                    + Format.fixed(best.calibration(), 4)
                    + ", ECE "
                    + Format.fixed(best.calibrationError(), 4)
                    + " there"));
    outcome
        .best()
        .filter(best -> Double.isFinite(best.gauc()))
        .ifPresent(best ->
            out.println(
                "GAUC "
                    + Format.fixed(best.gauc(), 4)
                    + " by "
                    + config.data().group().orElse("")
                    + " there"));
    outcome
        .best()
        .flatMap(best -> best.evaluated().stream().findFirst())
        .flatMap(EvaluatedTask::retrieval)
        .ifPresent(found ->
            out.println(
                "recall@%d %s of %s items there"
                    .formatted(
                        found.at(),
                        Format.fixed(found.recall(), 4),
                        Format.whole(found.candidates()))));
    outcome.best().map(MetricsLine::tasks).orElse(List.of()).stream()
        .skip(1)
        .forEach(task ->
            out.println(
                task.name() + " " + figures(task.loss(), task.auc(), task.values()) + " there"));
    outcome
        .reachable()
        .ifPresent(limit ->
            out.println(
                "best reachable AUC "
                    + Format.fixed(limit.auc(), 4)
                    + ", log loss "
                    + Format.fixed(limit.logLoss(), 4)));
    if (!config.train().keepsAllRows()) {
      out.println(tables(outcome.tables()));
    }
    out.println("report " + Format.path(config.run().dir().resolve("report.html")));
    out.flush();
  }

  /** The figures of all classes, if the first task is one. */
  private static Optional<String> classes(MetricsLine line) {
    return line.evaluated().stream()
        .findFirst()
        .flatMap(EvaluatedTask::classes)
        .map(of ->
            of.label()
                + " log loss "
                + Format.fixed(of.logLoss(), 4)
                + ", accuracy "
                + Format.fixed(of.accuracy(), 4));
  }

  private static String figures(double loss, double auc, Optional<MetricsLine.Values> values) {
    return values
        .map(of ->
            "loss "
                + Format.fixed(loss, 4)
                + ", MSE "
                + Format.fixed(of.mse(), 4)
                + ", MAE "
                + Format.fixed(of.mae(), 4)
                + ", R2 "
                + Format.fixed(of.r2(), 4))
        .orElseGet(() ->
            "AUC "
                + Format.fixed(auc, 4)
                + (Double.isNaN(loss) ? "" : ", log loss " + Format.fixed(loss, 4)));
  }

  /** Says by which figure the best is the best, where that is not the usual one. */
  private static String by(Monitor monitor, MetricsLine best) {
    boolean values =
        best.tasks().stream()
            .anyMatch(task -> task.name().equals(monitor.task()) && task.values().isPresent());
    boolean classes =
        best.evaluated().stream()
            .flatMap(task -> task.classes().stream())
            .anyMatch(of -> of.label().equals(monitor.task()));
    return monitor.equals(Monitor.AUC) ? "" : ", the best by " + monitor.name(values || classes);
  }

  /** Counts of ids without a row and of rows that went, if some table does not keep all rows. */
  private static String tables(List<TableStatistics> tables) {
    return "tables "
        + Format.whole(tables.stream().mapToLong(TableStatistics::rows).sum())
        + " rows in "
        + Format.bytes(tables.stream().mapToLong(TableStatistics::bytes).sum())
        + ", admitted "
        + Format.whole(tables.stream().mapToLong(TableStatistics::admitted).sum())
        + ", rejected "
        + Format.whole(tables.stream().mapToLong(TableStatistics::rejected).sum())
        + ", evicted "
        + Format.whole(tables.stream().mapToLong(TableStatistics::evicted).sum());
  }
}
