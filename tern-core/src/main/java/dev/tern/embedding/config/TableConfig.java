package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.optim.Optimizer;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * One embedding table: its name, size and options.
 *
 * @param name unique among a model's tables; stands in messages and checkpoints
 * @param index position among a model's tables, 0 or more; initial weights depend on it
 * @param width weights per row, {@code W}, 1 to 16384
 * @param seed the run's seed: the initial weights of an id are a pure function of (seed, index, id)
 * @param options what rows hold and what updates them, for this table alone
 */
public record TableConfig(String name, int index, int width, long seed, TableOptions options) {
  private static final int MAX_WIDTH = 1 << 14;

  public TableConfig {
    Objects.requireNonNull(name, "name");
    options = options.ofTable(name);
    RowRule rule = options.rule();
    DType storage = options.storage();
    RowLimits limits = options.limits();
    require(index >= 0, name, "index", index, "0 or more");
    require(width >= 1 && width <= MAX_WIDTH, name, "width", width, "1 to " + MAX_WIDTH);
    int head = rule.headWidth();
    String fewer = "fewer than the " + width + " of a row";
    require(head < width, name, "weights with an optimizer of their own", head, fewer);
    requireAtLeastZero(name, "l2", options.l2());
    boolean storable = storage == DType.F32 || storage == DType.F16 || storage == DType.BF16;
    require(storable, name, "storage", storage, "F32, F16 or BF16");
    if (options.format() != RowFormat.STORED && !options.rows().isAll()) {
      throw new IllegalArgumentException(
          "table %s: got a row policy with rows of %s, expected a row for each id"
              .formatted(name, options.format()));
    }
    if (!limits.areWithin(storage)) {
      throw new IllegalArgumentException(
          "table %s: got weights from %s to %s, expected such as %s holds"
              .formatted(name, limits.low(), limits.high(), storage));
    }
  }

  /** The same table with changed options, for example {@code o -> o.l2(0.1f)}. */
  public TableConfig with(UnaryOperator<TableOptions> change) {
    return new TableConfig(name, index, width, seed, change.apply(options));
  }

  public RowRule rule() {
    return options.rule();
  }

  public InitialWeights initial() {
    return options.initial();
  }

  /** {@link TableOptions#rateRatio}. */
  public float rateRatio() {
    return options.rateRatio();
  }

  public float l2() {
    return options.l2();
  }

  /** Whether each step updates all rows: by its optimizer, or by l2 that reaches all. */
  public boolean updatesAllRows() {
    return rule().updatesAllRows() || options.l2OfAllRows() && l2() > 0;
  }

  public UnknownRow unknown() {
    return options.unknown();
  }

  public DType storage() {
    return options.storage();
  }

  public RowPolicy rows() {
    return options.rows();
  }

  /** Whether only ids of 0 or more get a row. */
  public boolean knownOnly() {
    return options.knownOnly();
  }

  /** Whether training leaves the table as it is. */
  public boolean isFrozen() {
    return options.isFrozen();
  }

  public RowLimits limits() {
    return options.limits();
  }

  public RowFormat format() {
    return options.format();
  }

  /** The optimizer of all weights, or of those after the {@link RowRule#head}. */
  public Optimizer optimizer() {
    return rule().optimizer();
  }

  /** Floats of optimizer state per row. */
  public int stateFloats() {
    return rule().stateFloats(width);
  }

  /**
   * Numbers of 4 bytes that a row keeps for its eviction: the step in which it was seen last, at
   * how many positions it was seen, and its score then.
   */
  public int metadata() {
    return switch (rows().eviction()) {
      case Eviction.Never _ -> 0;
      case Eviction.Unseen _, Eviction.UnseenFor _ -> 1;
      case Eviction.SmallNorm _, Eviction.LeastRecent _ -> 1;
      case Eviction.LeastFrequent _ -> 2;
      case Eviction.LowScore _ -> 3;
    };
  }

  /**
   * Floats of a row as it is exported: weights, then state, then {@link #metadata}. The score is a
   * float; the other metadata are whole numbers by their bits. The state is
   *
   * <ul>
   *   <li>{@code a} for Momentum and Nesterov, {@code s} for Adagrad (one number when row-wise) and
   *       RMSProp, {@code z} then {@code n} for FTRL;
   *   <li>{@code m} then {@code v} for Adam; where moments decay, then the step of the last update
   *       (0 for none, by its bits);
   *   <li>under a {@link RowRule} with a head, the state of the head, then of the other weights.
   * </ul>
   */
  public int rowFloats() {
    return width + stateFloats() + metadata();
  }

  /** What memory snapshots call the holder of a part of the table, such as "table t rows". */
  public String holder(String part) {
    return "table " + name + " " + part;
  }

  private static void requireAtLeastZero(String table, String name, float value) {
    require(
        value >= 0 && Float.isFinite(value), table, name, value, "a finite number of 0 or more");
  }

  private static void require(
      boolean holds, String table, String name, Object got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "table " + table + ": got " + name + " " + got + ", expected " + expected);
    }
  }
}
