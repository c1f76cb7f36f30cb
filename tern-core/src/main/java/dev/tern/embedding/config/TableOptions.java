package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Options of a model's embedding tables. Immutable: each method with an argument returns a changed
 * copy. Start from {@link #of}:
 *
 * <pre>{@code
 * TableOptions.of(Optimizer.lazyAdam(0.001f)).storage(DType.BF16).unknown(UnknownRow.MEAN)
 * }</pre>
 *
 * <p>{@link TableConfig} checks that the options fit a table.
 */
public final class TableOptions implements Cloneable {
  // Written by `with` alone, before anybody else sees the copy.
  private RowRule rule;
  private Optional<Optimizer> firstPart = Optional.empty();
  private float rateRatio = 1;
  private InitialWeights initial = InitialWeights.DEFAULT;
  private float l2;
  private boolean l2OfAll;
  private Combiner combiner = Combiner.SUM;
  private Map<String, Combiner> combinersOf = Map.of();
  private UnknownRow unknown = UnknownRow.ZEROS;
  private DType storage = DType.F32;
  private RowPolicy rows = RowPolicy.ALL;
  private Map<String, RowPolicy> rowsOf = Map.of();
  private Map<String, OwnOptions> own = Map.of();
  private Set<String> knownOf = Set.of();
  private boolean knownOnly;
  private Set<String> frozenOf = Set.of();
  private boolean frozen;
  private RowLimits limits = RowLimits.NONE;
  private RowFormat format = RowFormat.STORED;

  private TableOptions(RowRule rule) {
    this.rule = rule;
  }

  /**
   * Sum pooling, initial weights with a standard deviation of 0.01, zeros for unknown ids, F32, a
   * row for each id, no limits.
   */
  public static TableOptions of(Optimizer optimizer) {
    return new TableOptions(RowRule.of(optimizer));
  }

  private TableOptions with(Consumer<TableOptions> change) {
    try {
      TableOptions copy = (TableOptions) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  /** What updates rows. */
  public TableOptions rule(RowRule other) {
    return with(copy -> copy.rule = other);
  }

  /** One optimizer for whole rows; {@link #firstPart} may give the first weights another one. */
  public TableOptions optimizer(Optimizer other) {
    return rule(RowRule.of(other));
  }

  /**
   * Another optimizer for the first part of each row: in Tern's models the linear weight of the id.
   * Its learning rate follows the ratio of the two {@link Optimizer#lr}: with 0.1 here and 0.01 for
   * {@link #optimizer()} the first part learns at 10 times the rate. Neither may be Adam that
   * updates all rows in each step.
   */
  public TableOptions firstPart(Optimizer other) {
    return with(copy -> copy.firstPart = Optional.of(other));
  }

  /** Initial weights are uniform in [-range, range); a finite number of 0 or more. */
  public TableOptions initRange(float range) {
    return initial(new InitialWeights.Uniform(range));
  }

  /** Weights of new rows. */
  public TableOptions initial(InitialWeights weights) {
    return with(copy -> copy.initial = weights);
  }

  /**
   * What the table {@code name} has otherwise than the others: {@code own("item",
   * OwnOptions.NONE.l2(0.1f))}. The slot of this name owns the table.
   */
  public TableOptions own(String name, OwnOptions options) {
    Map<String, OwnOptions> all = new TreeMap<>(own);
    all.put(name, options);
    return with(copy -> copy.own = Collections.unmodifiableMap(all));
  }

  /** Adds {@code share * w} to the gradients of the rows in a batch; 0 or more. */
  public TableOptions l2(float share) {
    return with(copy -> copy.l2 = share);
  }

  /**
   * Whether {@link #l2} reaches all rows in each step, not only those of the batch: a regularizer
   * of half the sum of all squares, times the share, as FuxiCTR and DeepCTR have it. Rows without a
   * gradient take the optimizer's step with {@code share * w}, so a step walks over the tables
   * whose l2 is above 0, and takes time by their rows. With lazy Adam moments decay as if it were
   * not lazy. For example, SGD at the rate 0.1 with l2 0.01 makes each weight that a batch lacks
   * 0.999 of what it was.
   */
  public TableOptions l2OfAllRows(boolean all) {
    return with(copy -> copy.l2OfAll = all);
  }

  /** How several ids of one slot become one vector, in slots without a combiner of their own. */
  public TableOptions combiner(Combiner other) {
    return with(copy -> copy.combiner = other);
  }

  /** How several ids of the slot {@code slot} become one vector. */
  public TableOptions combiner(String slot, Combiner other) {
    Map<String, Combiner> combiners = new TreeMap<>(combinersOf);
    combiners.put(slot, other);
    return with(copy -> copy.combinersOf = Collections.unmodifiableMap(combiners));
  }

  /** What an id without a row reads as. */
  public TableOptions unknown(UnknownRow row) {
    return with(copy -> copy.unknown = row);
  }

  /**
   * Type of weights in memory and in checkpoints: F32, F16 or BF16. Updates compute in F32, and
   * optimizer state is always F32. F16 is rounded to the nearest. BF16 is rounded up or down at
   * random, so that small steps are not lost (stochastic rounding; the direction depends on seed,
   * table, id, step and column alone). A finite weight stays finite.
   */
  public TableOptions storage(DType type) {
    return with(copy -> copy.storage = type);
  }

  /** Which ids have rows, in tables without a policy of their own. */
  public TableOptions rows(RowPolicy policy) {
    return with(copy -> copy.rows = policy);
  }

  /** Which ids have rows in the table {@code name}: the slot of this name owns it. */
  public TableOptions rows(String name, RowPolicy policy) {
    Map<String, RowPolicy> policies = new TreeMap<>(rowsOf);
    policies.put(name, policy);
    return with(copy -> copy.rowsOf = Collections.unmodifiableMap(policies));
  }

  /**
   * Tables in which only ids of 0 or more get a row. Negative ids read as {@link #unknown()} in
   * training as in scoring, whatever the row policy: such are values outside a vocabulary.
   */
  public TableOptions knownOnly(Set<String> tables) {
    return with(copy -> copy.knownOf = Set.copyOf(tables));
  }

  /**
   * Tables that training leaves as they are: no row is added, updated or evicted, and ids without
   * one read as {@link #unknown()}. Such tables have their rows from an earlier run.
   */
  public TableOptions frozen(Set<String> tables) {
    return with(copy -> copy.frozenOf = Collections.unmodifiableSet(new TreeSet<>(tables)));
  }

  /** Limits of updates. */
  public TableOptions limits(RowLimits bounds) {
    return with(copy -> copy.limits = bounds);
  }

  /** How rows lie in memory. {@link RowFormat#INT8} is for scoring and takes a row for each id. */
  public TableOptions format(RowFormat other) {
    return with(copy -> copy.format = other);
  }

  /** These options with what they say of the table {@code name} alone. */
  TableOptions ofTable(String name) {
    return rowsOf.isEmpty() && knownOf.isEmpty() && frozenOf.isEmpty() && own.isEmpty()
        ? this
        : with(copy -> {
          copy.takeOwn(own.getOrDefault(name, OwnOptions.NONE));
          copy.own = Map.of();
          copy.rows = rowsOf.getOrDefault(name, rows);
          copy.rowsOf = Map.of();
          copy.knownOnly = knownOnly || knownOf.contains(name);
          copy.knownOf = Set.of();
          copy.frozen = frozen || frozenOf.contains(name);
          copy.frozenOf = Set.of();
        });
  }

  private void takeOwn(OwnOptions options) {
    options
        .optimizer()
        .ifPresent(optimizer -> {
          float common = rule.optimizer().lr();
          if (common == 0 && optimizer.lr() != 0) {
            throw new IllegalArgumentException(
                "table options: got learning rates %s of one table and 0 of the others, expected one above 0 for both, as a schedule is for both; choose a small one"
                    .formatted(optimizer.lr()));
          }
          rateRatio = optimizer.lr() == common ? 1 : optimizer.lr() / common;
          rule = new RowRule(optimizer, rule.head());
        });
    options.storage().ifPresent(type -> storage = type);
    options.l2().ifPresent(share -> l2 = share);
    options.initial().ifPresent(weights -> initial = weights);
  }

  public RowRule rule() {
    return rule;
  }

  /** The optimizer of all weights, or of those after the first part. */
  public Optimizer optimizer() {
    return rule.optimizer();
  }

  public Optional<Optimizer> firstPart() {
    return firstPart;
  }

  /** All optimizers of tables: the common one, that of the first part, those of single tables. */
  public List<Optimizer> optimizers() {
    List<Optimizer> all = new ArrayList<>(List.of(rule.optimizer()));
    firstPart.ifPresent(all::add);
    own.values().forEach(options -> options.optimizer().ifPresent(all::add));
    return all;
  }

  /**
   * In the options of one table, its learning rate for each of {@link #optimizer()} in the options
   * of all: 0.5 for a table with 0.05 among tables with 0.1.
   */
  public float rateRatio() {
    return rateRatio;
  }

  public InitialWeights initial() {
    return initial;
  }

  /** What single tables have otherwise than the others, in the order of their names. */
  public Map<String, OwnOptions> own() {
    return own;
  }

  public float l2() {
    return l2;
  }

  public boolean l2OfAllRows() {
    return l2OfAll;
  }

  public Combiner combiner() {
    return combiner;
  }

  /** Combiners of single slots, in the order of their names. */
  public Map<String, Combiner> combinersOf() {
    return combinersOf;
  }

  public UnknownRow unknown() {
    return unknown;
  }

  public DType storage() {
    return storage;
  }

  public RowPolicy rows() {
    return rows;
  }

  /** Policies of single tables, in the order of their names. */
  public Map<String, RowPolicy> rowsOf() {
    return rowsOf;
  }

  /** Whether only ids of 0 or more get a row, in the options of one table. */
  public boolean knownOnly() {
    return knownOnly;
  }

  /** Names of frozen tables, in order. */
  public Set<String> frozenOf() {
    return frozenOf;
  }

  /** Whether training leaves the table as it is, in the options of one table. */
  public boolean isFrozen() {
    return frozen;
  }

  public RowLimits limits() {
    return limits;
  }

  public RowFormat format() {
    return format;
  }
}
