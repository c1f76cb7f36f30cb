package dev.tern.cli.config;

import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.embedding.config.RowLimits;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * How the model is trained.
 *
 * @param batch rows of a step
 * @param epochs passes over the training data
 * @param optimizer of dense weights
 * @param tableOptimizer of embeddings
 * @param linearOptimizer of the linear weights of ids, where it is another one than of embeddings
 * @param learningRate the learning rate over the steps
 * @param l2 factor of half the sum of squared weights in the loss
 * @param weightDecay share of dense weights, times the learning rate, taken off in each step
 * @param clipNorm largest norm of the dense weights' gradient; 0 for any
 * @param rowLimits what updates of embeddings must keep to
 * @param shuffleRows rows of a block that is shuffled; 0 keeps the order
 * @param seed of weights, dropout and shuffling
 * @param threads compute threads, at least 1
 * @param memory hard limit in bytes
 * @param activationMemory hard limit of the values of one step, in bytes, at most {@code memory}
 * @param planSeconds how long to search for what a step that does not fit computes again; 0 for a
 *     search of a second or so
 * @param tableMemory what tables share of it, in bytes; 0 keeps all rows in memory
 * @param evaluateEvery when the evaluation data is scored
 * @param checkpointEvery when a checkpoint is written
 * @param deltas when checkpoints of changes are written between full ones
 * @param earlyStop evaluations without a better AUC after which training ends; 0 for never
 * @param logEvery steps between two lines of training metrics
 */
public record TrainConfig(
    int batch,
    int epochs,
    Optimizer optimizer,
    Optimizer tableOptimizer,
    Optional<Optimizer> linearOptimizer,
    LearningRate learningRate,
    float l2,
    float weightDecay,
    float clipNorm,
    RowLimits rowLimits,
    int shuffleRows,
    long seed,
    int threads,
    long memory,
    long activationMemory,
    double planSeconds,
    long tableMemory,
    Every evaluateEvery,
    Every checkpointEvery,
    DeltaSchedule deltas,
    long earlyStop,
    long logEvery) {
  static TrainConfig of(Settings s) {
    int threads = s.get(Keys.THREADS).intValue();
    return new TrainConfig(
        s.get(Keys.BATCH).intValue(),
        s.get(Keys.EPOCHS).intValue(),
        checked(s, "train.optimizer", TrainConfig::optimizer),
        checked(s, "train.table_optimizer", TrainConfig::tableOptimizer),
        checked(s, "train.linear_optimizer", Keys.LINEAR_OPTIMIZER::read),
        checked(s, "train.schedule", TrainConfig::learningRate),
        s.get(Keys.WEIGHT_L2).floatValue(),
        s.get(Keys.WEIGHT_DECAY).floatValue(),
        limit(s.get(Keys.CLIP_NORM)),
        checked(s, "train.rows", TrainConfig::rowLimits),
        s.get(Keys.SHUFFLE).intValue(),
        s.get(Keys.SEED),
        threads == 0 ? Runtime.getRuntime().availableProcessors() : threads,
        s.get(Keys.MEMORY),
        activationMemory(s.get(Keys.ACTIVATION_MEMORY), s.get(Keys.MEMORY)),
        s.get(Keys.PLAN_SECONDS),
        s.get(Keys.TABLE_MEMORY),
        s.get(Keys.EVALUATE_EVERY),
        s.get(Keys.CHECKPOINT_EVERY),
        deltas(s),
        s.get(Keys.EARLY_STOP),
        s.get(Keys.LOG_EVERY));
  }

  /** How it is trained in one line. */
  public String summary() {
    String rule = optimizer.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    return String.format(
        Locale.ROOT,
        "batch %,d, epochs %d, %s, learning rate %s, seed %d, threads %d",
        batch,
        epochs,
        rule,
        optimizer.lr(),
        seed,
        threads);
  }

  private static long activationMemory(long configured, long memory) {
    return configured == 0 ? memory : Math.min(configured, memory);
  }

  private static DeltaSchedule deltas(Settings s) {
    return new DeltaSchedule(
        s.get(Keys.DELTA_STEPS),
        Duration.ofNanos(Math.round(1e9 * s.get(Keys.DELTA_SECONDS))),
        s.get(Keys.DELTA_MOST).intValue());
  }

  private static Optimizer optimizer(Settings s) {
    return Keys.OPTIMIZER.read(s).orElseThrow();
  }

  private static Optimizer tableOptimizer(Settings s) {
    return Keys.TABLE_OPTIMIZER.read(s).orElseGet(() -> optimizer(s));
  }

  private static RowLimits rowLimits(Settings s) {
    float low = s.get(Keys.ROW_LOW).floatValue();
    float high = s.get(Keys.ROW_HIGH).floatValue();
    return RowLimits.NONE
        .withClipNorm(limit(s.get(Keys.ROW_CLIP_NORM)))
        .withBounds(
            low == -Float.MAX_VALUE ? Float.NEGATIVE_INFINITY : low,
            high == Float.MAX_VALUE ? Float.POSITIVE_INFINITY : high);
  }

  private static LearningRate learningRate(Settings s) {
    float lr = optimizer(s).lr();
    return s.get(Keys.SCHEDULE).equals("constant")
        ? LearningRate.constant(lr)
        : new LearningRate.WarmupDecay(
            lr,
            s.get(Keys.WARMUP_STEPS),
            s.get(Keys.DECAY_START),
            s.get(Keys.DECAY_STEPS),
            s.get(Keys.DECAY_POWER).floatValue(),
            s.get(Keys.END_LR).floatValue());
  }

  /** The engine's own check of a value is a configuration error here. */
  private static <T> T checked(Settings s, String section, Function<Settings, T> make) {
    try {
      return make.apply(s);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          s.where(section) + ": " + section + ": " + e.getMessage() + "; change that value", e);
    }
  }

  /** A limit too small for a float is a limit all the same, and not the 0 that means none. */
  private static float limit(double value) {
    return value > 0 ? Math.max((float) value, Float.MIN_VALUE) : 0;
  }
}
