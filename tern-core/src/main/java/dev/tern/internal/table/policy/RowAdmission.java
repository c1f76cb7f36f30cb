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
import dev.tern.internal.table.rows.ScalarHalves;
import dev.tern.internal.table.tier.TierMemory;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Which ids of a table have rows, by its {@link RowPolicy}: counts ids without one, says which of
 * them are given one, notes when rows are seen, and says which go. Nothing here depends on where
 * rows lie or in which order they came, so a table read from a checkpoint goes on the same way.
 *
 * <p>A step is what ends with an update: rows looked up after update {@code t} are seen in step
 * {@code t + 1}. Rows unseen for too long go at the end of a step, at most about as many as one
 * batch saw; rows that make room go while the batch that needs it is looked up, one for each new
 * row. A row seen since it was queued moves on in the queue when it comes up, once for all the
 * times it was seen. Nothing ever walks the table.
 */
public final class RowAdmission {
  /** Numbers that {@link #history} begins with. */
  private static final int HISTORY = 7;

  private static final long MAX_STEP = Integer.MAX_VALUE;

  private final TableConfig config;
  private final RowPolicy policy;
  private final RowSlabs rows;
  private final Optional<CountingFilter> filter;
  private final Optional<EvictionQueue> queue;
  private final long lottery;
  private final int metadata;

  /** Where rows go by time. */
  private final Optional<StepTimes> times;

  /** Where rows go by their scores. */
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

  /** Ids without a row, or rows, to come back to. */
  private int[] aside = new int[0];

  /** The filter takes memory of {@code tier}. */
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
    // Apart from the keys of initial weights and of rounding.
    lottery = Hashing.mix(Hashing.mix(config.seed() ^ 0x5DEECE66DL) + config.index());
    String holder = "table " + config.name();
    filter =
        policy.admission() instanceof Admission.ByCount counted && counted.count() > 1
            ? Optional.of(
                new CountingFilter(
                    counted.count(), counted.expected(), tier, allocator, holder + " filter"))
            : Optional.empty();
    queue =
        metadata == 0
            ? Optional.empty()
            : Optional.of(
                new EvictionQueue(rows, RowLayout.idOffset(config), allocator, holder + " queue"));
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
        index.bytes(),
        index.probes(),
        hits,
        misses,
        admitted,
        rejected,
        evicted,
        filterBytes(),
        filter.map(CountingFilter::shared).orElse(0.0),
        file);
  }

  /** All that must be kept beside rows and filter. */
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

  /**
   * Takes what {@link #history} gave, after the filter's words.
   *
   * @return whether it can be true
   */
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

  /** Rows that went so far. */
  public long evicted() {
    return evicted;
  }

  /** Notes what became of the ids of a lookup in training. */
  public void settle(int unique, int missing, int inserted) {
    hits += unique - missing;
    misses += missing;
    admitted += inserted;
    rejected += missing - inserted;
  }

  /** Notes the rows that a lookup in training found. */
  public void see(RowLookup lookup) {
    requireClicks(lookup);
    if (queue.isEmpty()) {
      return;
    }
    boolean frequencies = metadata > 1;
    int step = step();
    for (int u = 0; u < lookup.unique(); u++) {
      if (lookup.rows[u] >= 0) {
        long seen = lookup.addresses[u] + seenOffset;
        if (scores.isPresent()) {
          int steps = Math.max(0, step - Memory.getInt(seen));
          score(lookup, u, steps, Memory.getFloat(seen + 8));
        }
        Memory.setInt(seen, step);
        if (frequencies) {
          Memory.setInt(seen + 4, added(Memory.getInt(seen + 4), lookup.counts[u]));
        }
      }
    }
  }

  /** Gives the row of distinct id {@code u} its score, of one that it had {@code steps} ago. */
  private void score(RowLookup lookup, int u, int steps, float before) {
    float score = scores.get().seen(before, steps, lookup.counts[u], lookup.clicks.of(u));
    Memory.setFloat(lookup.addresses[u] + seenOffset + 8, score);
  }

  private void requireClicks(RowLookup lookup) {
    if (policy.weighsClicks() && !lookup.clicks.areCounted()) {
      throw new IllegalStateException(
          "table %s: got ids in training without labels, expected those of their samples, as clicks weigh"
                  .formatted(config.name())
              + " otherwise than shows; give them with RowLookup.label before find");
    }
  }

  private static int added(int count, int more) {
    return (int) Math.min(Integer.MAX_VALUE, (long) count + more);
  }

  private int step() {
    return (int) Math.min(MAX_STEP, clock + 1);
  }

  /**
   * Puts the ids among the first {@code missing} that are to have a row before the others, both in
   * order.
   *
   * @return how many they are
   */
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
      case Admission.ByCount counted ->
          filter.isEmpty()
              || filter
                  .get()
                  .count(lookup.hashes[u], weight(counted, lookup.counts[u], lookup.clicks.of(u)));
      case Admission.ByProbability(double share) ->
          (Hashing.mix(lookup.ids[u] ^ lottery) >>> 11) * 0x1p-53 < share;
    };
  }

  /** As how many positions so many count, {@code clicks} of them in clicked samples. */
  static int weight(Admission.ByCount rule, int positions, int clicks) {
    return (int) Math.min(Integer.MAX_VALUE, positions + (rule.clickWeight() - 1L) * clicks);
  }

  /** Makes sure that {@link #enter} will not need memory for {@code count} rows. */
  public void reserve(int count) {
    if (queue.isPresent()) {
      queue.get().reserve(count);
    }
  }

  /** Takes the rows that the first {@code count} ids were just given. */
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

  /**
   * A row read from a checkpoint, complete.
   *
   * @return whether its metadata can be true
   */
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

  /** A row's key in the queue as it is now: it may not go before. */
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

  /** The first step after the last one that ended which is a multiple of {@code steps} later. */
  private long due(long seen, long steps) {
    return seen + steps * Math.max(1, (clock - seen) / steps + 1);
  }

  /**
   * Where the table is too full for {@code wanted} more rows, has others go.
   *
   * @return for how many there is room
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
        kept = setAside(row, kept);
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

  private int setAside(int row, int count) {
    if (aside.length == count) {
      aside = Arrays.copyOf(aside, Math.max(64, 2 * count));
    }
    aside[count] = row;
    return count + 1;
  }

  /** Ends step {@code number}: rows unseen for too long go. */
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
      double w = ScalarHalves.get(config.storage(), rows.address(row), j);
      sum = Math.fma(w, w, sum);
    }
    return sum;
  }

  /** The rows that a lookup found go, whatever the policy says. */
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

  /** What is wrong where {@code id} finds no room. */
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
