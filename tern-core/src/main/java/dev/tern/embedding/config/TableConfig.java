package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.optim.Optimizer;
import java.util.Objects;

/**
 * What a table is, apart from its rows.
 *
 * @param name unique among a model's tables; stands in messages and checkpoints
 * @param index position among a model's tables, 0 or more; part of what initial weights depend on
 * @param width weights per row, {@code W}, 1 to 16384
 * @param rule what updates rows; its state lies beside the weights of each row
 * @param initRange initial weights are uniform in [-initRange, initRange), 0 or more
 * @param seed the run's seed: the initial weights of an id are a pure function of (seed, index, id)
 * @param l2 {@code l2 * w} is added to the gradient of rows that a batch touches, 0 or more
 * @param unknown what an id without a row reads as
 * @param storage how weights lie in memory: F32, or F16 or BF16 in half the bytes. They are widened
 *     as they are read; updates compute in F32 and round what they store, F16 to the nearest, BF16
 *     up or down at random so that the mean is right and small steps are not lost (stochastic
 *     rounding; which way depends on seed, index, id, step and column alone). A finite weight stays
 *     finite. Optimizer state is F32 always
 * @param rows which ids have rows
 * @param limits what updates of rows must keep to
 * @param format how rows lie in memory. With {@link RowFormat#INT8} the storage is that of the rows
 *     it is filled with, and each id has a row
 */
public record TableConfig(
    String name,
    int index,
    int width,
    RowRule rule,
    float initRange,
    long seed,
    float l2,
    UnknownRow unknown,
    DType storage,
    RowPolicy rows,
    RowLimits limits,
    RowFormat format) {
  private static final int MAX_WIDTH = 1 << 14;

  public TableConfig {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(rule, "rule");
    Objects.requireNonNull(unknown, "unknown");
    Objects.requireNonNull(storage, "storage");
    Objects.requireNonNull(rows, "rows");
    Objects.requireNonNull(limits, "limits");
    Objects.requireNonNull(format, "format");
    require(index >= 0, name, "index", index, "0 or more");
    require(width >= 1 && width <= MAX_WIDTH, name, "width", width, "1 to " + MAX_WIDTH);
    require(
        rule.headWidth() < width,
        name,
        "weights with an optimizer of their own",
        rule.headWidth(),
        "fewer than the " + width + " of a row");
    require(finite(initRange), name, "initRange", initRange, "a finite number of 0 or more");
    require(finite(l2), name, "l2", l2, "a finite number of 0 or more");
    if (storage != DType.F32 && storage != DType.F16 && storage != DType.BF16) {
      throw new IllegalArgumentException(
          "table " + name + ": got storage " + storage + ", expected F32, F16 or BF16");
    }
    if (format != RowFormat.STORED && !rows.isAll()) {
      throw new IllegalArgumentException(
          "table %s: got a row policy with rows of %s, expected a row for each id"
              .formatted(name, format));
    }
    if (!limits.areWithin(storage)) {
      throw new IllegalArgumentException(
          "table %s: got weights from %s to %s, expected such as %s holds"
              .formatted(name, limits.low(), limits.high(), storage));
    }
  }

  /** A table of rows as they are stored. */
  public TableConfig(
      String name,
      int index,
      int width,
      Optimizer optimizer,
      float initRange,
      long seed,
      float l2,
      UnknownRow unknown,
      DType storage,
      RowPolicy rows,
      RowLimits limits) {
    this(
        name,
        index,
        width,
        RowRule.of(optimizer),
        initRange,
        seed,
        l2,
        unknown,
        storage,
        rows,
        limits,
        RowFormat.STORED);
  }

  /** A table without limits. */
  public TableConfig(
      String name,
      int index,
      int width,
      Optimizer optimizer,
      float initRange,
      long seed,
      float l2,
      UnknownRow unknown,
      DType storage,
      RowPolicy rows) {
    this(
        name, index, width, optimizer, initRange, seed, l2, unknown, storage, rows, RowLimits.NONE);
  }

  /** A table of a row for every id. */
  public TableConfig(
      String name,
      int index,
      int width,
      Optimizer optimizer,
      float initRange,
      long seed,
      float l2,
      UnknownRow unknown,
      DType storage) {
    this(name, index, width, optimizer, initRange, seed, l2, unknown, storage, RowPolicy.ALL);
  }

  /** A table of F32 of a row for every id. */
  public TableConfig(
      String name,
      int index,
      int width,
      Optimizer optimizer,
      float initRange,
      long seed,
      float l2,
      UnknownRow unknown) {
    this(name, index, width, optimizer, initRange, seed, l2, unknown, DType.F32);
  }

  /** The same table with other limits. */
  public TableConfig withLimits(RowLimits others) {
    return new TableConfig(
        name, index, width, rule, initRange, seed, l2, unknown, storage, rows, others, format);
  }

  /** The same table with rows that lie otherwise. */
  public TableConfig withFormat(RowFormat other) {
    return new TableConfig(
        name, index, width, rule, initRange, seed, l2, unknown, storage, rows, limits, other);
  }

  /** The same table with rows that are updated otherwise. */
  public TableConfig withRule(RowRule other) {
    return new TableConfig(
        name, index, width, other, initRange, seed, l2, unknown, storage, rows, limits, format);
  }

  /** What updates all weights of rows, or those behind the {@link RowRule#head}. */
  public Optimizer optimizer() {
    return rule.optimizer();
  }

  /** Floats of optimizer state per row. */
  public int stateFloats() {
    return rule.stateFloats(width);
  }

  /**
   * Numbers of 4 bytes that rows keep about themselves, where the eviction asks for them: the step
   * in which they were seen last, at how many positions they were seen, and their score then.
   */
  public int metadata() {
    return switch (rows.eviction()) {
      case Eviction.Never _ -> 0;
      case Eviction.Unseen _, Eviction.UnseenFor _ -> 1;
      case Eviction.SmallNorm _, Eviction.LeastRecent _ -> 1;
      case Eviction.LeastFrequent _ -> 2;
      case Eviction.LowScore _ -> 3;
    };
  }

  /**
   * Floats of a row as it is exported: weights, then state, then {@link #metadata} (whole numbers
   * by their bits, but for the score). State is {@code a} for Momentum and Nesterov, {@code s} for
   * Adagrad (one number when row-wise) and RMSProp, {@code m} then {@code v} for Adam, where
   * moments decay followed by the step of the last update (0 for none, by its bits), {@code z} then
   * {@code n} for FTRL. Of a {@link RowRule} with a head, its state, then that of the other
   * weights.
   */
  public int rowFloats() {
    return width + stateFloats() + metadata();
  }

  /**
   * The holder that memory snapshots name for a part of the table, such as {@code table t rows}.
   */
  public String holder(String part) {
    return "table " + name + " " + part;
  }

  private static boolean finite(float value) {
    return value >= 0 && value < Float.POSITIVE_INFINITY;
  }

  private static void require(
      boolean holds, String table, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "table " + table + ": got " + name + " " + got + ", expected " + expected);
    }
  }
}
