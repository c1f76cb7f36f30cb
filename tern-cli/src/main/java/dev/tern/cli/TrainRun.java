package dev.tern.cli;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.Every;
import dev.tern.cli.config.TrainConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.LabelCheck;
import dev.tern.cli.notes.ColumnNotes;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.EvaluatedTask;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Machine;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.MetricsLog;
import dev.tern.cli.run.Report;
import dev.tern.cli.run.RunFolder;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextDictionary;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.files.Optimum;
import dev.tern.files.text.VectorFile;
import dev.tern.metrics.ClassMetrics;
import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.TaskMetrics;
import dev.tern.tensor.CudaDevices;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import dev.tern.train.Monitor;
import dev.tern.train.Progress.Split;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;

/** One run of training: its folder, its progress, its report. */
final class TrainRun {
  /** How long an interrupted process may take for its last checkpoint and the report. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Config config;
  private final RunFolder folder;
  private final Progress progress;
  private final DataSource source;
  private final TrainNotes notes;
  private final Optional<Path> record;

  /** Begins to show the progress of training. */
  private Runnable atTraining = () -> {};

  /** Whether the columns of an evaluation were shown: later ones have the same rows. */
  private boolean isColumnsShown;

  private boolean isPairsShown;

  private TrainRun(Config config, RunFolder folder, Progress progress, Optional<Path> record) {
    this.record = record;
    this.config = config;
    this.folder = folder;
    this.progress = progress;
    source = new DataSource(config.data(), new TextDictionary());
    notes = new TrainNotes(config.train(), progress);
  }

  /**
   * How a run ended.
   *
   * @param best best evaluation, where there was one
   * @param reachable what a perfect model reaches on the evaluation rows, where that is known
   * @param stopped whether it was interrupted
   * @param tables the embedding tables at the end
   */
  record Outcome(
      Optional<MetricsLine> best,
      Optional<Optimum> reachable,
      boolean stopped,
      List<TableStatistics> tables) {}

  /**
   * Trains as {@code config} says, on behalf of the command {@code maker}.
   *
   * @param record where to write a log of a step
   */
  static Outcome run(
      Config config,
      RunFolder.Earlier earlier,
      RunFolder.Maker maker,
      Progress progress,
      Optional<Path> record) {
    record.ifPresent(TrainRun::requireFolder);
    List<Path> eval = config.data().evalFiles();
    RunFolder.Inputs inputs =
        new RunFolder.Inputs(
            DataSource.files(config.data().train()),
            eval.isEmpty() ? List.of() : DataSource.files(eval));
    try (RunFolder folder = RunFolder.open(config, earlier, maker, inputs)) {
      return new TrainRun(config, folder, progress, record).run(earlier);
    }
  }

  /** Checks the folder before training, rather than after it. */
  private static void requireFolder(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new ConfigException(
          "--record: got " + file + ", expected a file in a folder that is there; make the folder");
    }
  }

  /** Reads the data once before it writes anything or removes an earlier run. */
  private Outcome run(RunFolder.Earlier earlier) {
    // Now, rather than after the first epoch.
    boolean resumed = earlier == RunFolder.Earlier.RESUME;
    if (!resumed || !Checkpoint.existsAt(folder.checkpoints())) {
      requireEvaluations();
    }
    requireDevice(config.train().hardware());
    if (!resumed) {
      source.times(progress);
    }
    LabelCheck labels = labelCheck();
    labels.evaluation(progress, resumed ? OptionalInt.empty() : stopsEarly());
    Optional<Optimum> reachable = ranks() ? Optional.empty() : source.optimum();
    boolean stopped;
    List<MetricsLine> lines;
    Optional<MetricsLine> best;
    Config found;
    Optional<DataReader> eval = source.eval();
    try (Device device = device(config.train());
        Trainer trainer = trainer(device, resumed)) {
      if (folder.evaluatesAnew()) {
        trainer.forgetBest();
        progress.note(
            "the evaluation files are others than before: the best begins anew with the first"
                + " evaluation");
      }
      found = begin(trainer, resumed);
      long first = trainer.step();
      notes.rate(first);
      try (MetricsLog log = folder.metrics(first)) {
        stopped = train(trainer, eval, log);
        if (resumed && !stopped && trainer.step() == first) {
          notes.nothing(first);
        }
        lines = List.copyOf(log.lines());
        best = best(trainer, lines);
        record.ifPresent(trainer::record);
        if (trainer.hasStoppedEarly()) {
          notes.early(trainer);
        }
      }
    } catch (RuntimeException | Error e) {
      if (!Checkpoint.existsAt(folder.checkpoints())) {
        folder.abandon();
      } else if (folder.isBegun()) {
        progress.note(folder.dir() + " keeps what was trained; --resume goes on with it");
      }
      throw e;
    } finally {
      eval.ifPresent(DataReader::close);
    }
    source.noteSkipped(progress);
    String state = stopped ? "interrupted" : "finished";
    String date =
        DateTimeFormatter.ofPattern("d MMMM yyyy, HH:mm", Locale.ROOT).format(ZonedDateTime.now());
    Optional<Report.Reachable> limit =
        reachable.map(optimum -> new Report.Reachable(optimum.auc(), optimum.logLoss()));
    folder.writeReport(new Report(found, lines, best, state, limit, Machine.here(), date).html());
    return new Outcome(
        best, reachable, stopped, lines.isEmpty() ? List.of() : lines.getLast().tables());
  }

  /** The trainer's best evaluation, which is of the files that it evaluates on now. */
  private static Optional<MetricsLine> best(Trainer trainer, List<MetricsLine> lines) {
    return lines.stream()
        .filter(line -> line.split() == MetricsLine.Split.EVAL && line.step() == trainer.bestStep())
        .reduce((first, last) -> last);
  }

  /** The number of the label whose AUC ends the run early, if that may happen. */
  private OptionalInt stopsEarly() {
    TrainOptions options = config.train().options();
    Monitor monitor = options.monitor();
    boolean needsBothLabels =
        monitor.figure() == Monitor.Figure.AUC || monitor.figure() == Monitor.Figure.GAUC;
    return options.earlyStop() == 0 || !needsBothLabels
        ? OptionalInt.empty()
        : OptionalInt.of(Math.max(0, config.data().labels().indexOf(monitor.task())));
  }

  /** Refuses to wait for an evaluation that never comes. */
  private void requireEvaluations() {
    TrainConfig train = config.train();
    if (train.options().earlyStop() == 0) {
      return;
    }
    boolean generated = config.data().train().isEmpty();
    boolean none = !config.data().evaluates();
    if (none || train.options().evaluateEvery() == Every.NEVER.steps()) {
      String key = !none ? "train.evaluate_every" : generated ? "data.eval_rows" : "data.eval";
      throw new ConfigException(
          "train.early_stop: got %d without evaluations, which alone can end a run early, expected 0 or some; "
                  .formatted(train.options().earlyStop())
              + (none ? "give " + key : "set " + key + " to epoch or a number of steps"));
    }
  }

  /** Begins the folder; says what the training files decided and which columns teach nothing. */
  private Config begin(Trainer trainer, boolean resumed) {
    ColumnNotes columns = new ColumnNotes(trainer.encoder());
    Config found = config.withLog1p(columns.log1p());
    folder.begin(found);
    if (!resumed) {
      columns.numbers(config.data()::choosesTransform, progress);
      columns.training(progress);
    }
    return found;
  }

  /** Refuses a device that is not there before files are read. */
  private static void requireDevice(TrainConfig.Hardware hardware) {
    if (hardware.ordinal().isEmpty()) {
      return;
    }
    CudaDevices found = CudaDevices.find();
    if (found.missing().isPresent()) {
      throw new ConfigException("train.device: " + found.missing().get());
    }
    int count = found.devices().size();
    if (hardware.ordinal().getAsInt() >= count) {
      throw new ConfigException(
          "train.device: got cuda:%d, expected cuda:0 to cuda:%d; tern info lists them"
              .formatted(hardware.ordinal().getAsInt(), count - 1));
    }
  }

  static Device device(TrainConfig train) {
    return train.hardware().open();
  }

  private Trainer trainer(Device device, boolean resume) {
    TrainOptions options = options(config, folder.checkpoints());
    double seconds = config.train().planSeconds();
    if (seconds > 0) {
      options = options.planSearch(PlanSearch.of(seconds, folder.schedule(), searching(seconds)));
    }
    if (resume && Checkpoint.existsAt(folder.checkpoints())) {
      return Trainer.resume(device, folder.checkpoints(), config.model(), options);
    }
    labelCheck().training(progress);
    try (DataReader training = source.train()) {
      progress.begin("fit encoders", "rows", 0, training.rowCount().orElse(0));
      AtomicLong seen = new AtomicLong();
      Optional<Checkpoint> from = config.train().beginning().from().map(Checkpoint::open);
      FeatureEncoder encoder =
          source.fit(
              training,
              from.map(Checkpoint::encoder),
              rows -> {
                seen.set(rows);
                progress.update(rows, "");
              });
      notes.rows(seen.get());
      Reading reading = encoder.reading().orElse(Reading.PLAIN).withSettings(config.reading());
      FeatureEncoder own = encoder.withReading(reading);
      Trainer trainer =
          from.isEmpty()
              ? Trainer.create(device, own, config.model(), options)
              : config.train().beginning().withState()
                  ? Trainer.warmStartWithState(device, from.get(), own, config.model(), options)
                  : Trainer.warmStart(device, from.get(), own, config.model(), options);
      try {
        from.ifPresent(checkpoint -> notes.begun(checkpoint, trainer));
        config.train().beginning().vectors().forEach((table, file) -> begin(trainer, table, file));
      } catch (RuntimeException | Error e) {
        trainer.close();
        throw e;
      }
      return trainer;
    }
  }

  /** Gives a table the vectors of a file, unless an earlier run has its rows. */
  private void begin(Trainer trainer, String table, Path file) {
    int number = trainer.network().schema().tables().indexOf(table);
    if (number >= 0 && trainer.network().tables().tables().get(number).size() > 0) {
      notes.passedOver(table, file);
      return;
    }
    boolean trains = !config.train().options().tables().frozenOf().contains(table);
    notes.vectors(
        table, file, VectorFile.begin(file, trainer.encoder(), trainer.network(), table), trains);
  }

  private PlanSearch.Listener searching(double seconds) {
    return new PlanSearch.Listener() {
      private boolean isShown;

      @Override
      public void searching(double elapsed, long looked, double slowdown) {
        if (!isShown) {
          progress.begin("plan a step", "s", 0, Math.max(1, Math.round(seconds)));
          isShown = true;
        }
        String facts =
            Format.rate(looked / elapsed)
                + " storages/s  slowdown "
                + (Double.isFinite(slowdown) ? Format.fixed(slowdown, 3) : "-");
        progress.update(Math.round(Math.min(elapsed, seconds)), facts);
      }

      @Override
      public void note(String line) {
        progress.note(line);
        if (isShown) {
          isShown = false;
          atTraining.run();
        }
      }
    };
  }

  /** Whether the run was interrupted. */
  private boolean train(Trainer trainer, Optional<DataReader> eval, MetricsLog log) {
    Thread hook = new Thread(() -> stopAndWait(trainer), "tern-interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
    Clock clock = new Clock(log);
    try (DataReader rows = source.train(config.model().group())) {
      atTraining = () -> progress.begin("train", "steps", trainer.step(), lastStep(trainer, rows));
      atTraining.run();
      trainer.fit(rows, eval, report -> show(report, log, clock));
    } catch (RuntimeException | Error e) {
      isStopping(hook);
      throw e;
    }
    return isStopping(hook);
  }

  /** Removes the hook, as the process would wait for it; true if it already runs. */
  private static boolean isStopping(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
      return false;
    } catch (IllegalStateException _) {
      return true;
    }
  }

  /** Lets the current step end and its checkpoint be written before the process ends. */
  private static void stopAndWait(Trainer trainer) {
    trainer.requestStop();
    ProcessEnd.await(PATIENCE);
  }

  /** The last step of the run; 0 where the rows are not counted. */
  private long lastStep(Trainer trainer, DataReader rows) {
    if (rows.rowCount().isEmpty()) {
      return 0;
    }
    TrainOptions options = config.train().options();
    long batch = options.batch();
    long each = (rows.rowCount().getAsLong() + batch - 1) / batch;
    // Steps may count on from an earlier run.
    long done = each * trainer.epoch() + (trainer.rows() + batch - 1) / batch;
    return trainer.step() - done + each * options.epochs();
  }

  private static final class Clock {
    private final long start = System.nanoTime();
    private final double before;

    Clock(MetricsLog log) {
      before = log.lines().isEmpty() ? 0 : log.lines().getLast().seconds();
    }

    double seconds() {
      return before + (System.nanoTime() - start) / 1e9;
    }
  }

  private void show(dev.tern.train.Progress report, MetricsLog log, Clock clock) {
    boolean evaluated = report.split() == Split.EVAL;
    if (!evaluated && !isPairsShown && report.rows().loss() == 0) {
      isPairsShown = true;
      config.model().group().ifPresent(notes::withoutPairs);
    }
    log.append(
        new MetricsLine(
            report.step(),
            report.epoch(),
            evaluated ? MetricsLine.Split.EVAL : MetricsLine.Split.TRAIN,
            loss(report),
            report.metrics().auc(),
            ranks() ? Double.NaN : report.tasks().getFirst().calibration(),
            report.pace().samplesPerSecond(),
            report.memoryBytes(),
            clock.seconds(),
            report.pace().waiting(),
            tasks(report),
            report.tables(),
            report.columns().map(TrainRun::some).orElse(List.of()),
            evaluated(report),
            values(report.tasks().getFirst())));
    String facts =
        (ranks() ? ownFacts(report) : facts(report.tasks()))
            + "  "
            + Format.rate(report.pace().samplesPerSecond())
            + " samples/s"
            + waiting(report.pace().waiting());
    if (evaluated) {
      folder.evaluated();
      progress.note("step " + Format.whole(report.step()) + "  evaluation  " + facts);
      if (!isColumnsShown) {
        isColumnsShown = true;
        report.columns().ifPresent(columns -> ColumnNotes.scored(columns, progress));
      }
    } else {
      progress.update(report.step(), facts);
    }
  }

  private LabelCheck labelCheck() {
    return new LabelCheck(
        config.data(), DataSource.of(config.data()), config.model().type().hasOwnLoss());
  }

  /** Whether scores order rows, and are no probabilities. */
  private boolean ranks() {
    return config.model().ranks();
  }

  /**
   * The loss of the first task; of a model with another loss that one, which evaluations do not
   * know.
   */
  private double loss(dev.tern.train.Progress report) {
    return ranks() ? report.rows().loss() : report.tasks().getFirst().loss();
  }

  private static String ownFacts(dev.tern.train.Progress report) {
    String loss =
        report.split() == Split.EVAL ? "" : "loss " + Format.fixed(report.rows().loss(), 4) + "  ";
    return loss
        + "AUC "
        + Format.fixed(report.metrics().auc(), 4)
        + gauc(report.tasks().getFirst())
        + recall(report.tasks().getFirst());
  }

  /** Loss and AUC, or R2 of values, or of classes their accuracy; of several with their names. */
  private static String facts(List<TaskMetrics.Result> tasks) {
    List<String> facts = new ArrayList<>();
    for (int k = 0; k < tasks.size(); k++) {
      Optional<ClassMetrics.Result> classes = tasks.get(k).classes();
      String name = tasks.size() == 1 ? "" : tasks.get(k).task() + " ";
      TaskMetrics.Result task = tasks.get(k);
      facts.add(classes.map(TrainRun::facts).orElseGet(() -> name + facts(task)));
      // The first class speaks for the others.
      k += classes.map(of -> of.classes() - 1).orElse(0);
    }
    return String.join("  ", facts);
  }

  private static String facts(ClassMetrics.Result classes) {
    return classes.label()
        + " loss "
        + Format.fixed(classes.logLoss(), 4)
        + "  accuracy "
        + Format.fixed(classes.accuracy(), 4);
  }

  private static String facts(TaskMetrics.Result task) {
    return "loss "
        + Format.fixed(task.loss(), 4)
        + (task.values().isPresent()
            ? "  R2 " + Format.fixed(task.values().get().r2(), 4)
            : "  AUC " + Format.fixed(task.metrics().auc(), 4) + gauc(task));
  }

  private static String gauc(TaskMetrics.Result task) {
    return task.groups()
        .map(groups -> "  GAUC " + Format.fixed(groups.auc().byRows(), 4))
        .orElse("");
  }

  private static String recall(TaskMetrics.Result task) {
    return task.retrieval()
        .map(own -> "  recall@" + own.at() + " " + Format.fixed(own.recall(), 4))
        .orElse("");
  }

  /** The tasks of a model of several. */
  private static List<MetricsLine.Task> tasks(dev.tern.train.Progress report) {
    return report.tasks().size() == 1
        ? List.of()
        : report.tasks().stream()
            .map(task ->
                new MetricsLine.Task(
                    task.task(),
                    task.loss(),
                    task.metrics().auc(),
                    task.calibration(),
                    values(task)))
            .toList();
  }

  /** What an evaluation says about its tasks beside loss, AUC and calibration. */
  private List<EvaluatedTask> evaluated(dev.tern.train.Progress report) {
    return report.split() == Split.TRAIN
        ? List.of()
        : report.tasks().stream()
            .map(task ->
                new EvaluatedTask(
                    task.task(),
                    ranks() ? Optional.empty() : task.reliability(),
                    task.groups().map(this::groups),
                    task.classes(),
                    task.retrieval()))
            .toList();
  }

  private EvaluatedTask.Groups groups(GroupMetrics.Result result) {
    return new EvaluatedTask.Groups(config.data().group().orElse(""), GroupMetrics.USUAL, result);
  }

  private static Optional<MetricsLine.Values> values(TaskMetrics.Result task) {
    return task.values().map(of -> new MetricsLine.Values(of.mse(), of.mae(), of.r2(), of.smape()));
  }

  /** The columns with missing or unknown values. */
  private static List<ColumnCounts.Column> some(ColumnCounts counts) {
    return counts.columns().stream()
        .filter(column -> column.missing() + column.unknown() > 0)
        .toList();
  }

  /** The share of time spent waiting for rows, if it is half a percent or more. */
  private static String waiting(double share) {
    return share >= 0.005 ? "  waiting for data " + Math.round(100 * share) + "%" : "";
  }

  /** The options of a configured run with its folders. */
  static TrainOptions options(Config config, Path checkpoints) {
    TrainConfig train = config.train();
    TrainOptions options =
        config
            .data()
            .group()
            .map(train.options()::group)
            .orElse(train.options())
            .checkpoints(checkpoints, train.checkpointEvery().steps());
    return train.tableMemory() == 0
        ? options
        : options.tier(FileTier.of(config.run().dir(), train.tableMemory()));
  }
}
