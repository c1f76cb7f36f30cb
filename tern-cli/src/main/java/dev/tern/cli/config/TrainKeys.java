package dev.tern.cli.config;

import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.TableOptions;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.train.Monitor;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** The keys of the section {@code train}, and how they become the engine's options. */
final class TrainKeys {
  private static final Key.Section KEYS = new Key.Section();
  private static final int USUAL_RECALLED = 10;
  static final Key<Long> BATCH =
      KEYS.key("train.batch", new Kind.Whole(1, 1 << 24), 4096L, "Rows of a step.");
  static final Key<Long> LANES =
      KEYS.key(
          "train.lanes",
          new Kind.Whole(1, 1 << 10),
          1L,
          "Parts of a batch, a power of two that divides train.batch: each part computes gradients"
              + " by itself, and their sums along a tree update weights once a batch. A step then"
              + " needs memory for the values of one part; 1 computes batches whole.");
  static final Key<Long> EPOCHS =
      KEYS.key("train.epochs", new Kind.Whole(1, 1 << 20), 1L, "Passes over the training files.")
          .mayChange();
  static final Key<List<Path>> FROM =
      KEYS.key(
              "train.from",
              new Kind.Files("the folder of a run or of a checkpoint", true),
              List.<Path>of(),
              "A run or checkpoint of the same model.type whose weights this one begins with; none"
                  + " for weights at random. Vocabularies grow from its own, and scalings stay.")
          .before(List.of());
  static final Key<Boolean> FROM_STATE =
      KEYS.key(
          "train.from_state",
          new Kind.Flag(),
          false,
          "Whether the state of its optimizers goes on too, and its count of steps.");
  static final OptimizerKeys OPTIMIZER =
      OptimizerKeys.of(KEYS, "train.optimizer", "adam", "The optimizer of all weights.");
  static final OptimizerKeys TABLE_OPTIMIZER =
      OptimizerKeys.orSame(
          KEYS,
          "train.table_optimizer",
          "The optimizer of embeddings; its learning rate follows the schedule in proportion.");
  static final OptimizerKeys LINEAR_OPTIMIZER =
      OptimizerKeys.orSame(
          KEYS,
          "train.linear_optimizer",
          "The optimizer of the linear weight of each id, in a model that has one beside"
              + " embeddings; \"same\" takes the optimizer of embeddings.");
  static final Key<String> SCHEDULE =
      KEYS.key(
          "train.schedule.type",
          Kind.Choice.of("constant", "warmup-decay"),
          "constant",
          "The learning rate over the steps; warmup-decay rises to it, then falls to end_lr.");
  static final Key<Long> WARMUP_STEPS =
      KEYS.key(
              "train.schedule.warmup_steps",
              new Kind.Whole(1, Long.MAX_VALUE),
              1L,
              "Steps of the rise.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Long> DECAY_START =
      KEYS.key(
              "train.schedule.decay_start",
              Kind.COUNT,
              0L,
              "Step at which the fall begins; 0 for no fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Long> DECAY_STEPS =
      KEYS.key(
              "train.schedule.decay_steps",
              new Kind.Whole(1, Long.MAX_VALUE),
              1L,
              "Steps of the fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Double> DECAY_POWER =
      KEYS.key("train.schedule.decay_power", new Kind.Real(1, 100), 2.0, "Power of the fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Double> END_LR =
      KEYS.key("train.schedule.end_lr", Kind.FACTOR, 0.0, "Learning rate after the fall.")
          .when(SCHEDULE, "warmup-decay");
  static final Key<Double> WEIGHT_L2 =
      KEYS.key(
          "train.l2",
          Kind.FACTOR,
          0.0,
          "Share of each weight that is added to its gradient after clipping: of dense weights and"
              + " biases, and of the embedding rows of the batch. It is that of half the sum of"
              + " squares in the loss, without rows that the batch lacks. Optimizers scale it like"
              + " the gradient; train.weight_decay is apart from it, and ftrl's own l2 adds to"
              + " it.");
  static final Key<Double> WEIGHT_DECAY =
      KEYS.key(
          "train.weight_decay",
          Kind.FACTOR,
          0.0,
          "Share of weights, times the learning rate, taken off in each step, apart from the"
              + " gradient; not of embeddings.");
  static final Key<Double> CLIP_NORM =
      KEYS.key(
          "train.clip_norm",
          Kind.FACTOR,
          0.0,
          "Largest norm of the gradient of all weights but embeddings; 0 for any.");
  static final Key<Boolean> L2_ALL =
      KEYS.key(
          "train.rows.l2_all",
          new Kind.Flag(),
          false,
          "Whether train.l2 and model.tables.l2 reach all rows of embeddings in each step, not only"
              + " those of its batch. A step then takes time by the rows of its tables.");
  static final Key<Double> ROW_CLIP_NORM =
      KEYS.key(
          "train.rows.clip_norm",
          Kind.FACTOR,
          0.0,
          "Largest norm of the gradient of each row of an embedding; 0 for any.");
  static final Key<Double> ROW_LOW =
      KEYS.key(
          "train.rows.low",
          Kind.NUMBER,
          (double) -Float.MAX_VALUE,
          "Least weight of an embedding after an update.");
  static final Key<Double> ROW_HIGH =
      KEYS.key(
          "train.rows.high",
          Kind.NUMBER,
          (double) Float.MAX_VALUE,
          "Greatest weight of an embedding after an update.");
  static final Key<Long> SHUFFLE =
      KEYS.key(
          "train.shuffle",
          new Kind.Whole(0, 1 << 28),
          65_536L,
          "Rows of a block that is shuffled; 0 keeps the order of the files.");
  static final Key<Long> SEED =
      KEYS.key("train.seed", Kind.COUNT, 1L, "Seed of weights, dropout and shuffling.");
  static final Key<String> DEVICE =
      KEYS.key(
              "train.device",
              new Kind.CudaDevice(),
              "cpu",
              "What computes steps: cpu, or cuda:N for device N of NVIDIA, counted from 0, to the"
                  + " same bits; cuda is cuda:0. Tables stay with the processor.")
          .mayChange();
  static final Key<String> DEVICE_MATH =
      KEYS.key(
              "train.device_math",
              Kind.Choice.of("exact", "tf32", "bf16"),
              "exact",
              "How a CUDA device multiplies matrices: exact gives the bits of the processor; tf32"
                  + " and bf16 round factors and use tensor cores.")
          .mayChange();
  static final Key<Long> THREADS =
      KEYS.key(
              "train.threads",
              new Kind.Whole(0, 1024),
              0L,
              "Compute threads; 0 for one per processor.")
          .mayChange();
  static final Key<Long> MEMORY =
      KEYS.key(
              "train.memory",
              new Kind.Bytes(16L << 20),
              2L << 30,
              "Hard limit on memory for weights, tables and steps.")
          .mayChange();
  static final Key<Long> ACTIVATION_MEMORY =
      KEYS.key(
              "train.activation_memory",
              new Kind.Bytes(0),
              0L,
              "Hard limit on memory for the values of one step: what does not fit is dropped and"
                  + " computed again, which changes no bit; 0 for what train.memory leaves.")
          .mayChange();
  static final Key<Double> PLAN_SECONDS =
      KEYS.key(
              "train.plan_seconds",
              new Kind.Real(0, 86_400),
              0.0,
              "Seconds to search for what a step drops and computes again, where its values do not"
                  + " fit: steps become faster and change no bit. The result is kept in run.dir and"
                  + " used on resume; 0 for a search of a second or so.")
          .mayChange();
  static final Key<Long> TABLE_MEMORY =
      KEYS.key(
              "train.table_memory",
              new Kind.Bytes(0),
              0L,
              "Of train.memory, what embedding tables share: rows without room lie in files in"
                  + " run.dir, which changes no bit; 0 keeps all rows in memory.")
          .mayChange();
  static final Key<Every> EVALUATE_EVERY =
      KEYS.key(
              "train.evaluate_every",
              new Kind.Often(),
              Every.EPOCH,
              "When the evaluation files are scored: epoch, never or a number of steps.")
          .mayChange();
  static final Key<Every> CHECKPOINT_EVERY =
      KEYS.key(
              "train.checkpoint_every",
              new Kind.Often(),
              Every.EPOCH,
              "When a checkpoint is written: epoch, never or a number of steps.")
          .mayChange();
  static final Key<Long> DELTA_STEPS =
      KEYS.key(
              "train.delta.steps",
              Kind.COUNT,
              0L,
              "Steps after which a checkpoint of what changed since the one before is written; 0"
                  + " for none. Small with lazy optimizers, where each step changes few rows.")
          .mayChange();
  static final Key<Double> DELTA_SECONDS =
      KEYS.key(
              "train.delta.seconds",
              new Kind.Real(0, 1e6),
              0.0,
              "Seconds after which one is written; 0 for none.")
          .mayChange();
  static final Key<Long> DELTA_MOST =
      KEYS.key(
              "train.delta.most",
              new Kind.Whole(1, 10_000),
              100L,
              "Checkpoints of changes that may follow a full one; also as soon as they are larger"
                  + " than it the next is full.")
          .mayChange();
  static final Key<String> MONITOR =
      KEYS.key(
          "train.monitor",
          Kind.Choice.of(
              "auc",
              "log_loss",
              "normalized_entropy",
              "gauc",
              "recall",
              "mse",
              "mae",
              "r2",
              "smape"),
          "auc",
          "The figure of evaluations that decides which checkpoint is the best, and when training"
              + " stops early; gauc by the rows of data.group, recall of twotower by"
              + " train.recall_at. mse, mae, r2 and smape are for labels that are numbers; with auc"
              + " the loss of these decides.");
  static final Key<Long> RECALL_AT =
      KEYS.key(
          "train.recall_at",
          new Kind.Whole(0, 10_000),
          0L,
          "Items that evaluations of twotower find for each row, to say how often the row's own is"
              + " among them (recall); 0 for none, or for 10 with train.monitor: recall.");
  static final Key<String> MONITOR_TASK =
      KEYS.key(
          "train.monitor_task",
          new Kind.Text("the name of a label", true),
          "",
          "The label of data.labels whose figure it is; none for the first.");
  static final Key<Long> EARLY_STOP =
      KEYS.key(
              "train.early_stop",
              Kind.COUNT,
              0L,
              "Evaluations that are no better by train.monitor after which training ends; 0 for"
                  + " never.")
          .mayChange();
  static final Key<Long> LOG_EVERY =
      KEYS.key(
              "train.log_every",
              new Kind.Whole(1, Long.MAX_VALUE),
              100L,
              "Steps between two lines of training metrics.")
          .mayChange();

  private TrainKeys() {}

  /** In the order they are read and written. */
  static List<Key<?>> all() {
    return List.copyOf(KEYS.keys());
  }

  /** The engine's options that the sections {@code train} and {@code model} say. */
  static TrainOptions options(Settings s) {
    TableOptions tables = tables(s);
    TrainOptions empty = TrainOptions.of(checked(s, "train.optimizer", TrainKeys::optimizer));
    return checked(s, "train.lanes", at -> empty.lanes(at.get(LANES).intValue()))
        .tables(_ -> tables)
        .batch(s.get(BATCH).intValue())
        .epochs(s.get(EPOCHS).intValue())
        .schedule(checked(s, "train.schedule", TrainKeys::learningRate))
        .l2(s.get(WEIGHT_L2).floatValue())
        .weightDecay(s.get(WEIGHT_DECAY).floatValue())
        .clipNorm(limit(s.get(CLIP_NORM)))
        .frozen(s.get(ModelKeys.FROZEN))
        .shuffleRows(s.get(SHUFFLE).intValue())
        .seed(s.get(SEED))
        .evaluateEvery(s.get(EVALUATE_EVERY).steps())
        .deltas(deltas(s))
        .monitor(monitor(s))
        .recallAt(recallAt(s))
        .earlyStop((int) Math.min(Integer.MAX_VALUE, s.get(EARLY_STOP)))
        .reportEvery(s.get(LOG_EVERY));
  }

  private static int recallAt(Settings s) {
    int at = s.get(RECALL_AT).intValue();
    return at == 0 && s.get(MONITOR).equals("recall") ? USUAL_RECALLED : at;
  }

  private static Monitor monitor(Settings s) {
    return new Monitor(
        Monitor.Figure.valueOf(s.get(MONITOR).toUpperCase(Locale.ROOT)), s.get(MONITOR_TASK));
  }

  private static TableOptions tables(Settings s) {
    checked(s, "train.optimizer", TrainKeys::optimizer);
    TableOptions options =
        TableOptions.of(checked(s, "train.table_optimizer", TrainKeys::tableOptimizer));
    options =
        checked(s, "train.linear_optimizer", at -> LINEAR_OPTIMIZER.read(at.top()))
            .map(options::firstPart)
            .orElse(options);
    return TableKeys.options(s, options)
        .l2OfAllRows(s.get(L2_ALL))
        .limits(checked(s, "train.rows", TrainKeys::rowLimits));
  }

  private static DeltaSchedule deltas(Settings s) {
    return new DeltaSchedule(
        s.get(DELTA_STEPS),
        Duration.ofNanos(Math.round(1e9 * s.get(DELTA_SECONDS))),
        s.get(DELTA_MOST).intValue());
  }

  private static Optimizer optimizer(Settings s) {
    return OPTIMIZER.read(s.top()).orElseThrow();
  }

  private static Optimizer tableOptimizer(Settings s) {
    return TABLE_OPTIMIZER.read(s.top()).orElseGet(() -> optimizer(s));
  }

  private static RowLimits rowLimits(Settings s) {
    float low = s.get(ROW_LOW).floatValue();
    float high = s.get(ROW_HIGH).floatValue();
    return RowLimits.NONE
        .withClipNorm(limit(s.get(ROW_CLIP_NORM)))
        .withBounds(
            low == -Float.MAX_VALUE ? Float.NEGATIVE_INFINITY : low,
            high == Float.MAX_VALUE ? Float.POSITIVE_INFINITY : high);
  }

  private static LearningRate learningRate(Settings s) {
    float lr = optimizer(s).lr();
    return s.get(SCHEDULE).equals("constant")
        ? LearningRate.constant(lr)
        : new LearningRate.WarmupDecay(
            lr,
            s.get(WARMUP_STEPS),
            s.get(DECAY_START),
            s.get(DECAY_STEPS),
            s.get(DECAY_POWER).floatValue(),
            s.get(END_LR).floatValue());
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

  /** The same for the section of groups in which {@code key} stands. */
  static <T> T checked(Settings.Group group, Key<?> key, Function<Settings.Group, T> make) {
    try {
      return make.apply(group);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          group.where(key) + ": " + key.section() + ": " + e.getMessage() + "; change that value",
          e);
    }
  }

  /** A limit too small for a float is a limit all the same, and not the 0 that means none. */
  private static float limit(double value) {
    return value > 0 ? Math.max((float) value, Float.MIN_VALUE) : 0;
  }
}
