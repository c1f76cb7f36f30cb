package dev.tern.internal.table.policy;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowSlabs;
import dev.tern.internal.table.rows.StoredWeights;
import dev.tern.internal.table.tier.TierMemory;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Applies the {@link RowPolicy} of a table: counts ids without a row, decides which of them get a
 * row, notes when rows are seen, and decides which rows are evicted. No decision depends on where
 * rows lie or in which order they came, so a table read from a checkpoint continues the same way.
 *
 * <p>A step ends with an update: rows looked up after update {@code t} are seen in step {@code t +
 * 1}. Rows that are due are evicted at the end of a step. Rows that make room are evicted during a
 * lookup, one for each new row. A row that was seen while in the queue moves back when it becomes
 * the first. Nothing walks over the whole table.
 */
public final class RowAdmission {
  /** Numbers of {@link #history} before the times. */
  private static final int HISTORY = 7;

  private static final long MAX_STEP = Integer.MAX_VALUE;

  private final TableConfig config;
  private final RowPolicy policy;
  private final RowSlabs rows;
  private final Optional<CountingFilter> filter;
  private final Optional<EvictionQueue> queue;
  private final long lottery;
  private final int metadata;
  private final Optional<StepTimes> times;
  private final Optional<RowScores> scores;
  private final int seenOffset;
  private final int idOffset;

  /** The last step that ended. */
  private long clock;

  private long hits;
  private long misses;
  private long admitted;
  private long rejected;
  private long evicted;

  /** Scratch: ids that are not admitted, or rows that go back to the queue. */
  private int[] aside = new int[0];

  /** With a {@code tier}, its memory holds the filter. */
  public RowAdmission(
      TableConfig config, Optional<TierMemory> tier, RowSlabs rows, Allocator allocator) {
    this.config = config;
    this.rows = rows;
    policy = config.rows();
    metadata = config.metadata();
    seenOffset = RowLayout.metadataOffset(config);
    idOffset = RowLayout.idOffset(config);
    times =
        policy.eviction() instanceof Eviction.UnseenFor rule
            ? Optional.of(new StepTimes(rule))
            : Optional.empty();
    scores =
        policy.eviction() instanceof Eviction.LowScore rule
            ? Optional.of(new RowScores(rule))
            : Optional.empty();
    // The constant makes it differ from the keys of initial weights and of rounding.
    lottery = Hashing.mix(Hashing.mix(config.seed() ^ 0x5DEECE66DL) + config.index());
    filter =
        policy.admission() instanceof Admission.ByCount(int count, long expected, int _)
                && count > 1
            ? Optional.of(
                new CountingFilter(count, expected, tier, allocator, config.holder("filter")))
            : Optional.empty();
    queue =
        metadata == 0
            ? Optional.empty()
            : Optional.of(new EvictionQueue(rows, idOffset, allocator, config.holder("queue")));
  }

  public long bytes() {
    return filterBytes() + queue.map(EvictionQueue::bytes).orElse(0L);
  }

  long filterBytes() {
    return filter.map(CountingFilter::bytes).orElse(0L);
  }

  public Optional<CountingFilter> filter() {
    return filter;
  }

  public TableStatistics statistics(long size, long bytes, IdIndex index, FileStatistics file) {
    return new TableStatistics(
        config.name(),
        size,
        bytes,
        new TableStatistics.Index(index.bytes(), index.probes()),
        new TableStatistics.Ids(hits, misses, admitted, rejected, evicted),
        new TableStatistics.Filter(filterBytes(), filter.map(CountingFilter::shared).orElse(0.0)),
        file);
  }

  /** What a checkpoint keeps beside rows and filter. */
  public long[] history() {
    long compared = filter.map(CountingFilter::compared).orElse(0L);
    long[] counters = {clock, hits, misses, admitted, rejected, evicted, compared};
    if (times.isEmpty()) {
      return counters;
    }
    long[] history = Arrays.copyOf(counters, HISTORY + times.get().size());
    times.get().write(history, HISTORY);
    return history;
  }

  /** Takes what {@link #history} gave, after the filter's words; returns whether it is possible. */
  public boolean restore(long[] history) {
    if (history.length < HISTORY || times.isEmpty() && history.length > HISTORY) {
      return false;
    }
    boolean valid = history[0] <= MAX_STEP;
    for (long number : history) {
      valid &= number >= 0;
    }
    clock = history[0];
    hits = history[1];
    misses = history[2];
    admitted = history[3];
    rejected = history[4];
    evicted = history[5];
    return valid
        && misses == admitted + rejected
        && times.map(t -> t.read(history, HISTORY, clock)).orElse(true)
        && filter.map(f -> f.restore(history[6])).orElse(true);
  }

  /** Rows evicted or erased so far. */
  public long evicted() {
    return evicted;
  }

  /** Counts what became of the ids of a training lookup. */
  public void settle(int unique, int missing, int inserted) {
    hits += unique - missing;
    misses += missing;
    admitted += inserted;
    rejected += missing - inserted;
  }

  /** Notes in the rows that a training lookup found that they are seen in this step. */
  public void see(RowLookup lookup) {
    requireClicks(lookup);
    if (queue.isEmpty()) {
      return;
    }
    int step = step();
    for (int u = 0; u < lookup.unique(); u++) {
      if (lookup.rows[u] >= 0) {
        long seen = lookup.addresses[u] + seenOffset;
        if (scores.isPresent()) {
          int steps = Math.max(0, step - Memory.getInt(seen));
          score(lookup, u, steps, Memory.getFloat(seen + 8));
        }
        Memory.setInt(seen, step);
        if (metadata > 1) {
          long count = (long) Memory.getInt(seen + 4) + lookup.counts[u];
          Memory.setInt(seen + 4, (int) Math.min(Integer.MAX_VALUE, count));
        }
      }
    }
  }

  /** Writes the score of the row of id {@code u}, which had {@code before} {@code steps} ago. */
  private void score(RowLookup lookup, int u, int steps, float before) {
    float score = scores.get().seen(before, steps, lookup.counts[u], lookup.clicks.of(u));
    Memory.setFloat(lookup.addresses[u] + seenOffset + 8, score);
  }

  private void requireClicks(RowLookup lookup) {
    if (policy.weighsClicks() && !lookup.clicks.areCounted()) {
      throw new IllegalStateException(
          "table %s: got ids in training without labels, expected the labels of their samples, as clicks weigh"
                  .formatted(config.name())
              + " otherwise than shows; give them with RowLookup.label before find");
    }
  }

  private int step() {
    return (int) Math.min(MAX_STEP, clock + 1);
  }

  /** Moves the admitted among the missing ids to the front, in order; returns their number. */
  public int admit(RowLookup lookup, int missing) {
    if (policy.admission() instanceof Admission.Always) {
      return missing;
    }
    if (aside.length < missing) {
      aside = new int[lookup.missing.length];
    }
    int in = 0;
    int out = 0;
    for (int i = 0; i < missing; i++) {
      int u = lookup.missing[i];
      if (admits(lookup, u)) {
        lookup.missing[in++] = u;
      } else {
        aside[out++] = u;
      }
    }
    System.arraycopy(aside, 0, lookup.missing, in, out);
    return in;
  }

  private boolean admits(RowLookup lookup, int u) {
    return switch (policy.admission()) {
      case Admission.Always _ -> true;
      case Admission.ByCount counted -> {
        int weight = weight(counted, lookup.counts[u], lookup.clicks.of(u));
        yield filter.isEmpty() || filter.get().count(lookup.hashes[u], weight);
      }
      case Admission.ByProbability(double share) ->
          (Hashing.mix(lookup.ids[u] ^ lottery) >>> 11) * 0x1p-53 < share;
    };
  }

  /** What so many positions count, {@code clicks} of them in clicked samples. */
  static int weight(Admission.ByCount rule, int positions, int clicks) {
    return (int) Math.min(Integer.MAX_VALUE, positions + (rule.clickWeight() - 1L) * clicks);
  }

  /** Makes {@link #enter} of {@code count} rows need no memory. */
  public void reserve(int count) {
    if (queue.isPresent()) {
      queue.get().reserve(count);
    }
  }

  /** Takes up the new rows of the first {@code count} missing ids. */
  public void enter(RowLookup lookup, int count) {
    if (queue.isEmpty()) {
      return;
    }
    int step = step();
    for (int i = 0; i < count; i++) {
      int u = lookup.missing[i];
      long seen = lookup.addresses[u] + seenOffset;
      Memory.setInt(seen, step);
      if (metadata > 1) {
        Memory.setInt(seen + 4, lookup.counts[u]);
      }
      if (scores.isPresent()) {
        score(lookup, u, 0, 0);
      }
      queue.get().push(key(lookup.rows[u]), lookup.hashes[u], lookup.rows[u]);
    }
  }

  /** Takes up a row read from a checkpoint; returns whether its metadata is possible. */
  public boolean enterAgain(long id, int row) {
    if (queue.isEmpty()) {
      return true;
    }
    int seen = seen(row);
    if (scores.isPresent() && !scores.get().isScore(score(row))) {
      return false;
    }
    queue.get().push(key(row), Hashing.mix(id), row);
    return seen >= 1 && seen <= step() && (metadata < 2 || count(row) >= 1);
  }

  private int seen(int row) {
    return Memory.getInt(rows.address(row) + seenOffset);
  }

  private int count(int row) {
    return Memory.getInt(rows.address(row) + seenOffset + 4);
  }

  private float score(int row) {
    return Memory.getFloat(rows.address(row) + seenOffset + 8);
  }

  /** A row's current key in the queue: the order of eviction, or the first step it may be due. */
  private long key(int row) {
    long seen = seen(row);
    return switch (policy.eviction()) {
      case Eviction.Never _ -> 0;
      case Eviction.LeastRecent _, Eviction.UnseenFor _ -> seen;
      case Eviction.LeastFrequent _ -> (long) count(row) << 32 | seen;
      case Eviction.Unseen(long steps) -> due(seen, steps);
      case Eviction.SmallNorm(float _, long steps) -> due(seen, steps);
      case Eviction.LowScore _ -> seen + scores.orElseThrow().lasts(score(row));
    };
  }

  /** The first of {@code seen + steps}, {@code seen + 2 * steps}, ... after the last step. */
  private long due(long seen, long steps) {
    return seen + steps * Math.max(1, (clock - seen) / steps + 1);
  }

  /**
   * Evicts rows if the table is too full for {@code wanted} more and its policy allows it.
   *
   * @param gone removes a row
   * @return how many of the wanted rows there is room for
   */
  public int makeRoom(int wanted, long size, IntConsumer gone) {
    long room = policy.maxRows() - size;
    if (room >= wanted) {
      return wanted;
    }
    if (!policy.eviction().makesRoom()) {
      return (int) Math.max(0, room);
    }
    EvictionQueue rowQueue = queue.orElseThrow();
    int kept = 0;
    int step = step();
    while (room < wanted && rowQueue.size() > 0) {
      int row = rowQueue.firstRow();
      long key = key(row);
      if (key != rowQueue.firstKey()) {
        rowQueue.raiseFirst(key);
      } else if (seen(row) == step) {
        if (aside.length == kept) {
          aside = Arrays.copyOf(aside, Math.max(64, 2 * kept));
        }
        aside[kept++] = row;
        rowQueue.removeFirst();
      } else {
        rowQueue.removeFirst();
        evicted++;
        room++;
        gone.accept(row);
      }
    }
    for (int i = 0; i < kept; i++) {
      long id = Memory.getLong(rows.address(aside[i]) + idOffset);
      rowQueue.push(key(aside[i]), Hashing.mix(id), aside[i]);
    }
    return (int) Math.max(0, room);
  }

  /** Ends step {@code number}: evicts the rows that are due. */
  public void endStep(long number, IntConsumer gone) {
    clock = Math.max(clock, Math.min(MAX_STEP, number));
    if (queue.isEmpty() || policy.eviction().makesRoom()) {
      return;
    }
    EvictionQueue rowQueue = queue.get();
    long due = times.isPresent() ? times.get().end(clock) : clock;
    while (rowQueue.size() > 0 && rowQueue.firstKey() <= due) {
      int row = rowQueue.firstRow();
      if (mayGo(row, due)) {
        rowQueue.removeFirst();
        evicted++;
        gone.accept(row);
      } else {
        rowQueue.raiseFirst(key(row));
      }
    }
  }

  private boolean mayGo(int row, long due) {
    return switch (policy.eviction()) {
      case Eviction.Unseen(long steps) -> seen(row) + steps <= clock;
      case Eviction.SmallNorm(float norm, long steps) ->
          seen(row) + steps <= clock && squares(row) < (double) norm * norm;
      case Eviction.LowScore _, Eviction.UnseenFor _ -> key(row) <= due;
      default -> false;
    };
  }

  private double squares(int row) {
    double sum = 0;
    for (int j = 0; j < config.width(); j++) {
      double w = StoredWeights.get(config.storage(), rows.address(row), j);
      sum = Math.fma(w, w, sum);
    }
    return sum;
  }

  /** Forgets the rows that a lookup found, which the caller removes. */
  public void leave(RowLookup lookup) {
    BitSet leaving = new BitSet();
    for (int u = 0; u < lookup.unique(); u++) {
      if (lookup.rows[u] >= 0) {
        leaving.set(lookup.rows[u]);
        evicted++;
      }
    }
    if (queue.isPresent() && !leaving.isEmpty()) {
      queue.get().removeIf(leaving::get);
    }
  }

  /** The error of {@code id} for which there is no room. */
  public IllegalStateException full(long id) {
    return new IllegalStateException(
        "table %s: got id %d beyond %d rows, expected no more; allow more rows, let rows make room"
                .formatted(config.name(), id, policy.maxRows())
            + " for others, or leave ids without a row");
  }

  public void free() {
    filter.ifPresent(CountingFilter::free);
    queue.ifPresent(EvictionQueue::free);
  }
}
