package dev.tern.train;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointWriter;
import dev.tern.checkpoint.RunCheckpoints;
import dev.tern.checkpoint.RunState;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.config.RowFormat;
import dev.tern.internal.ir.Pointwise;
import dev.tern.model.Model;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import dev.tern.tensor.Device;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.StepProfile;
import dev.tern.tensor.StepTime;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Trains a model on the rows of a reader. With the same data, seed and options the weights are the
 * same to the bit, on any number of threads, interrupted and resumed or not.
 */
public final class Trainer implements AutoCloseable {
  private static final int PREFETCHED = 3;

  private final FeatureEncoder encoder;
  private final TrainOptions options;
  private final Network network;
  private final DenseOptimizer optimizer;
  private final BatchLookup lookup;
  private Optional<TrainStep> trainStep = Optional.empty();
  private final CheckpointWriter writer;
  private final Optional<RunCheckpoints> checkpoints;
  private Optional<Scorer> scorer = Optional.empty();
  private RunState state = RunState.START;
  private volatile boolean stopping;

  private Trainer(
      Device device, FeatureEncoder encoder, Model.Factory factory, TrainOptions options) {
    options.check();
    this.encoder = encoder;
    this.options = options;
    Network.Tables tables =
        new Network.Tables(
            options.tableOptimizer(),
            options.firstPartOptimizer(),
            options.initRange(),
            options.l2(),
            options.combiner(),
            options.unknown(),
            options.tableStorage(),
            options.rows(),
            options.rowsOf(),
            options.rowLimits(),
            RowFormat.STORED,
            options.tier());
    network = Network.create(device, encoder.schema(), factory, tables, options.seed());
    optimizer = new DenseOptimizer(device, options, network.parameters());
    lookup = network.newLookup();
    writer = new CheckpointWriter(network, optimizer.state(), factory, encoder, options);
    checkpoints =
        options.checkpoints().map(folder -> new RunCheckpoints(folder, writer, options.deltas()));
  }

  /**
   * A new run.
   *
   * @param encoder turns the readers' rows into features; kept in checkpoints
   */
  public static Trainer create(
      Device device, FeatureEncoder encoder, Model.Factory factory, TrainOptions options) {
    return new Trainer(device, encoder, factory, options);
  }

  /**
   * A run that goes on from a checkpoint of the same model and options, exactly as if it had never
   * stopped. Of a folder of checkpoints it takes the latest, as {@link Checkpoint#openLatest}.
   */
  public static Trainer resume(
      Device device, Path checkpoint, Model.Factory factory, TrainOptions options) {
    Checkpoint saved = Checkpoint.openLatest(checkpoint);
    Trainer trainer = new Trainer(device, saved.encoder(), factory, options);
    try {
      trainer.state = saved.restore(trainer.network, trainer.optimizer.state());
      saved.requireSame(factory, options);
      trainer.checkpoints.ifPresent(folder -> folder.goOnFrom(saved));
    } catch (RuntimeException | Error e) {
      trainer.close();
      throw e;
    }
    return trainer;
  }

  /** Trains to the end of the last epoch without evaluating; closes {@code train}. */
  public void fit(DataReader train) {
    fit(train, Optional.empty(), Progress.Listener.none());
  }

  /**
   * Trains from where the run stands to the end of the last epoch, to an early stop or until {@link
   * #requestStop}. Where it keeps checkpoints, the last is of the step that it ends with.
   *
   * @param train raw rows, the same in each pass; closed at the end. A run whose rows come {@link
   *     Readers#mappedUnordered unordered} cannot be resumed: a checkpoint counts rows
   * @param eval raw rows held out; stays open. Where reading them fails, a checkpoint of what was
   *     trained is written first; resumed from it, a run evaluates at the end of the epoch anew
   */
  public void fit(DataReader train, Optional<DataReader> eval, Progress.Listener listener) {
    if (train.schema().labelDim() == 0) {
      throw new DataException(
          "train: got rows without a label, expected one; name the label's column");
    }
    try (DataReader batches = batches(train)) {
      Reporter reporter =
          new Reporter(
              listener, network, batches::waitedNanos, train.rowCount(), options.epochs(), state);
      if (eval.isPresent()) {
        // Here rather than at the first evaluation: a budget too small shows at once.
        scorer();
      }
      while (state.epoch() < options.epochs() && !isDone()) {
        batches.start(state.epoch());
        skipUsedRows(batches);
        trainEpoch(batches, eval, reporter);
      }
      checkpoints.ifPresent(folder -> folder.writeLast(state));
    } catch (RuntimeException | Error e) {
      try {
        checkpoints.ifPresent(RunCheckpoints::finish);
      } catch (RuntimeException | Error again) {
        e.addSuppressed(again);
      }
      throw e;
    }
    checkpoints.ifPresent(RunCheckpoints::finish);
  }

  private DataReader batches(DataReader train) {
    DataReader ordered =
        options.shuffleRows() == 0
            ? train
            : Readers.shuffled(train, options.shuffleRows(), options.seed());
    DataReader batched = Readers.batched(ordered, options.batch(), false);
    return Readers.prefetched(Readers.encoded(batched, encoder), PREFETCHED);
  }

  private void skipUsedRows(DataReader batches) {
    long skipped = state.rows() == 0 ? 0 : batches.skip(state.rows());
    if (skipped < state.rows()) {
      throw new IllegalStateException(
          "resume: got "
              + skipped
              + " rows, expected at least "
              + state.rows()
              + " in an epoch; give the data that the checkpoint was trained on");
    }
  }

  private void trainEpoch(DataReader batches, Optional<DataReader> eval, Reporter reporter) {
    try (NextBatch ahead = new NextBatch(batches, lookup)) {
      for (Optional<Batch> next = ahead.take(); next.isPresent(); next = ahead.take()) {
        try (Batch batch = next.get()) {
          step(batch, ahead, reporter);
        }
        afterStep(eval, reporter);
        if (isDone()) {
          return;
        }
      }
    }
    if (state.rows() == 0) {
      throw new DataException(
          "train: got no rows in a pass over the training data, expected some; check the files");
    }
    RunState trained = state;
    state = state.nextEpoch();
    reporter.reportTraining(state);
    if (options.evaluateEvery() == 0) {
      evaluateAndKeep(eval, reporter, trained);
    }
    checkpoints.ifPresent(folder -> folder.write(state));
  }

  private void step(Batch batch, NextBatch ahead, Reporter reporter) {
    long start = System.nanoTime();
    TrainStep step = stepOf(batch.size());
    long number = state.step() + 1;
    float rate = options.schedule().at(number);
    optimizer.prepare(number, rate);
    long noise = Pointwise.mix(options.seed() + number);
    float loss = step.run(batch, number, options.tableRate(rate), noise, ahead);
    if (!Float.isFinite(loss)) {
      throw new IllegalStateException(
          "train: got a loss of "
              + loss
              + " in step "
              + number
              + " at learning rate "
              + rate
              + "; lower the learning rate, or look for huge values among the dense features");
    }
    state = state.afterBatch(batch.size());
    long nanos = System.nanoTime() - start;
    reporter.trained(
        step.logits(), batch.labels(), network.schema().labelDim(), batch.size(), nanos);
  }

  /** The step for batches of {@code rows}; one at a time holds memory. */
  private TrainStep stepOf(int rows) {
    if (trainStep.isEmpty() || trainStep.get().rows() != rows) {
      trainStep.ifPresent(TrainStep::close);
      trainStep = Optional.empty();
      // A batch of another size comes once an epoch: a long search would not pay.
      PlanSearch search = rows == options.batch() ? options.planSearch() : PlanSearch.QUICK;
      trainStep = Optional.of(new TrainStep(network, optimizer, lookup, rows, search));
    }
    return trainStep.get();
  }

  private void afterStep(Optional<DataReader> eval, Reporter reporter) {
    if (state.step() % options.reportEvery() == 0) {
      reporter.reportTraining(state);
    }
    if (options.evaluateEvery() > 0 && state.step() % options.evaluateEvery() == 0) {
      evaluateAndKeep(eval, reporter, state);
    }
    checkpoints.ifPresent(this::keep);
  }

  private void keep(RunCheckpoints folder) {
    folder.check();
    if (options.checkpointEvery() > 0 && state.step() % options.checkpointEvery() == 0) {
      folder.write(state);
    } else {
      folder.writeIfDue(state);
    }
  }

  /** Where it fails, the weights are kept as of {@code trained}, from where the run can go on. */
  private void evaluateAndKeep(Optional<DataReader> eval, Reporter reporter, RunState trained) {
    if (eval.isEmpty()) {
      return;
    }
    try {
      evaluateAndKeep(eval.get(), reporter);
    } catch (RuntimeException | Error e) {
      state = trained;
      try {
        checkpoints.ifPresent(folder -> folder.write(state));
      } catch (RuntimeException | Error again) {
        e.addSuppressed(again);
      }
      throw e;
    }
  }

  private void evaluateAndKeep(DataReader eval, Reporter reporter) {
    reporter.reportTraining(state);
    long start = System.nanoTime();
    Metrics.Result result = evaluate(eval);
    state = state.evaluated(result.auc());
    reporter.reportEvaluation(state, result, System.nanoTime() - start);
    if (state.stale() == 0) {
      checkpoints.ifPresent(folder -> folder.writeBest(state));
    }
  }

  private boolean isDone() {
    return stopping || options.earlyStop() > 0 && state.stale() >= options.earlyStop();
  }

  /** Loss, AUC and calibration over all raw rows of {@code eval}. */
  public Metrics.Result evaluate(DataReader eval) {
    return Evaluation.of(eval, encoder, scorer());
  }

  private Scorer scorer() {
    Scorer scoring = scorer.orElseGet(() -> new Scorer(network, options.batch()));
    scorer = Optional.of(scoring);
    return scoring;
  }

  /**
   * Ends {@link #fit} after the step under way, with a checkpoint of that step; before the first
   * step of all there is nothing to keep. Safe from any thread.
   */
  public void requestStop() {
    stopping = true;
  }

  /** Writes a checkpoint as folder {@code target}, complete or not at all. */
  public void save(Path target) {
    checkpoints.ifPresent(RunCheckpoints::finish);
    writer.write(target, state);
  }

  /** The model and its tables. */
  public Network network() {
    return network;
  }

  /** Steps done. */
  public long step() {
    return state.step();
  }

  /** Best AUC of the evaluations so far; NaN before the first. */
  public double bestAuc() {
    return state.bestAuc();
  }

  /** What each part of a training step has cost so far; empty before the first step. */
  public List<StepTime> times() {
    return trainStep.map(TrainStep::times).orElse(List.of());
  }

  /**
   * Memory and times of the last training step.
   *
   * @throws IllegalStateException before the first
   */
  public StepProfile profile() {
    return trainStep
        .map(TrainStep::profile)
        .orElseThrow(() ->
            new IllegalStateException(
                "profile: got a run without a step, expected one; train on at least one batch"));
  }

  /**
   * Writes a log of a training step: what it computes, for how long on average, and in how many
   * bytes. {@code tern replay} reads it.
   *
   * @throws IllegalStateException before the first step
   * @throws java.io.UncheckedIOException when the file cannot be written
   */
  public void record(Path file) {
    trainStep
        .orElseThrow(() ->
            new IllegalStateException(
                "record: got a run without a step, expected one; train on at least one batch"))
        .record(file);
  }

  @Override
  public void close() {
    trainStep.ifPresent(TrainStep::close);
    scorer.ifPresent(Scorer::close);
    lookup.close();
    optimizer.close();
    network.close();
  }
}
