package dev.tern.model;

import dev.tern.base.Shape;
import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.IdNumbers;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Variable;
import java.util.Arrays;
import java.util.Optional;

/**
 * How many rows of a batch have an item, on average, as a stream of batches shows it (Yi et al.,
 * RecSys 2019, algorithm 2): one over the mean gap, in batches, from one row with the item to the
 * next. Two tables of {@value #BUCKETS} gaps each are found by hash; where other items share a
 * bucket, its gap is too short, so the longer of both counts.
 *
 * <p>Beyond the paper: an item that {@code c} rows of a batch have closes {@code c} gaps of {@code
 * gap / c}, so that rates above 1 are told apart, and the mean is over all gaps until there are
 * {@value #MEMORY}. After that it moves, by 1 / {@value #MEMORY} of the difference for each row.
 * For example, an item with 1 row in batch 1, 2 rows in batch 5 and 1 row in batch 8 has the gaps
 * 2, 2 and 3: the mean is 7 / 3. Batches before the first row count only until there is a gap, as
 * an item may be new. A gap counts as {@value #LONGEST} times the mean at most, so that an item
 * that was away for long is soon known again.
 */
final class ItemRates {
  private static final int BUCKETS = 1 << 18;
  private static final int HASHES = 2;
  private static final int MEMORY = 50;
  private static final int LONGEST = 10;

  /** Whole numbers up to here are exact in floats. */
  private static final int AROUND = 1 << 24;

  /** For each hash the mean gaps, the batches seen last, and how many gaps the means are of. */
  private final Variable table;

  /** Batches so far: their number modulo {@link #AROUND}, and how often that began anew. */
  private final Variable clock;

  private final int slot;
  private final String name;

  /** Items that are drawn beside those of rows. */
  private final Optional<ItemPool> pool;

  /** The items of a batch. */
  private final IdNumbers seen = new IdNumbers();

  /** Of each distinct item its id, the rows that have it, and the logarithm of its rate. */
  private long[] ids = new long[0];

  private int[] counts = new int[0];
  private float[] logRates = new float[0];

  /**
   * No batches yet.
   *
   * @param name of the slot whose ids name items
   * @param pool of items that are drawn beside those of rows
   */
  static ItemRates of(Parameters parameters, Schema schema, String name, Optional<ItemPool> pool) {
    int slot = schema.slotNames().indexOf(name);
    if (slot < 0) {
      throw new IllegalArgumentException(
          "model: got %s as the column that names items, expected one of the columns of ids, %s"
              .formatted(name, schema.slotNames()));
    }
    return new ItemRates(parameters, slot, name, pool);
  }

  private ItemRates(Parameters parameters, int slot, String name, Optional<ItemPool> pool) {
    this.slot = slot;
    this.name = name;
    this.pool = pool;
    table = parameters.statistic("items.gaps", Shape.of(3 * HASHES, BUCKETS), 0);
    clock = parameters.statistic("items.batches", Shape.of(2), 0);
  }

  /**
   * Counts a batch: writes for each of its rows the number and the logarithm of the rate of its
   * item, as {@link BatchItems} has them, to memory at these addresses. Then its items are in the
   * pool.
   *
   * @param own rows that count; those behind them are drawn items
   * @throws IllegalArgumentException if a row has several items
   */
  void count(Batch batch, int own, long numbersAt, long logRatesAt) {
    int rows = batch.size();
    if (ids.length < rows) {
      ids = new long[rows];
      counts = new int[rows];
      logRates = new float[rows];
    }
    seen.clear();
    Arrays.fill(counts, 0);
    for (int row = 0; row < rows; row++) {
      long id = item(batch, row);
      int number = seen.of(id);
      ids[number] = id;
      counts[number] += row < own ? 1 : 0;
      Memory.setFloat(numbersAt + 4L * row, number);
    }
    float now = tick();
    for (int number = 0; number < seen.size(); number++) {
      long id = ids[number];
      logRates[number] =
          logRate(id, counts[number] > 0 ? gap(id, counts[number], now) : gapSoFar(id, now));
    }
    for (int row = 0; row < rows; row++) {
      float rate = logRates[(int) Memory.getFloat(numbersAt + 4L * row)];
      Memory.setFloat(logRatesAt + 4L * row, rate);
    }
    addItems(batch, own);
  }

  /** Adds the items of the first {@code rows} rows to the pool, if there is one. */
  void addItems(Batch batch, int rows) {
    if (pool.isPresent()) {
      for (int row = 0; row < rows; row++) {
        pool.get().add(batch, row, item(batch, row));
      }
    }
  }

  /** The logarithm of how often the item is in a batch, in its rows or drawn. */
  private float logRate(long id, float gap) {
    return pool.isEmpty() ? -Pointwise.log(gap) : Pointwise.log(1 / gap + pool.get().share(id));
  }

  /** The id of a row's item. */
  private long item(Batch batch, int row) {
    int[] offsets = batch.offsets(slot);
    int at = offsets[row];
    int count = offsets[row + 1] - at;
    if (count > 1) {
      throw new IllegalArgumentException(
          "train: got %d values of %s in row %d of a batch (the first are %d and %d), expected one, as they name the row's item; name a column with one value a row first in the item's columns"
              .formatted(count, name, row, batch.ids(slot)[at], batch.ids(slot)[at + 1]));
    }
    return count == 0 ? ItemPool.NO_ITEM : batch.ids(slot)[at];
  }

  /** Counts the batch; returns its number modulo {@link #AROUND}. */
  private float tick() {
    long at = clock.memory().address();
    float now = Memory.getFloat(at) + 1;
    if (now == AROUND) {
      now = 0;
      Memory.setFloat(at + 4, Memory.getFloat(at + 4) + 1);
    }
    Memory.setFloat(at, now);
    return now;
  }

  /** The mean gap, in batches, between rows with {@code item}, which {@code count} rows have. */
  private float gap(long item, int count, float now) {
    long hash = SplitMix64.mix(item);
    float longest = 1f / AROUND;
    for (int h = 0; h < HASHES; h++) {
      int bucket = (int) (hash >>> (32 * h)) & (BUCKETS - 1);
      longest = Math.max(longest, gap(h, bucket, count, now));
    }
    return longest;
  }

  private float gap(int hash, int bucket, int count, float now) {
    long mean = table.memory().address() + 4L * (3L * hash * BUCKETS + bucket);
    long seen = mean + 4L * BUCKETS;
    long gaps = seen + 4L * BUCKETS;
    float last = Memory.getFloat(seen);
    Memory.setFloat(seen, now + 1); // 0 is for items that were never seen.
    if (last == 0) {
      float since = now + AROUND * Memory.getFloat(clock.memory().address() + 4);
      Memory.setFloat(mean, since / count);
      return since / count;
    }
    float passed = now + 1 - last;
    float gap = (passed < 0 ? passed + AROUND : passed) / count;
    float before = Memory.getFloat(mean);
    float closed = Memory.getFloat(gaps);
    float all = Math.min(closed + count, MEMORY);
    float share = count >= all ? 1 : count / all;
    float counted = closed == 0 ? gap : Math.min(gap, LONGEST * before);
    float after = before + share * (counted - before);
    Memory.setFloat(mean, after);
    Memory.setFloat(gaps, all);
    return after;
  }

  /**
   * The mean gap between rows with an item that is in no row of the batch. An item that was met
   * once, or that is away for long, has no gap shorter than the time since then.
   */
  private float gapSoFar(long item, float now) {
    long hash = SplitMix64.mix(item);
    float longest = 1f / AROUND;
    for (int h = 0; h < HASHES; h++) {
      int bucket = (int) (hash >>> (32 * h)) & (BUCKETS - 1);
      longest = Math.max(longest, gapSoFar(h, bucket, now));
    }
    return longest;
  }

  private float gapSoFar(int hash, int bucket, float now) {
    long at = table.memory().address() + 4L * (3L * hash * BUCKETS + bucket);
    float mean = Memory.getFloat(at);
    float passed = now + 1 - Memory.getFloat(at + 4L * BUCKETS);
    float since = passed < 0 ? passed + AROUND : passed;
    boolean isKnown = Memory.getFloat(at + 8L * BUCKETS) > 0;
    return isKnown && since <= LONGEST * mean ? mean : Math.max(mean, since);
  }

  /** Forgets all batches: for items whose ids mean something else than before. */
  void clear() {
    Memory.zero(table.memory().address(), table.memory().byteSize());
    Memory.zero(clock.memory().address(), clock.memory().byteSize());
  }
}
