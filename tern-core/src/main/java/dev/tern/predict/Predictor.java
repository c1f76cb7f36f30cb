package dev.tern.predict;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.config.RowFormat;
import dev.tern.internal.ir.Pointwise;
import dev.tern.model.Model;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

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
  private static final int MAX_ROWS = 256;
  private static final int[] CAPACITIES = {1, 16, MAX_ROWS};

  private final Device device;
  private final FeatureEncoder encoder;
  private final Network network;
  private final ArrayDeque<Context> pool = new ArrayDeque<>();
  private volatile boolean closed;

  private Predictor(Device device, FeatureEncoder encoder, Network network) {
    this.device = device;
    this.encoder = encoder;
    this.network = network;
  }

  /** Opens a checkpoint of one of Tern's models, or a run's best one. */
  public static Predictor open(Path checkpoint) {
    return open(checkpoint, RowFormat.STORED);
  }

  /** Opens a checkpoint of one of Tern's models and holds embedding rows in another format. */
  public static Predictor open(Path checkpoint, RowFormat format) {
    Checkpoint saved = Checkpoint.open(checkpoint);
    return open(saved, device -> saved.load(device, format));
  }

  /**
   * The model of {@code checkpoint}, one of Tern's, with embedding rows in another format. For who
   * opened the checkpoint already: opening reads and checks all its files.
   */
  public static Predictor open(Checkpoint checkpoint, RowFormat format) {
    return open(checkpoint, device -> checkpoint.load(device, format));
  }

  /** Opens a checkpoint of a model of one's own. */
  public static Predictor open(Path checkpoint, Model.Factory factory) {
    return open(checkpoint, factory, RowFormat.STORED);
  }

  /** Opens a checkpoint of a model of one's own and holds embedding rows in another format. */
  public static Predictor open(Path checkpoint, Model.Factory factory, RowFormat format) {
    Checkpoint saved = Checkpoint.open(checkpoint);
    return open(saved, device -> saved.load(device, factory, format));
  }

  private static Predictor open(Checkpoint saved, Function<Device, Network> load) {
    Device device = Device.cpu(1, Long.MAX_VALUE);
    try {
      return new Predictor(device, saved.encoder(), load.apply(device));
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

  /** The columns of the rows to score. */
  public Schema schema() {
    return encoder.rawSchema();
  }

  /**
   * The probability of label 1 for one row, given as values by column name. {@link
   * FeatureEncoder#addRow} says which values a column takes. A column left out is missing. NaN
   * where a number is so huge that the model overflows.
   */
  public float score(Map<String, ?> row) {
    Context context = take();
    try {
      context.raw.clear();
      encoder.addRow(row, context.raw);
      context.logits(context.single, 0);
      return Pointwise.sigmoid(context.single[0]);
    } finally {
      give(context);
    }
  }

  /**
   * The probability of label 1 for each row of {@code rows}, which has the dense numbers and slots
   * of {@link #schema()}; labels are not read, and may be missing. NaN as for {@link #score(Map)}.
   */
  public float[] score(Batch rows) {
    float[] result = new float[rows.size()];
    score(rows, result);
    return result;
  }

  /** As {@link #score(Batch)}; counts the rows as {@link #logits(Batch, float[], ColumnCounts)}. */
  public float[] score(Batch rows, ColumnCounts counts) {
    float[] result = new float[rows.size()];
    logits(rows, result, counts);
    toProbabilities(result, rows.size());
    return result;
  }

  private static void toProbabilities(float[] logits, int count) {
    for (int i = 0; i < count; i++) {
      logits[i] = Pointwise.sigmoid(logits[i]);
    }
  }

  /** Writes the result of {@link #score(Batch)} to the first {@code rows.size()} places. */
  public void score(Batch rows, float[] target) {
    logits(rows, target);
    toProbabilities(target, rows.size());
  }

  /**
   * Writes the log-odds of label 1 for each row to the first {@code rows.size()} places of {@code
   * target}. They tell rows apart whose probabilities round to 0 or 1. Rows are as in {@link
   * #score(Batch)}.
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
    if (target.length < rows.size()) {
      throw new IllegalArgumentException(
          "score: got room for %s results, expected %s".formatted(target.length, rows.size()));
    }
    Context context = take();
    try {
      for (int from = 0; from < rows.size(); from += MAX_ROWS) {
        context.raw.clear();
        context.raw.appendRows(rows, from, Math.min(from + MAX_ROWS, rows.size()));
        context.logits(target, from);
        if (counts.isPresent()) {
          context.count(counts.get());
        }
      }
    } finally {
      give(context);
    }
  }

  private Context take() {
    if (closed) {
      throw new IllegalStateException("predictor: got a call after close; open a new one");
    }
    Context context;
    // A lock, as a concurrent queue would allocate an object for each call.
    synchronized (pool) {
      context = pool.pollFirst();
    }
    return context == null ? new Context() : context;
  }

  private void give(Context context) {
    synchronized (pool) {
      pool.addFirst(context);
    }
  }

  /** Frees the model; no call may be under way. */
  @Override
  public void close() {
    closed = true;
    network.close();
    device.close();
  }

  /** Working memory of one call at a time. */
  private final class Context {
    final Batch raw = new Batch(encoder.rawSchema(), 1);
    final float[] single = new float[1];
    private final Batch encoded = new Batch(encoder.schema(), 1);
    private final Scorer[] scorers =
        IntStream.of(CAPACITIES).mapToObj(rows -> new Scorer(network, rows)).toArray(Scorer[]::new);

    /** Adds the rows scored last to {@code counts}. */
    void count(ColumnCounts counts) {
      counts.add(raw);
      scorer(encoded.size()).forEachUnknown(counts::addUnknown);
    }

    /** Writes the logits of the rows of {@link #raw} to {@code target} from index {@code at}. */
    void logits(float[] target, int at) {
      encoder.apply(raw, encoded);
      scorer(encoded.size()).logits(encoded, target, at);
    }

    private Scorer scorer(int rows) {
      int fitting = 0;
      while (CAPACITIES[fitting] < rows) {
        fitting++;
      }
      return scorers[fitting];
    }
  }
}
