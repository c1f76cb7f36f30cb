package dev.tern.train;

import dev.tern.base.DType;
import dev.tern.checkpoint.DeltaSchedule;
import dev.tern.checkpoint.RunSettings;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.PlanSearch;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What a training run is told. Immutable; start from {@link #of} and change what differs. */
public final class TrainOptions implements RunSettings {
  private int batch = 1024;
  private int epochs = 1;
  private final Optimizer optimizer;
  private Optimizer tableOptimizer;
  private Optional<Optimizer> firstPartOptimizer = Optional.empty();
  private LearningRate schedule;
  private long seed = 1;
  private long evaluateEvery;
  private int earlyStop;
  private float l2;
  private float weightDecay;
  private float clipNorm;
  private float initRange = 0.0173f;
  private Combiner combiner = Combiner.SUM;
  private UnknownRow unknown = UnknownRow.ZEROS;
  private DType tableStorage = DType.F32;
  private RowPolicy rows = RowPolicy.ALL;
  private Map<String, RowPolicy> rowsOf = Map.of();
  private RowLimits rowLimits = RowLimits.NONE;
  private Optional<FileTier> tier = Optional.empty();
  private int shuffleRows = 1 << 17;
  private long reportEvery = 100;
  private Optional<Path> checkpoints = Optional.empty();
  private long checkpointEvery;
  private DeltaSchedule deltas = DeltaSchedule.NEVER;
  private PlanSearch planSearch = PlanSearch.QUICK;

  private TrainOptions(Optimizer optimizer) {
    this.optimizer = optimizer;
    tableOptimizer = onTables(optimizer);
    schedule = LearningRate.constant(optimizer.lr());
  }

  private TrainOptions(TrainOptions other) {
    batch = other.batch;
    epochs = other.epochs;
    optimizer = other.optimizer;
    tableOptimizer = other.tableOptimizer;
    firstPartOptimizer = other.firstPartOptimizer;
    schedule = other.schedule;
    seed = other.seed;
    evaluateEvery = other.evaluateEvery;
    earlyStop = other.earlyStop;
    l2 = other.l2;
    weightDecay = other.weightDecay;
    clipNorm = other.clipNorm;
    initRange = other.initRange;
    combiner = other.combiner;
    unknown = other.unknown;
    tableStorage = other.tableStorage;
    rows = other.rows;
    rowsOf = other.rowsOf;
    rowLimits = other.rowLimits;
    tier = other.tier;
    shuffleRows = other.shuffleRows;
    reportEvery = other.reportEvery;
    checkpoints = other.checkpoints;
    checkpointEvery = other.checkpointEvery;
    deltas = other.deltas;
    planSearch = other.planSearch;
  }

  /** Batches of 1024, one epoch, a constant learning rate; tables use the lazy form of Adam. */
  public static TrainOptions of(Optimizer optimizer) {
    return new TrainOptions(optimizer);
  }

  private static Optimizer onTables(Optimizer optimizer) {
    return optimizer instanceof Optimizer.Adam adam && !adam.lazy()
        ? new Optimizer.Adam(adam.lr(), adam.beta1(), adam.beta2(), adam.eps(), true)
        : optimizer;
  }

  private static void require(boolean holds, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "train options: got " + name + " " + got + ", expected " + expected);
    }
  }

  /** Throws where options that are good alone do not go together. */
  void check() {
    boolean ftrl =
        optimizer instanceof Optimizer.Ftrl
            || tableOptimizer instanceof Optimizer.Ftrl
            || firstPartOptimizer.filter(Optimizer.Ftrl.class::isInstance).isPresent();
    boolean constant = schedule instanceof LearningRate.Constant(float lr) && lr > 0;
    if (ftrl && !constant) {
      throw new IllegalArgumentException(
          "train options: got FTRL with the learning rate "
              + schedule
              + ", expected a constant above 0: FTRL finds a rate for each weight, and a change of"
              + " the base rate would scale all weights; use LearningRate.constant");
    }
    if (optimizer.lr() == 0 && tableOptimizer.lr() != 0) {
      throw new IllegalArgumentException(
          "train options: got learning rates 0 of dense parameters and "
              + tableOptimizer.lr()
              + " of tables, expected one above 0 for both, as a schedule is for both; choose a"
              + " small one");
    }
    if (optimizer instanceof Optimizer.Ftrl && weightDecay > 0) {
      throw new IllegalArgumentException(
          "train options: got FTRL with weightDecay "
              + weightDecay
              + ", expected 0: FTRL makes each weight anew from its sums; use its l2");
    }
    if (unknown.buckets() > 0 && !rows.leavesIdsWithout()) {
      throw new IllegalArgumentException(
          "train options: got "
              + unknown
              + " where training gives each id a row, expected ids without one, or buckets would"
              + " learn nothing; admit by count or probability, or leave ids beyond maxRows"
              + " without a row");
    }
  }

  /** Rows of a step, 1 or more; the last batch of an epoch may be shorter. */
  public TrainOptions batch(int rows) {
    require(rows >= 1, "batch", rows, "1 or more");
    TrainOptions changed = new TrainOptions(this);
    changed.batch = rows;
    return changed;
  }

  /** Passes over the data, 1 or more. */
  public TrainOptions epochs(int passes) {
    require(passes >= 1, "epochs", passes, "1 or more");
    TrainOptions changed = new TrainOptions(this);
    changed.epochs = passes;
    return changed;
  }

  /**
   * Another update rule for embedding rows. In each step its learning rate is to that of dense
   * parameters as {@link Optimizer#lr} of the two are.
   */
  public TrainOptions tableOptimizer(Optimizer rule) {
    TrainOptions changed = new TrainOptions(this);
    changed.tableOptimizer = rule;
    return changed;
  }

  /**
   * Another update rule for the first of the parts that the model splits embedding rows into: with
   * Tern's models that is the linear weight of each id. In each step its learning rate is to that
   * of the {@link #tableOptimizer} as {@link Optimizer#lr} of the two are. Neither may be Adam that
   * updates all rows in each step.
   */
  public TrainOptions firstPartOptimizer(Optimizer rule) {
    TrainOptions changed = new TrainOptions(this);
    changed.firstPartOptimizer = Optional.of(rule);
    return changed;
  }

  /**
   * Learning rate of each step, for dense parameters, and for tables in proportion where their
   * optimizer has another one.
   */
  public TrainOptions schedule(LearningRate rate) {
    TrainOptions changed = new TrainOptions(this);
    changed.schedule = rate;
    return changed;
  }

  /** Seed of initial values, shuffling and dropout. */
  public TrainOptions seed(long value) {
    TrainOptions changed = new TrainOptions(this);
    changed.seed = value;
    return changed;
  }

  /** Evaluate every {@code steps} steps; 0 evaluates at the end of each epoch. */
  public TrainOptions evaluateEvery(long steps) {
    require(steps >= 0, "evaluateEvery", steps, "0 (each epoch) or more");
    TrainOptions changed = new TrainOptions(this);
    changed.evaluateEvery = steps;
    return changed;
  }

  /** Stop after {@code evaluations} in a row without a better AUC; 0 never stops early. */
  public TrainOptions earlyStop(int evaluations) {
    require(evaluations >= 0, "earlyStop", evaluations, "0 (never) or more");
    TrainOptions changed = new TrainOptions(this);
    changed.earlyStop = evaluations;
    return changed;
  }

  /** Adds {@code share * w} to each gradient; on tables to that of the rows touched. */
  public TrainOptions l2(float share) {
    require(share >= 0 && share < Float.POSITIVE_INFINITY, "l2", share, "0 or more");
    TrainOptions changed = new TrainOptions(this);
    changed.l2 = share;
    return changed;
  }

  /**
   * Takes {@code share * lr} off each dense parameter in every step, apart from the gradient and
   * whatever the optimizer makes of that: AdamW and its like (Loshchilov and Hutter 2019,
   * algorithms 1 and 2). Not for FTRL; embedding rows stay as they are.
   */
  public TrainOptions weightDecay(float share) {
    require(share >= 0 && share < Float.POSITIVE_INFINITY, "weightDecay", share, "0 or more");
    TrainOptions changed = new TrainOptions(this);
    changed.weightDecay = share;
    return changed;
  }

  /**
   * Scales the gradients of all dense parameters down, by one factor, to a norm of {@code norm}
   * where theirs is larger (Pascanu et al. 2013, algorithm 1), before {@link #l2} adds to them; 0
   * leaves them as they are. Those of embedding rows are neither counted nor scaled; {@link
   * #rowLimits} bounds those.
   */
  public TrainOptions clipNorm(float norm) {
    require(norm >= 0 && norm < Float.POSITIVE_INFINITY, "clipNorm", norm, "0 (any) or more");
    TrainOptions changed = new TrainOptions(this);
    changed.clipNorm = norm;
    return changed;
  }

  /** Embedding weights start uniform in [-range, range). */
  public TrainOptions initRange(float range) {
    TrainOptions changed = new TrainOptions(this);
    changed.initRange = range;
    return changed;
  }

  /** How several ids of one slot become one vector. */
  public TrainOptions combiner(Combiner rule) {
    TrainOptions changed = new TrainOptions(this);
    changed.combiner = rule;
    return changed;
  }

  /** What an id without a row reads as: when scoring, and in training where not all have one. */
  public TrainOptions unknown(UnknownRow row) {
    TrainOptions changed = new TrainOptions(this);
    changed.unknown = row;
    return changed;
  }

  /**
   * How embedding weights lie in memory and in checkpoints: F32, or F16 or BF16 in half the bytes.
   * They are computed with in F32, and updates of BF16 are rounded at random so that none is lost
   * on average. Optimizer state is F32 always.
   */
  public TrainOptions tableStorage(DType type) {
    TrainOptions changed = new TrainOptions(this);
    changed.tableStorage = type;
    return changed;
  }

  /** Which ids have rows, in tables without a rule of their own; every id by default. */
  public TrainOptions rows(RowPolicy policy) {
    TrainOptions changed = new TrainOptions(this);
    changed.rows = policy;
    return changed;
  }

  /**
   * Which ids have rows in the table {@code name}, that of the slot of this name. Without such a
   * table {@link Trainer#create} throws an IllegalArgumentException.
   */
  public TrainOptions rows(String name, RowPolicy policy) {
    TrainOptions changed = new TrainOptions(this);
    Map<String, RowPolicy> rules = new TreeMap<>(rowsOf);
    rules.put(name, policy);
    changed.rowsOf = Collections.unmodifiableMap(rules);
    return changed;
  }

  /** What updates of embedding rows must keep to; nothing by default. */
  public TrainOptions rowLimits(RowLimits limits) {
    TrainOptions changed = new TrainOptions(this);
    changed.rowLimits = limits;
    return changed;
  }

  /**
   * Has tables share the memory of {@code shared} and keep rows that have no room in it in files,
   * which changes no bit. Takes a table optimizer, unknown ids and rows as {@link
   * dev.tern.embedding.EmbeddingTable#create} says.
   */
  public TrainOptions tier(FileTier shared) {
    TrainOptions changed = new TrainOptions(this);
    changed.tier = Optional.of(shared);
    return changed;
  }

  /** Shuffle within blocks of {@code rows} rows; 0 keeps the order of the data. */
  public TrainOptions shuffleRows(int rows) {
    require(rows >= 0, "shuffleRows", rows, "0 (no shuffling) or more");
    TrainOptions changed = new TrainOptions(this);
    changed.shuffleRows = rows;
    return changed;
  }

  /** Report progress every {@code steps} steps, 1 or more. */
  public TrainOptions reportEvery(long steps) {
    require(steps >= 1, "reportEvery", steps, "1 or more");
    TrainOptions changed = new TrainOptions(this);
    changed.reportEvery = steps;
    return changed;
  }

  /**
   * Write checkpoints into {@code folder}: {@code step-N}, at the end of each epoch and every
   * {@code steps} steps (0: only then), of which the latest stays, and {@code best}, after the
   * evaluation with the highest AUC.
   */
  public TrainOptions checkpoints(Path folder, long steps) {
    require(steps >= 0, "checkpoint steps", steps, "0 (each epoch) or more");
    TrainOptions changed = new TrainOptions(this);
    changed.checkpoints = Optional.of(folder);
    changed.checkpointEvery = steps;
    return changed;
  }

  /**
   * Between the {@link #checkpoints} of a run write such of what changed; a run that is stopped
   * ends with one. They are small as long as few rows change from one to the next: an optimizer
   * that changes all rows in each step leaves nothing to gain.
   */
  public TrainOptions deltas(DeltaSchedule schedule) {
    TrainOptions changed = new TrainOptions(this);
    changed.deltas = schedule;
    return changed;
  }

  /**
   * How to find out what a step drops and computes again where the device's memory has no room for
   * all of its values. It changes no bit of what is trained.
   */
  public TrainOptions planSearch(PlanSearch search) {
    TrainOptions changed = new TrainOptions(this);
    changed.planSearch = search;
    return changed;
  }

  @Override
  public int batch() {
    return batch;
  }

  public int epochs() {
    return epochs;
  }

  @Override
  public Optimizer optimizer() {
    return optimizer;
  }

  @Override
  public Optimizer tableOptimizer() {
    return tableOptimizer;
  }

  /** The tables' learning rate in a step where {@code rate} is that of dense parameters. */
  float tableRate(float rate) {
    boolean same = tableOptimizer.lr() == optimizer.lr();
    return same ? rate : rate * (tableOptimizer.lr() / optimizer.lr());
  }

  @Override
  public Optional<Optimizer> firstPartOptimizer() {
    return firstPartOptimizer;
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

  public int earlyStop() {
    return earlyStop;
  }

  @Override
  public float l2() {
    return l2;
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
  public float initRange() {
    return initRange;
  }

  @Override
  public Combiner combiner() {
    return combiner;
  }

  @Override
  public UnknownRow unknown() {
    return unknown;
  }

  @Override
  public DType tableStorage() {
    return tableStorage;
  }

  @Override
  public RowPolicy rows() {
    return rows;
  }

  /** Rules of single tables, in the order of their names. */
  @Override
  public Map<String, RowPolicy> rowsOf() {
    return rowsOf;
  }

  @Override
  public RowLimits rowLimits() {
    return rowLimits;
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
