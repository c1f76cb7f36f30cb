package dev.tern.predict;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.model.Task;
import dev.tern.nn.Model;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Scores rows with a trained model inside this process. Thread-safe: each call takes working memory
 * from a pool and gives it back. An id without a row reads as the model's {@link
 * dev.tern.embedding.config.UnknownRow} and is never inserted.
 *
 * <pre>{@code
 * try (Predictor predictor = Predictor.open(Path.of("runs/census"))) {
 *   float probability = predictor.score(Map.of("age", 39, "workclass", "State-gov"));
 * }
 * }</pre>
 */
public final class Predictor implements AutoCloseable {
  private final Device device;
  private final FeatureEncoder encoder;
  private final Network network;
  private final boolean givesLogits;
  private final Contexts contexts;
  private final SharedCall shared;

  Predictor(Device device, FeatureEncoder encoder, Network network, int threads) {
    this.device = device;
    this.encoder = encoder;
    this.network = network;
    givesLogits = network.model().hasOwnLoss() || network.tasks().group().isPresent();
    contexts = new Contexts(encoder, network, threads);
    long weights = network.parameters().stream().mapToLong(p -> p.shape().elements()).sum();
    shared = new SharedCall(contexts, threads, weights);
  }

  /** Opens a checkpoint of one of Tern's models, or a run's best one. */
  public static Predictor open(Path checkpoint) {
    return open(checkpoint, ScoreOptions.DEFAULT);
  }

  /** Opens a checkpoint of one of Tern's models, or a run's best one. */
  public static Predictor open(Path checkpoint, ScoreOptions options) {
    return open(Checkpoint.open(checkpoint), options);
  }

  /**
   * The model of {@code checkpoint}, one of Tern's. For who opened the checkpoint already: opening
   * reads and checks all its files.
   */
  public static Predictor open(Checkpoint checkpoint, ScoreOptions options) {
    return open(checkpoint, device -> checkpoint.load(device, options.tables()), options);
  }

  /** Opens a checkpoint of a model of one's own. */
  public static Predictor open(Path checkpoint, ModelFactory factory) {
    return open(checkpoint, factory, ScoreOptions.DEFAULT);
  }

  /** Opens a checkpoint of a model of one's own. */
  public static Predictor open(Path checkpoint, ModelFactory factory, ScoreOptions options) {
    Checkpoint saved = Checkpoint.open(checkpoint);
    return open(saved, device -> saved.load(device, factory, options.tables()), options);
  }

  private static Predictor open(
      Checkpoint saved, Function<Device, Network> load, ScoreOptions options) {
    Device device = Device.cpu(1, Long.MAX_VALUE);
    try {
      return new Predictor(device, saved.encoder(), load.apply(device), options.threads());
    } catch (RuntimeException | Error e) {
      device.close();
      throw e;
    }
  }

  /** Turns rows into the model's features. */
  public FeatureEncoder encoder() {
    return encoder;
  }

  /** Bytes of memory that the embedding tables hold. */
  public long tableBytes() {
    return network.tables().bytes();
  }

  /** What the model predicts: the task of each score of a row, in order. */
  public List<Task> tasks() {
    return network.tasks().tasks();
  }

  /**
   * Whether scores are logits: of a model that has a loss of its own, as two towers have ({@link
   * Model#hasOwnLoss}), or was trained by {@link dev.tern.model.Loss.Pairwise}. They say which of
   * two items suits a user better, not how likely it is.
   */
  public boolean hasOwnLoss() {
    return givesLogits;
  }

  /** Turns the logits of rows into what their tasks' losses predict. */
  private void predict(float[] logits, int rows) {
    if (!hasOwnLoss()) {
      network.tasks().predict(logits, rows);
    }
  }

  /** The columns of the rows to score. */
  public Schema schema() {
    return encoder.rawSchema();
  }

  /**
   * The probability of label 1 for one row, or what the loss of its task predicts ({@link
   * dev.tern.model.Loss#predicted}), given as values by column name. {@link FeatureEncoder#addRow}
   * says which values a column takes. A column left out is missing. NaN where a number is so huge
   * that the model overflows. Of several {@link #tasks} it is the first one's; {@link #scores} has
   * all. Of a model that {@link #hasOwnLoss} it is the logit, here and below.
   */
  public float score(Map<String, ?> row) {
    Context context = contexts.take();
    try {
      float logit = context.logits(row)[0];
      return hasOwnLoss() ? logit : tasks().getFirst().loss().predicted(logit);
    } finally {
      contexts.give(context);
    }
  }

  /** The prediction of each task for one row, which is as in {@link #score(Map)}. */
  public float[] scores(Map<String, ?> row) {
    Context context = contexts.take();
    try {
      float[] result = context.logits(row).clone();
      predict(result, 1);
      return result;
    } finally {
      contexts.give(context);
    }
  }

  /**
   * The prediction for each row of {@code rows}, as in {@link #score(Map)}, which has the dense
   * numbers and slots of {@link #schema()}; labels are not read, and may be missing. NaN as for
   * {@link #score(Map)}. Of {@code K} {@link #tasks} each row has {@code K} of them, side by side.
   */
  public float[] score(Batch rows) {
    float[] result = new float[rows.size() * tasks().size()];
    score(rows, result);
    return result;
  }

  /** As {@link #score(Batch)}; counts the rows as {@link #logits(Batch, float[], ColumnCounts)}. */
  public float[] score(Batch rows, ColumnCounts counts) {
    float[] result = new float[rows.size() * tasks().size()];
    logits(rows, result, counts);
    predict(result, rows.size());
    return result;
  }

  /** As {@link #score(Batch, ColumnCounts)}, to the first places of {@code target}. */
  public void score(Batch rows, float[] target, ColumnCounts counts) {
    logits(rows, target, counts);
    predict(target, rows.size());
  }

  /** Writes the result of {@link #score(Batch)} to the first places of {@code target}. */
  public void score(Batch rows, float[] target) {
    logits(rows, target);
    predict(target, rows.size());
  }

  /**
   * Writes the logit of each row, of each task, to the first places of {@code target}: the log-odds
   * of label 1, or what {@link dev.tern.model.Loss#predicted} takes. They tell rows apart whose
   * probabilities round to 0 or 1. Rows are as in {@link #score(Batch)}.
   */
  public void logits(Batch rows, float[] target) {
    logits(rows, target, Optional.empty());
  }

  /**
   * As {@link #logits(Batch, float[])}; adds the rows to {@code counts}, made for {@link #encoder},
   * and what among them is missing or unknown.
   */
  public void logits(Batch rows, float[] target, ColumnCounts counts) {
    logits(rows, target, Optional.of(counts));
  }

  private void logits(Batch rows, float[] target, Optional<ColumnCounts> counts) {
    encoder.requireFits(rows);
    requireRoom(rows, target);
    if (!shared.logits(rows, target, counts, false)) {
      contexts.logits(rows, 0, rows.size(), target, counts);
    }
    if (counts.isPresent()) {
      counts.get().add(rows);
    }
  }

  private void requireRoom(Batch rows, float[] target) {
    long results = (long) rows.size() * tasks().size();
    if (target.length < results) {
      throw new IllegalArgumentException(
          "score: got room for %s results, expected %s".formatted(target.length, results));
    }
  }

  /**
   * As {@link #logits(Batch, float[])} for rows that {@link #encoder} has encoded, which saves
   * encoding them again where they are scored many times.
   *
   * @param rows of {@link FeatureEncoder#schema}
   * @throws IllegalArgumentException if they are of another schema
   */
  public void encodedLogits(Batch rows, float[] target) {
    if (rows.schema() != encoder.schema()) {
      throw new IllegalArgumentException(
          "score: got rows of another schema, expected that of the predictor's encoder; encode them"
              + " by encoder().apply");
    }
    requireRoom(rows, target);
    if (!shared.logits(rows, target, Optional.empty(), true)) {
      contexts.encodedLogits(rows, 0, rows.size(), target);
    }
  }

  /**
   * Makes the working memory of all calls that may run at once, and has the JIT compile what they
   * run. It takes up to 10 seconds on two cores; the JIT compiles what is left by then while calls
   * are served. A service calls this once before its first request; without it the first calls take
   * up to a hundred times longer than later ones.
   *
   * <p>No other call may be under way.
   */
  public void warmUp() {
    contexts.warmUp();
  }

  /**
   * Makes the working memory of all calls that may run at once, where the JIT has compiled what
   * they run for another predictor of the same model.
   */
  void prepare() {
    contexts.prepare();
  }

  /** Ends threads and frees the working memory, but not the model; no call may be under way. */
  void release() {
    contexts.close();
    shared.close();
  }

  /** Frees the model; no call may be under way. */
  @Override
  public void close() {
    release();
    network.close();
    device.close();
  }
}
