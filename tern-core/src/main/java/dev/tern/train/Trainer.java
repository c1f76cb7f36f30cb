package dev.tern.train;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointWriter;
import dev.tern.checkpoint.RunCheckpoints;
import dev.tern.checkpoint.RunState;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.config.TableOptions;
import dev.tern.exchange.Mesh;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.metrics.Metrics;
import dev.tern.metrics.Reliability;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.tensor.Device;
import dev.tern.tensor.StepProfile;
import dev.tern.tensor.StepTime;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Trains a model. {@link #fit} is the whole loop: epochs, evaluations, early stop, checkpoints and
 * reports. {@link #step} is one step of it, for a loop of one's own:
 *
 * <pre>{@code
 * try (Trainer trainer = Trainer.create(device, encoder, model, options);
 *     TrainingBatches batches = trainer.batches(rows)) {
 *   while (trainer.epoch() < 3) {
 *     for (Batch batch : batches) {
 *       StepResult result = trainer.step(batch);
 *     }
 *     trainer.save(folder.resolve("step-" + trainer.step()));
 *   }
 * }
 * }</pre>
 *
 * <p>With the same data, seed and options the weights are the same to the bit, by either loop, on
 * any number of threads, interrupted and resumed or not. One thread, except {@link #requestStop}.
 */
public final class Trainer implements AutoCloseable {
  private static final int PREFETCHED = 3;

  private final FeatureEncoder encoder;
  private final TrainOptions options;
  private final Ranks ranks;
  private final Network network;
  private final DenseOptimizer optimizer;
  private final BatchLookup lookup;
  private final CheckpointWriter writer;
  private final Optional<RunCheckpoints> checkpoints;

  private final TrainSteps steps;
  private final SampledRows sampled;
  private Optional<TrainingBatches> batches = Optional.empty();
  private final Evaluation evaluation;
  private RunState state = RunState.START;
  private List<String> fresh = List.of();
  private boolean closed;
  private volatile boolean stopping;

  /** Whether some rank was asked to stop before the end of the last step. */
  private boolean stopsTogether;

  private Trainer(
      Device device,
      FeatureEncoder encoder,
      ModelFactory factory,
      TrainOptions options,
      Optional<Mesh> mesh) {
    options.check();
    ranks = mesh.map(all -> Ranks.of(all, options)).orElseGet(Ranks::alone);
    TrainChecks.requireUnknown(encoder, options.tables());
    // Its code is compiled while tables are made and data is read.
    MatMul.prepare();
    this.encoder = encoder;
    this.options = options;
    TableOptions tables = options.tables().knownOnly(encoder.tablesOfKnown());
    network =
        Network.create(device, encoder.schema(), factory, tables, options.tier(), options.seed());
    options.requireFrozen(network.variables());
    optimizer = new DenseOptimizer(device, options, network.parameters());
    options.monitor().index(network.tasks().tasks()); // A task of this name is there.
    options.requireRecall(network.model());
    options.requireLanes(network);
    mesh.ifPresent(network.tables()::share);
    lookup = network.newLookup();
    steps = new TrainSteps(network, optimizer, lookup, options, ranks);
    sampled = new SampledRows(network, options.seed());
    evaluation = new Evaluation(network, encoder, options, steps, ranks.isAlone());
    writer = new CheckpointWriter(network, optimizer.state(), factory, encoder, options);
    checkpoints =
        options.checkpoints().map(folder -> new RunCheckpoints(folder, writer, options.deltas()));
  }

  /**
   * A new run.
   *
   * @param encoder turns the readers' rows into features; kept in checkpoints
   * @throws IllegalArgumentException if its rows have several labels, and the model predicts one:
   *     {@link Readers#withLabel} or {@link ModelFactory#withTasks} picks it
   */
  public static Trainer create(
      Device device, FeatureEncoder encoder, ModelFactory factory, TrainOptions options) {
    return create(device, encoder, factory, options, Optional.empty());
  }

  /**
   * A new run of several ranks, each with a trainer of its own that does the same: the same calls
   * in the same order, with the same rows and options. Each rank computes its share of the lanes of
   * a batch and holds its share of the rows of tables, and all have the same dense parameters. The
   * weights are those of one rank with as many lanes, to the bit, and so are losses, logits,
   * evaluations and, after {@link Checkpoint#reshard}, checkpoints.
   *
   * <p>Where a rank fails, all others fail within a second. {@link #save} and checkpoints need a
   * folder that all ranks reach.
   *
   * @param mesh connects the ranks; the caller closes it after the trainer
   * @throws IllegalArgumentException as {@link #create(Device, FeatureEncoder, ModelFactory,
   *     TrainOptions)}, with fewer lanes than ranks, and for tables with a row policy or with
   *     unknown ids that read other rows
   */
  public static Trainer create(
      Device device,
      FeatureEncoder encoder,
      ModelFactory factory,
      TrainOptions options,
      Mesh mesh) {
    return create(device, encoder, factory, options, Optional.of(mesh));
  }

  private static Trainer create(
      Device device,
      FeatureEncoder encoder,
      ModelFactory factory,
      TrainOptions options,
      Optional<Mesh> mesh) {
    int tasks = factory.tasks(encoder.schema()).size();
    if (tasks > 1 && factory instanceof ModelConfig config && !config.type().takesTasks()) {
      throw new IllegalArgumentException(
          "train: got rows with the labels %s, expected one; pick it with Readers.withLabel, before the encoder is fitted, or with withTasks"
              .formatted(encoder.schema().labels()));
    }
    return new Trainer(device, encoder, factory, options, mesh).alike();
  }

  /** This trainer, if those of all ranks begin alike. */
  private Trainer alike() {
    try {
      ranks.requireAlike(() -> writer.facts(state) + encoder.toJson());
      return this;
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  /**
   * A new run that begins with the weights of an earlier one, such as yesterday's: parameters of
   * the same name and shape, and rows of tables of the same name and width whose ids mean the same.
   * What the earlier run lacks begins as in a new run: {@link #fresh} names it. Optimizer state,
   * steps and epochs begin anew, so files, batch, learning rate and even the optimizer may be
   * others.
   *
   * @param from a checkpoint of the earlier run
   * @param encoder the earlier run's, or one {@link FeatureEncoder#grown} from it
   * @throws IllegalArgumentException for FTRL, which makes each weight anew from its state; where
   *     the models are of two types, where weights would meet other columns, numbers of another
   *     scale or other labels, and where nothing fits
   */
  public static Trainer warmStart(
      Device device,
      Checkpoint from,
      FeatureEncoder encoder,
      ModelFactory factory,
      TrainOptions options) {
    TrainChecks.requireNoFtrl(options);
    from.requireSameType(factory);
    Trainer trainer = create(device, encoder, factory, options);
    try {
      trainer.fresh = from.begin(trainer.network, factory, encoder);
      TrainChecks.requireSomeWeights(trainer.network, trainer.fresh, from.folder());
    } catch (RuntimeException | Error e) {
      trainer.close();
      throw e;
    }
    return trainer;
  }

  /**
   * As {@link #warmStart}, with the state of the earlier run's optimizers too, FTRL's included, and
   * what its tables know of their rows. Steps count on, and with them schedules; epochs and
   * evaluations begin anew. So on the rows that the earlier run would have had next, unshuffled and
   * with its options, the weights are those of {@link #resume} to the bit.
   *
   * @throws IllegalArgumentException as {@link #warmStart}, and if optimizers, but for their rates,
   *     storage or policies of tables are others
   * @throws DataException if a parameter or table is missing in {@code from}, or of another shape
   */
  public static Trainer warmStartWithState(
      Device device,
      Checkpoint from,
      FeatureEncoder encoder,
      ModelFactory factory,
      TrainOptions options) {
    from.requireSameType(factory);
    Trainer trainer = create(device, encoder, factory, options);
    try {
      trainer.state =
          from.beginWithState(
              trainer.network, trainer.optimizer.state(), factory, encoder, options);
    } catch (RuntimeException | Error e) {
      trainer.close();
      throw e;
    }
    return trainer;
  }

  /**
   * In a run of {@link #warmStart}, what the earlier run had no weights for: names of parameters,
   * and {@code table NAME}. Empty in other runs.
   */
  public List<String> fresh() {
    return fresh;
  }

  /**
   * A run that goes on from a checkpoint of the same model and options, exactly as if it had never
   * stopped. From a folder of checkpoints it takes the latest, as {@link Checkpoint#openLatest}.
   */
  public static Trainer resume(
      Device device, Path checkpoint, ModelFactory factory, TrainOptions options) {
    return resume(device, checkpoint, factory, options, Optional.empty());
  }

  /**
   * The same on several ranks, as many as before or others: see {@link #create(Device,
   * FeatureEncoder, ModelFactory, TrainOptions, Mesh)}.
   */
  public static Trainer resume(
      Device device, Path checkpoint, ModelFactory factory, TrainOptions options, Mesh mesh) {
    return resume(device, checkpoint, factory, options, Optional.of(mesh));
  }

  private static Trainer resume(
      Device device,
      Path checkpoint,
      ModelFactory factory,
      TrainOptions options,
      Optional<Mesh> mesh) {
    Checkpoint saved = Checkpoint.openLatest(checkpoint);
    Trainer trainer = new Trainer(device, saved.encoder(), factory, options, mesh);
    try {
      trainer.state = saved.restore(trainer.network, trainer.optimizer.state());
      saved.requireSame(factory, options);
      trainer.checkpoints.ifPresent(folder -> folder.goOnFrom(saved));
    } catch (RuntimeException | Error e) {
      trainer.close();
      throw e;
    }
    return trainer.alike();
  }

  /** Trains to the end of the last epoch without evaluating; closes {@code train}. */
  public void fit(DataReader train) {
    fit(train, Optional.empty(), Progress.Listener.none());
  }

  /**
   * Trains from where the run stands to the end of the last epoch, to an early stop or until {@link
   * #requestStop}. Where the options name a folder of checkpoints, the last one is of the step that
   * the run ends with.
   *
   * @param train raw rows, the same in each pass; closed at the end. A run whose rows come {@link
   *     Readers#mappedUnordered unordered} cannot be resumed: a checkpoint counts rows
   * @param eval raw rows held out; stays open. If reading them fails, a checkpoint of the trained
   *     weights is written first; a run resumed from it evaluates at the end of the epoch again
   */
  public void fit(DataReader train, Optional<DataReader> eval, Progress.Listener listener) {
    if (options.earlyStop() > 0 && eval.isEmpty() && state.epoch() == 0 && state.rows() == 0) {
      train.close();
      throw new IllegalArgumentException(
          "fit: got earlyStop(%d) without rows to evaluate on, expected some; give eval, or leave earlyStop out"
              .formatted(options.earlyStop()));
    }
    try (TrainingBatches rows = batches(train)) {
      stopsTogether = ranks.any(stopping);
      Reporter reporter = new Reporter(listener, network, rows::waitedNanos);
      reporter.begin(train.rowCount(), options.epochs(), state);
      if (eval.isPresent()) {
        // Here rather than at the first evaluation: a budget too small shows at once.
        evaluation.prepare(eval.get().schema());
      }
      new FitLoop(this, options, checkpoints, eval, reporter).run(rows);
    } catch (RuntimeException | Error e) {
      ranks.abort(e); // First, as a checkpoint may wait for other ranks.
      try {
        checkpoints.ifPresent(RunCheckpoints::finish);
      } catch (RuntimeException | Error again) {
        e.addSuppressed(again);
      }
      throw e;
    }
    checkpoints.ifPresent(RunCheckpoints::finish);
  }

  /**
   * The batches that {@link #fit} trains on: rows of {@code train} in the options' shuffled order
   * and batch size, encoded, and read ahead by a thread. While one of them computes, {@link #step}
   * looks the next one up, if it was read by then.
   *
   * <p>To read without that thread, pass {@link #step} encoded batches of another source, such as
   * {@code Readers.encoded(Readers.batched(rows, 128, false), trainer.encoder())}, and call {@link
   * #endEpoch} after each pass.
   *
   * <p>Where tasks have {@link dev.tern.model.Loss.Pairwise}, rows need its column, as a slot
   * beside the encoder's or among them.
   *
   * @param train raw rows, the same in each pass; closed with the result
   * @throws DataException if the rows have no label
   * @throws IllegalStateException if batches of this trainer are open
   */
  public TrainingBatches batches(DataReader train) {
    requireOpen();
    if (train.schema().labelDim() == 0) {
      throw new DataException(
          "train: got rows without a label, expected one; name the label's column");
    }
    TrainChecks.requireLabels(encoder, train);
    if (batches.isPresent()) {
      throw new IllegalStateException(
          "train: got a second reader of training rows, expected one at a time; close the first");
    }
    DataReader ordered =
        options.shuffleRows() == 0
            ? train
            : Readers.shuffled(train, options.shuffleRows(), options.seed());
    DataReader batched = Readers.batched(ordered, options.batch(), false);
    DataReader encoded =
        network
            .tasks()
            .group()
            .map(column -> Readers.encoded(batched, encoder, column))
            .orElseGet(() -> Readers.encoded(batched, encoder));
    DataReader read = Readers.prefetched(encoded, PREFETCHED);
    batches = Optional.of(new TrainingBatches(read, this));
    return batches.get();
  }

  /** The lookup of training batches. */
  BatchLookup lookup() {
    return lookup;
  }

  /** Forgets the batch that was looked up ahead, which the caller then closes. */
  void forgetAhead() {
    lookup.forgetAhead();
    sampled.forget();
  }

  /** Notes that these batches are closed. */
  void leave(TrainingBatches closing) {
    batches = batches.filter(open -> open != closing);
  }

  /**
   * Trains on one batch: looks its rows up, computes the loss and its gradients, and updates dense
   * parameters and rows. The caller closes the batch.
   *
   * @param batch encoded rows with labels: of {@link #batches}, or encoded by {@link #encoder}.
   *     Each new number of rows, or of elements of sequences by eighths, costs the planning of a
   *     step
   * @throws IllegalArgumentException if the batch is not encoded, is empty, closed, or has a row
   *     without a label; the run stands where it was
   * @throws IllegalStateException if the loss is not finite, or after {@link #close}
   */
  public StepResult step(Batch batch) {
    return ranks.together(() -> stepTogether(batch));
  }

  private StepResult stepTogether(Batch batch) {
    requireOpen();
    TrainChecks.requireTrainable(encoder, batch);
    ranks.requireRows(batch.size(), options.batch());
    long start = System.nanoTime();
    BatchStep step = steps.of(batch, evaluation::close);
    long number = state.step() + 1;
    float rate = options.schedule().at(number);
    optimizer.prepare(number, rate);
    step.find(batch, sampled.of(batch, number), Pointwise.mix(options.seed() + number));
    Optional<Batch> next = batches.flatMap(TrainingBatches::takeReady);
    if (next.isPresent()) {
      lookup.lookAhead(sampled.ahead(next.get(), number + 1));
    }
    float loss = step.update(number, options.tableRate(rate));
    stopsTogether = ranks.any(stopping);
    if (!Float.isFinite(loss)) {
      throw new IllegalStateException(
          ("train: got a loss of %s in step %s at learning rate %s; lower the learning rate, or"
                  + " look for huge values among the dense features")
              .formatted(loss, number, rate));
    }
    state = state.afterBatch(batch.size());
    return new StepResult(number, batch.size(), loss, rate, System.nanoTime() - start);
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException(
          "train: got a call after close, expected an open trainer; create or resume another");
    }
  }

  /**
   * Ends the epoch: the run stands at the beginning of the next one. A loop over {@link #batches}
   * does this by itself.
   *
   * @throws DataException if no row was trained on in this epoch
   */
  public void endEpoch() {
    if (state.rows() == 0) {
      throw new DataException(
          "train: got no rows in a pass over the training data, expected some; check the files");
    }
    state = state.nextEpoch();
  }

  RunState state() {
    return state;
  }

  /** Notes that the run stands at {@code other}. */
  void goTo(RunState other) {
    state = other;
  }

  /** Whether other ranks wait for this one. */
  boolean isOfSeveral() {
    return !ranks.isAlone();
  }

  boolean isStopping() {
    return ranks.isAlone() ? stopping : stopsTogether;
  }

  /** The logits of the last step, of each row one a task; valid until the next. */
  float[] logits() {
    return steps.current().orElseThrow().logits();
  }

  /**
   * Loss, AUC and calibration over all raw rows of {@code eval}, read from its start; of the first
   * task, where the model has several.
   */
  public Metrics.Result evaluate(DataReader eval) {
    return evaluateTasks(eval).getFirst().metrics();
  }

  /**
   * Loss, AUC and calibration of each task over the raw rows of {@code eval}, from its start, with
   * their {@link Reliability} in 15 bins.
   */
  public List<TaskMetrics.Result> evaluateTasks(DataReader eval) {
    return evaluate(eval, new ColumnCounts(encoder));
  }

  /** As {@link #evaluateTasks}; adds the rows to {@code counts}, made for the encoder. */
  List<TaskMetrics.Result> evaluate(DataReader eval, ColumnCounts counts) {
    requireOpen();
    TrainChecks.requireLabels(encoder, eval);
    return ranks.together(() -> evaluation.of(eval, counts));
  }

  /**
   * Ends {@link #fit} after the step under way, with a checkpoint of that step. Before the first
   * step of the run no checkpoint is written. Safe from any thread.
   */
  public void requestStop() {
    stopping = true;
  }

  /**
   * Writes a checkpoint as folder {@code target}, complete or not at all. {@link #resume} goes on
   * from it; of folders {@code step-N} beside each other it takes the one with the largest number.
   *
   * @param target a new folder, an empty one, or a checkpoint, which is replaced
   * @throws DataException if anything else is at {@code target}
   * @throws IllegalStateException if a weight is infinite or NaN: training diverged
   */
  public void save(Path target) {
    requireOpen();
    ranks.together(() -> {
      checkpoints.ifPresent(RunCheckpoints::finish);
      writer.write(target, state);
      return target;
    });
  }

  /** The model and its tables. */
  public Network network() {
    return network;
  }

  /** Turns raw rows into the features of batches; saved in checkpoints. */
  public FeatureEncoder encoder() {
    return encoder;
  }

  /** Steps done since the start of the run. */
  public long step() {
    return state.step();
  }

  /** The current epoch, counted from 0. */
  public int epoch() {
    return state.epoch();
  }

  /** Rows trained on in the current epoch. */
  public long rows() {
    return state.rows();
  }

  /** The best value of {@link TrainOptions#monitor} in evaluations so far; NaN before the first. */
  public double best() {
    return state.best();
  }

  /** Whether the run ended as no evaluation was better for long: {@link TrainOptions#earlyStop}. */
  public boolean hasStoppedEarly() {
    return options.earlyStop() > 0 && state.stale() >= options.earlyStop();
  }

  /** The step of the best evaluation; 0 before the first. */
  public long bestStep() {
    return state.bestStep();
  }

  /**
   * Lets the best evaluation begin anew, as before the first one: for a run that goes on and is
   * evaluated on other rows. Checkpoint {@code best} stays until the next evaluation, which is the
   * best, replaces it.
   */
  public void forgetBest() {
    requireOpen();
    state = state.withoutBest();
  }

  /** Time of each part of a training step so far; empty before the first step. */
  public List<StepTime> times() {
    return steps.current().map(BatchStep::times).orElse(List.of());
  }

  /**
   * Memory and times of the last training step.
   *
   * @throws IllegalStateException before the first
   */
  public StepProfile profile() {
    return stepDone("profile").computation().profile();
  }

  /**
   * Writes a log of a training step: its ops with their mean times and bytes. {@code tern replay}
   * reads it.
   *
   * @throws IllegalStateException before the first step
   * @throws java.io.UncheckedIOException when the file cannot be written
   */
  public void record(Path file) {
    stepDone("record").computation().record(file);
  }

  private BatchStep stepDone(String op) {
    return steps
        .current()
        .orElseThrow(() ->
            new IllegalStateException(
                op + ": got a run without a step, expected one; train on at least one batch"));
  }

  @Override
  public void close() {
    closed = true;
    steps.close();
    evaluation.close();
    lookup.close();
    optimizer.close();
    network.close();
  }
}
