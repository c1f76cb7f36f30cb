package dev.tern.train;

import dev.tern.base.Shown;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.checkpoint.RunSettings;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.config.TableOptions;
import dev.tern.metrics.GroupMetrics;
import dev.tern.model.Network;
import dev.tern.model.RetrievalModel;
import dev.tern.nn.Model;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import dev.tern.tensor.PlanSearch;
import dev.tern.tensor.Variable;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Options of a training run. Immutable: each method with an argument returns a changed copy. Start
 * from {@link #of}:
 *
 * <pre>{@code
 * TrainOptions.of(Optimizer.adam(0.001f))
 *     .batch(4096)
 *     .epochs(2)
 *     .tables(tables -> tables.storage(DType.BF16))
 * }</pre>
 */
public final class TrainOptions implements RunSettings, Cloneable {
  private static final int MOST_RECALLED = 10_000;
  private static final int MOST_LANES = 1024;

  // Written by `with` alone, before anybody else sees the copy.
  private int batch = 1024;
  private int lanes = 1;
  private int epochs = 1;
  private final Optimizer optimizer;
  private TableOptions tables;
  private Optional<FileTier> tier = Optional.empty();
  private LearningRate schedule;
  private long seed = 1;
  private long evaluateEvery;
  private Monitor monitor = Monitor.AUC;
  private Optional<String> group = Optional.empty();
  private int recallAt;
  private int earlyStop;
  private float weightDecay;
  private float clipNorm;
  private List<String> frozen = List.of();
  private int shuffleRows = 1 << 17;
  private long reportEvery = 100;
  private Optional<Path> checkpoints = Optional.empty();
  private long checkpointEvery;
  private DeltaSchedule deltas = DeltaSchedule.NEVER;
  private PlanSearch planSearch = PlanSearch.QUICK;

  private TrainOptions(Optimizer optimizer) {
    this.optimizer = optimizer;
    tables = TableOptions.of(onTables(optimizer));
    schedule = LearningRate.constant(optimizer.lr());
  }

  /** Batches of 1024, one epoch, a constant learning rate; tables use the lazy form of Adam. */
  public static TrainOptions of(Optimizer optimizer) {
    return new TrainOptions(optimizer);
  }

  private static Optimizer onTables(Optimizer optimizer) {
    return optimizer instanceof Optimizer.Adam adam && !adam.lazy()
        ? new Optimizer.Adam(adam.lr(), adam.beta1(), adam.beta2(), adam.eps(), Untouched.KEPT)
        : optimizer;
  }

  private TrainOptions with(Consumer<TrainOptions> change) {
    try {
      TrainOptions copy = (TrainOptions) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  private static void require(boolean holds, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "train options: got %s %s, expected %s".formatted(name, got, expected));
    }
  }

  /** Throws if two options contradict each other. */
  void check() {
    if (batch % lanes != 0) {
      throw new IllegalArgumentException(
          "train options: got batches of %d rows in %d lanes, expected a multiple of %d rows; make lanes of equal size"
              .formatted(batch, lanes, lanes));
    }
    Optimizer ofTables = tables.optimizer();
    boolean ftrl =
        optimizer instanceof Optimizer.Ftrl
            || tables.optimizers().stream().anyMatch(Optimizer.Ftrl.class::isInstance);
    boolean constant = schedule instanceof LearningRate.Constant(float lr) && lr > 0;
    if (ftrl && !constant) {
      throw new IllegalArgumentException(
          ("train options: got FTRL with the learning rate %s, expected a constant above 0: FTRL"
                  + " finds a rate for each weight, and a change of the base rate would scale all"
                  + " weights; use LearningRate.constant")
              .formatted(schedule));
    }
    if (optimizer.lr() == 0 && ofTables.lr() != 0) {
      throw new IllegalArgumentException(
          ("train options: got learning rates 0 of dense parameters and %s of tables, expected"
                  + " one above 0 for both, as a schedule is for both; choose a small one")
              .formatted(ofTables.lr()));
    }
    if (monitor.figure() == Monitor.Figure.GAUC && group.isEmpty()) {
      throw new IllegalArgumentException(
          "train options: got the monitor GAUC without groups, expected a column that groups rows;"
              + " give group(\"user\"), or monitor AUC");
    }
    if (monitor.figure() == Monitor.Figure.RECALL && recallAt == 0) {
      throw new IllegalArgumentException(
          "train options: got the monitor RECALL without recallAt, expected how many items are"
              + " found; give recallAt(10), or monitor AUC");
    }
    if (optimizer instanceof Optimizer.Ftrl && weightDecay > 0) {
      throw new IllegalArgumentException(
          "train options: got FTRL with weightDecay %s, expected 0: FTRL makes each weight anew from its sums; use its l2"
              .formatted(weightDecay));
    }
  }

  /** Rows of a step, 1 or more; the last batch of an epoch may be shorter. */
  public TrainOptions batch(int rows) {
    require(rows >= 1, "batch", rows, "1 or more");
    return with(copy -> copy.batch = rows);
  }

  /**
   * Cuts each batch into lanes of {@code batch / lanes} rows, in their order; 1 computes batches
   * whole. A lane computes gradients by itself, and the gradients of lanes are added up along a
   * balanced binary tree, which then update weights once a batch. So no bit depends on who computes
   * which lanes, and a step needs memory for the values of one lane: batches may be as large as the
   * gradients of their rows fit.
   *
   * <p>With {@code g_k} the gradient of lane {@code k}, four lanes have {@code (g_0 + g_1) + (g_2 +
   * g_3)}. A batch that is shorter, such as the last of an epoch, fills lane after lane; lanes
   * without rows are left out of the sum: three have {@code (g_0 + g_1) + g_2}.
   *
   * <p>The loss is the mean over the batch, and {@link #clipNorm} bounds the sum, as without lanes.
   * But layers take the statistics of a lane, such as mean and variance of {@link
   * dev.tern.nn.BatchNorm}, and dropout draws for each lane anew. A term that a model adds to the
   * loss is the mean of its lanes' by rows.
   *
   * @param lanes a power of two, 1 to 1,024, of which {@link #batch} is a multiple
   */
  public TrainOptions lanes(int lanes) {
    boolean holds = lanes >= 1 && lanes <= MOST_LANES && Integer.bitCount(lanes) == 1;
    require(holds, "lanes", lanes, "a power of two from 1 (none) to 1,024");
    return with(copy -> copy.lanes = lanes);
  }

  /** Passes over the data, 1 or more. */
  public TrainOptions epochs(int passes) {
    require(passes >= 1, "epochs", passes, "1 or more");
    return with(copy -> copy.epochs = passes);
  }

  /** Changes the options of embedding tables, as in {@code tables(t -> t.initRange(0.1f))}. */
  public TrainOptions tables(UnaryOperator<TableOptions> change) {
    return with(copy -> copy.tables = change.apply(tables));
  }

  /**
   * Another optimizer for embedding rows. A schedule scales both learning rates by the same factor.
   */
  public TrainOptions tableOptimizer(Optimizer rule) {
    return tables(options -> options.optimizer(rule));
  }

  /**
   * Tables share the memory of {@code files}; rows without room in it lie in files. No bit of the
   * results changes. {@link dev.tern.embedding.EmbeddingTable#create} says which options go with
   * it.
   */
  public TrainOptions tier(FileTier files) {
    return with(copy -> copy.tier = Optional.of(files));
  }

  /**
   * Learning rate of dense parameters in each step. The rate of tables is in proportion: with 0.1
   * for tables and 0.01 for dense parameters it is 10 times as high in every step.
   */
  public TrainOptions schedule(LearningRate rate) {
    return with(copy -> copy.schedule = rate);
  }

  /** Seed of initial values, shuffling and dropout. */
  public TrainOptions seed(long value) {
    return with(copy -> copy.seed = value);
  }

  /** Evaluate every {@code steps} steps; 0 evaluates at the end of each epoch. */
  public TrainOptions evaluateEvery(long steps) {
    require(steps >= 0, "evaluateEvery", steps, "0 (each epoch) or more");
    return with(copy -> copy.evaluateEvery = steps);
  }

  /** Decides which checkpoint is the best, and when training stops early. AUC by default. */
  public TrainOptions monitor(Monitor value) {
    return with(copy -> copy.monitor = value);
  }

  /**
   * A column of ids in the rows to evaluate on, such as the user: evaluations also have {@link
   * GroupMetrics} over the rows of each value, of the first 10 rows. The model need not read it;
   * then the rows have it as a slot beside the model's columns.
   */
  public TrainOptions group(String column) {
    return with(copy -> copy.group = Optional.of(column));
  }

  /**
   * Evaluations of a model of two towers also have {@link dev.tern.metrics.RetrievalMetrics}: of
   * the rows labelled 1, the share whose own item is among the {@code items} best for their user,
   * of all items that the rows evaluated on have. 0 for none. It reads the rows twice, and takes
   * their number times that of their items in products of the vectors' width.
   */
  public TrainOptions recallAt(int items) {
    require(items >= 0 && items <= MOST_RECALLED, "recallAt", items, "0 (none) to 10,000");
    return with(copy -> copy.recallAt = items);
  }

  /**
   * Stop after {@code evaluations} in a row of which none is better by {@link #monitor}; 0 never
   * stops early.
   */
  public TrainOptions earlyStop(int evaluations) {
    require(evaluations >= 0, "earlyStop", evaluations, "0 (never) or more");
    return with(copy -> copy.earlyStop = evaluations);
  }

  /**
   * Adds {@code share * w} to the gradient of each dense weight, and of each weight of the
   * embedding rows that a batch touches.
   */
  public TrainOptions l2(float share) {
    require(share >= 0 && share < Float.POSITIVE_INFINITY, "l2", share, "0 or more");
    return tables(options -> options.l2(share));
  }

  /**
   * Takes {@code share * lr * w} off each dense weight {@code w} in every step, apart from the
   * gradient and whatever the optimizer makes of it: AdamW and its relatives (Loshchilov and Hutter
   * 2019, algorithms 1 and 2). Not for FTRL; embedding rows stay as they are.
   */
  public TrainOptions weightDecay(float share) {
    require(share >= 0 && share < Float.POSITIVE_INFINITY, "weightDecay", share, "0 or more");
    return with(copy -> copy.weightDecay = share);
  }

  /**
   * Largest norm of the gradients of all dense parameters together. Above it one factor scales them
   * down to this norm (Pascanu et al. 2013, algorithm 1), before {@link #l2} adds to them; 0 never
   * scales. Gradients of embedding rows are neither counted nor scaled; {@link TableOptions#limits}
   * bounds them.
   */
  public TrainOptions clipNorm(float norm) {
    require(norm >= 0 && norm < Float.POSITIVE_INFINITY, "clipNorm", norm, "0 (any) or more");
    return with(copy -> copy.clipNorm = norm);
  }

  /**
   * Dense parameters, and statistics of layers, that training leaves as they are, such as those of
   * an earlier run. They have no optimizer state, and their gradients count nowhere.
   *
   * @param names of {@link dev.tern.model.Network#variables}, where {@code *} stands for any text,
   *     as in {@code deep.*}; each must be the name of one
   */
  public TrainOptions frozen(List<String> names) {
    return with(copy -> copy.frozen = List.copyOf(names));
  }

  /** Shuffle within blocks of {@code rows} rows; 0 keeps the order of the data. */
  public TrainOptions shuffleRows(int rows) {
    require(rows >= 0, "shuffleRows", rows, "0 (no shuffling) or more");
    return with(copy -> copy.shuffleRows = rows);
  }

  /** Report progress every {@code steps} steps, 1 or more. */
  public TrainOptions reportEvery(long steps) {
    require(steps >= 1, "reportEvery", steps, "1 or more");
    return with(copy -> copy.reportEvery = steps);
  }

  /**
   * {@link Trainer#fit} writes checkpoints into {@code folder}: {@code step-N} at the end of each
   * epoch and every {@code steps} steps (0: only then), of which the latest stays, and {@code best}
   * after the evaluation with the highest AUC.
   */
  public TrainOptions checkpoints(Path folder, long steps) {
    require(steps >= 0, "checkpoint steps", steps, "0 (each epoch) or more");
    return with(copy -> {
      copy.checkpoints = Optional.of(folder);
      copy.checkpointEvery = steps;
    });
  }

  /**
   * When {@link Trainer#fit} writes checkpoints of the changes since the one before, between the
   * full {@link #checkpoints}; a run that is stopped ends with one. They are small as long as few
   * rows change from one to the next: an optimizer that changes all rows in each step leaves
   * nothing to gain.
   */
  public TrainOptions deltas(DeltaSchedule when) {
    return with(copy -> copy.deltas = when);
  }

  /**
   * How to search for what a step drops and computes again, if the device's memory has no room for
   * all of its values. It changes no bit of what is trained.
   */
  public TrainOptions planSearch(PlanSearch search) {
    return with(copy -> copy.planSearch = search);
  }

  @Override
  public int batch() {
    return batch;
  }

  @Override
  public int lanes() {
    return lanes;
  }

  /** Rows of a lane: of the batch where there is one lane. */
  int rowsOfLane() {
    return batch / lanes;
  }

  public int epochs() {
    return epochs;
  }

  @Override
  public Optimizer optimizer() {
    return optimizer;
  }

  @Override
  public TableOptions tables() {
    return tables;
  }

  /** The tables' learning rate in a step in which dense parameters learn at {@code rate}. */
  float tableRate(float rate) {
    float ofTables = tables.optimizer().lr();
    return ofTables == optimizer.lr() ? rate : rate * (ofTables / optimizer.lr());
  }

  @Override
  public LearningRate schedule() {
    return schedule;
  }

  @Override
  public long seed() {
    return seed;
  }

  public long evaluateEvery() {
    return evaluateEvery;
  }

  public Monitor monitor() {
    return monitor;
  }

  @Override
  public String monitored() {
    String by =
        switch (monitor.figure()) {
          case GAUC -> " by " + group.orElse("");
          case RECALL -> " at " + recallAt;
          default -> "";
        };
    return monitor.equals(Monitor.AUC) ? "" : monitor + by;
  }

  public Optional<String> group() {
    return group;
  }

  public int recallAt() {
    return recallAt;
  }

  public int earlyStop() {
    return earlyStop;
  }

  public float l2() {
    return tables.l2();
  }

  @Override
  public float weightDecay() {
    return weightDecay;
  }

  @Override
  public float clipNorm() {
    return clipNorm;
  }

  @Override
  public List<String> frozen() {
    return frozen;
  }

  /** Whether training leaves the parameter or statistic {@code name} as it is. */
  boolean freezes(String name) {
    return frozen.stream().anyMatch(pattern -> isNamed(name, pattern));
  }

  private static boolean isNamed(String name, String pattern) {
    return name.matches(Pattern.quote(pattern).replace("*", "\\E.*\\Q"));
  }

  /** Throws if recall is asked of another model than two towers. */
  void requireRecall(Model model) {
    if (recallAt > 0 && !(model instanceof RetrievalModel)) {
      throw new IllegalArgumentException(
          "train options: got recallAt %d for a model without vectors of items, expected 0, or a model of two towers; leave it out"
              .formatted(recallAt));
    }
  }

  /** Throws if the loss of {@code network} compares rows that may be in different lanes. */
  void requireLanes(Network network) {
    if (lanes == 1) {
      return;
    }
    network
        .tasks()
        .group()
        .ifPresent(column -> {
          throw new IllegalArgumentException(
              "train options: got %d lanes for a loss of pairs of rows with the same %s, expected 1 lane, as the rows of a pair may be in two; leave lanes out"
                  .formatted(lanes, column));
        });
    if (network.model().itemSlot().isPresent()) {
      throw new IllegalArgumentException(
          "train options: got %d lanes for a model that compares each row with the items of all rows of a batch, expected 1 lane, as these would be in other lanes; leave lanes out"
              .formatted(lanes));
    }
  }

  /** Throws if a pattern of {@link #frozen(List)} is no name of {@code variables}. */
  void requireFrozen(List<Variable> variables) {
    for (String pattern : frozen) {
      if (variables.stream().noneMatch(variable -> isNamed(variable.name(), pattern))) {
        throw new IllegalArgumentException(
            "train options: got the frozen parameter %s, expected names of parameters, which are %s"
                .formatted(pattern, Shown.list(variables.stream().map(Variable::name).toList())));
      }
    }
  }

  public Optional<FileTier> tier() {
    return tier;
  }

  @Override
  public int shuffleRows() {
    return shuffleRows;
  }

  public long reportEvery() {
    return reportEvery;
  }

  public Optional<Path> checkpoints() {
    return checkpoints;
  }

  public long checkpointEvery() {
    return checkpointEvery;
  }

  public DeltaSchedule deltas() {
    return deltas;
  }

  public PlanSearch planSearch() {
    return planSearch;
  }
}
