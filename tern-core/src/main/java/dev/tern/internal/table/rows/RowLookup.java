package dev.tern.internal.table.rows;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one batch and where their rows lie: the distinct ids, the address of each one's row,
 * and which distinct id each position of the batch holds. The arrays grow to the largest batch, so
 * that a step allocates nothing. One thread fills and applies it; several may pool it.
 */
public final class RowLookup {
  private static final int MAX_POSITIONS = 1 << 27;

  /** First of the bits of a hash that pick a slot of {@link #seen}; the index uses lower bits. */
  private static final int SEEN_SHIFT = 40;

  private static final int LINE = 64;

  /** Slots of {@link #seen} that fit into the near caches. */
  private static final int NEAR_SLOTS = 1 << 16;

  /** Positions for each entry of {@link #met}, as a shift. */
  private static final int MET_SHIFT = 6;

  /**
   * Ids of a block of positions are mixed if at least so many are new, and as many known. {@link
   * #fill} expects the next block to be like the last; a wrong guess costs time only.
   */
  private static final int FEW = 8;

  // In place of a row number: the id has no row; its row is in the file and this lookup has a copy;
  // the id has no row and reads one of BucketRows.
  public static final int NONE = -1;
  public static final int COPY = -2;
  public static final int BUCKET = -3;

  private int count;
  private int unique;

  // The table that found the rows, compared by identity, and its name. Its version then, and how
  // many rows had left its memory.
  private @Nullable Object table;
  private String tableName = "";
  private long version;
  private long evicted;

  /** Rows of the table that was searched last. */
  private long tableSize;

  /** Whether ids that count as distinct may be alike. */
  private boolean repeats;

  /** Whether every id has a row. */
  public boolean complete;

  /** Distinct ids whose rows are copies. */
  public int copied;

  private MemorySegment copies = MemorySegment.NULL;
  public final PrefetchedRows ahead = new PrefetchedRows();

  /** For each position: the index of its distinct id. */
  public int[] inverse = new int[0];

  // For each distinct id, in order of first position: id, hash, positions that hold it, row number
  // or NONE, COPY, BUCKET, and address of the row.
  public long[] ids = new long[0];
  public long[] hashes = new long[0];
  public int[] counts = new int[0];
  public int[] rows = new int[0];
  public long[] addresses = new long[0];

  /** Indexes of the distinct ids without a row in memory; whoever located rows knows how many. */
  public int[] missing = new int[0];

  /** The arrays of distinct ids, for the index. */
  public IdBatch distinct = new IdBatch(ids, hashes, rows);

  /** The distinct ids with row numbers of their own, for {@link #over}; empty until then. */
  private IdBatch over = distinct;

  private int[] overRows = rows;

  /** Keeps alive the loads that only warm the cache; threads may write it at once. */
  int touched;

  /** Distinct ids among the positions before {@code i << MET_SHIFT}; after the last entry, all. */
  private int[] met = new int[2];

  public final ClickCounts clicks = new ClickCounts(this);

  /** After {@link #group}, id u has places {@code starts[u]} to {@code starts[u + 1] - 1}. */
  public int[] starts = new int[2];

  // For each place: a bag that holds the id, and the weight of the id in this bag.
  public int[] bags = new int[0];

  /** The same for all parts of gradients but the last, where {@link RowParts#hasFrontPlaces}. */
  int[] frontBags = new int[0];

  public float[] scales = new float[0];

  /** Of each place its lane, where bags were grouped in several, {@link #laneCount}. */
  int[] lanes = new int[0];

  int laneCount = 1;

  /** How many scales are known to be 1, from the first on. */
  private int ones;

  /** A hash table with linear probing: 0, or index of a distinct id + 1. At most a quarter full. */
  private int[] seen = new int[slotsFor(0)];

  long row(int position) {
    return addresses[inverse[position]];
  }

  /** Positions, {@code N}. */
  public int count() {
    return count;
  }

  /** Distinct ids, {@code U}, or after {@link #fillRepeated} positions. */
  public int unique() {
    return unique;
  }

  public long version() {
    return version;
  }

  /** Counts the positions in clicked samples; bag {@code b} is of sample {@code b}. */
  public void label(int[] offsets, int bags, float[] labels) {
    if (labels.length < bags) {
      throw new IllegalArgumentException(
          "lookup: got %d labels for %d bags, expected one for each"
              .formatted(labels.length, bags));
    }
    PooledBags.check("to look up in", offsets, 0, bags, count);
    ClickCounts.requireLabels(labels, bags, 1);
    clicks.begin();
    clicks.add(offsets, 0, labels, bags, 1);
  }

  /** Throws if the table {@code owner} did not find these rows. */
  public void requireOf(Object owner, String name, String operation) {
    if (table == null) {
      throw new IllegalStateException(
          "lookup: got one never filled, or whose rows could not be found again; call find first");
    }
    if (table != owner) {
      throw new IllegalArgumentException(
          "table %s: got %s of a lookup of table %s, expected one of its own"
              .formatted(name, operation, tableName));
    }
  }

  /** Throws if the table's version is another now, or rows left its memory since. */
  public void requireAsOf(long rowVersion, long rowsGone, String operation) {
    if (version != rowVersion || isBefore(rowsGone)) {
      throw new IllegalStateException(
          "table %s: got %s of a lookup at version %d, but its rows changed or moved since"
                  .formatted(tableName, operation, version)
              + " (version %d); refresh it to read them as they are now".formatted(rowVersion));
    }
  }

  /** The distinct ids, to be searched in an index without losing the rows found in another one. */
  public IdBatch over() {
    if (over == distinct) {
      overRows = new int[ids.length];
      over = new IdBatch(ids, hashes, overRows);
    }
    return over;
  }

  /** After a search of {@link #over}: of the ids that were found there, these are the rows. */
  public void takeRows(RowSlabs from) {
    for (int u = 0; u < unique; u++) {
      if (overRows[u] >= 0) {
        rows[u] = overRows[u];
        addresses[u] = from.address(overRows[u]);
      }
    }
  }

  /** After a search of {@link #over}: the ids that were found there have no row. */
  public void leaveRows() {
    for (int u = 0; u < unique; u++) {
      if (overRows[u] >= 0) {
        rows[u] = NONE;
      }
    }
  }

  /** Lists the ids without a row in memory as {@link #missing} again; returns their number. */
  public int listMissing() {
    int count = 0;
    for (int u = 0; u < unique; u++) {
      if (rows[u] < 0) {
        missing[count++] = u;
      }
    }
    return count;
  }

  /** The address of room for {@code bytes} of copies of rows; earlier room is lost. */
  public long copies(long bytes) {
    if (copies.byteSize() < bytes) {
      copies = Memory.allocate(Arena.ofAuto(), bytes + bytes / 4, LINE, "lookup copies");
    }
    return copies.address();
  }

  /**
   * Notes the table that found the rows: its rows, its version, and how many rows left its memory
   * before.
   */
  public void found(Object owner, String name, long size, long rowVersion, long rowsGone) {
    table = owner;
    tableSize = size;
    tableName = name;
    version = rowVersion;
    evicted = rowsGone;
  }

  /** Begins to find the same ids again; {@link #found} ends it. */
  public void findAgain() {
    table = null;
    copied = 0;
  }

  /** The distinct ids without a row. */
  int[] unknown() {
    return withRows(row -> row == NONE || row == BUCKET);
  }

  /** The distinct ids with {@link #NONE}, or {@link #BUCKET}, in place of a row number. */
  public int[] reading(int what) {
    return withRows(row -> row == what);
  }

  private int[] withRows(IntPredicate wanted) {
    return IntStream.range(0, complete ? 0 : unique).filter(u -> wanted.test(rows[u])).toArray();
  }

  /** Moves the ids of 0 or more among the missing to the front, in order; returns their number. */
  public int knownFirst(int without) {
    int known = 0;
    for (int i = 0; i < without; i++) {
      int u = missing[i];
      if (ids[u] >= 0) {
        missing[i] = missing[known];
        missing[known++] = u;
      }
    }
    return known;
  }

  /** Whether rows left the table's memory since, now that {@code rowsGone} have. */
  public boolean isBefore(long rowsGone) {
    return evicted != rowsGone;
  }

  /** Takes the ids of a batch and finds the distinct ones; a table then finds their rows. */
  public void fill(long[] batch, int positions) {
    take(batch, positions);
    tellApart(batch, positions);
  }

  private void tellApart(long[] batch, int positions) {
    repeats = false;
    int slots = slotsFor(positions);
    Arrays.fill(seen, 0, slots, 0);
    Arrays.fill(counts, 0, positions, 1);
    unique = 0;
    int added = 0;
    for (int from = 0; from < positions; from += 1 << MET_SHIFT) {
      int to = Math.min(positions, from + (1 << MET_SHIFT));
      int before = unique;
      if (slots > NEAR_SLOTS) {
        touchSlots(from, to, slots - 1);
      }
      met[from >> MET_SHIFT] = before;
      boolean mixed = added >= FEW && added <= (1 << MET_SHIFT) - FEW;
      unique =
          mixed
              ? dedupMixed(batch, from, to, slots - 1, before)
              : dedupPredictable(batch, from, to, slots - 1, before);
      added = unique - before;
    }
    met[(positions + (1 << MET_SHIFT) - 1) >> MET_SHIFT] = unique;
  }

  /** Loads the slots of the ids at these positions, so that the cache misses overlap. */
  private void touchSlots(int from, int to, int mask) {
    int sum = 0;
    for (int i = from; i < to; i++) {
      sum += seen[(int) (hashes[i] >>> SEEN_SHIFT) & mask];
    }
    touched = sum;
  }

  /**
   * Takes the ids of a batch as they come: those of all positions stand for the distinct ones. That
   * is enough to read rows, and saves the time to find out which ids are alike. {@link #separate}
   * does so later.
   */
  public void fillRepeated(long[] batch, int positions) {
    fillDistinct(batch, positions);
    repeats = true;
  }

  /**
   * Whether it saves time to find out which of so many ids are alike before they are searched: a
   * table with fewer rows is searched for most of them again and again.
   */
  public boolean expectsRepeats(int positions) {
    return positions > tableSize;
  }

  /** Makes the ids of a lookup distinct, of which rows may be found. */
  public void separate() {
    if (!repeats) {
      return;
    }
    tellApart(ids, count); // in place, as no distinct id stands behind its position
    int next = 0;
    for (int i = 0; i < count; i++) {
      if (inverse[i] == next) {
        rows[next] = rows[i];
        addresses[next++] = addresses[i];
      }
    }
  }

  /** Distinct ids; it changes nothing. */
  public int countDistinct() {
    if (!repeats) {
      return unique;
    }
    RowLookup other = new RowLookup();
    other.fill(ids, count);
    return other.unique;
  }

  /** Takes the ids of a batch, which are distinct. */
  public void fillDistinct(long[] batch, int positions) {
    take(batch, positions);
    System.arraycopy(batch, 0, ids, 0, positions);
    Arrays.fill(counts, 0, positions, 1);
    for (int i = 0; i < positions; i++) {
      inverse[i] = i;
    }
    for (int block = 0; block << MET_SHIFT < positions; block++) {
      met[block] = block << MET_SHIFT;
    }
    met[(positions + (1 << MET_SHIFT) - 1) >> MET_SHIFT] = positions;
    unique = positions;
  }

  private void take(long[] batch, int positions) {
    Objects.checkFromIndexSize(0, positions, batch.length);
    table = null;
    repeats = false;
    copied = 0;
    ahead.clear();
    clicks.clear();
    count = positions;
    if (inverse.length < positions) {
      grow(positions);
    }
    for (int i = 0; i < positions; i++) {
      hashes[i] = Hashing.mix(batch[i]);
    }
  }

  /**
   * Loads from the first {@code bytes} of the rows of ids whose first position is about {@code
   * [from, to)}. A processor overlaps the cache misses of all loads in its window of instructions;
   * a loop that only loads has several times as many of them there as a loop that also computes.
   */
  void touch(int from, int to, int bytes) {
    int last = met[(to + (1 << MET_SHIFT) - 1) >> MET_SHIFT];
    touchRows(addresses, met[from >> MET_SHIFT], last, bytes);
  }

  /** Loads from the first {@code bytes} of rows {@code rows[from .. to)}. */
  void touchRows(long[] rows, int from, int to, int bytes) {
    int sum = 0;
    for (int at = 0; at <= bytes - 4; at += LINE) {
      for (int i = from; i < to; i++) {
        sum += Memory.getInt(rows[i] + at);
      }
    }
    touched += sum;
  }

  private static int slotsFor(int positions) {
    return Integer.highestOneBit(Math.max(2, positions - 1)) << 3;
  }

  private void grow(int positions) {
    if (positions > MAX_POSITIONS) {
      throw new IllegalArgumentException(
          "lookup: got %d ids, expected at most %d; use smaller batches"
              .formatted(positions, MAX_POSITIONS));
    }
    int capacity = Math.min(MAX_POSITIONS, Math.max(positions, 3 * (inverse.length / 2)));
    inverse = new int[capacity];
    ids = new long[capacity];
    hashes = new long[capacity];
    rows = new int[capacity];
    distinct = new IdBatch(ids, hashes, rows);
    over = distinct;
    overRows = rows;
    addresses = new long[capacity];
    missing = new int[capacity];
    starts = new int[capacity + 2];
    bags = new int[capacity];
    scales = new float[capacity];
    ones = 0;
    counts = new int[capacity];
    met = new int[(capacity >> MET_SHIFT) + 2];
    seen = new int[slotsFor(capacity)];
  }

  /**
   * Appends the new ids of positions {@code [from, to)} to the {@code before} distinct ones, and
   * returns how many there are then. It branches on whether an id is new, which is fastest if the
   * ids are mostly new or mostly known.
   */
  private int dedupPredictable(long[] batch, int from, int to, int mask, int before) {
    int distinct = before;
    for (int i = from; i < to; i++) {
      long id = batch[i];
      long hash = hashes[i];
      int slot = (int) (hash >>> SEEN_SHIFT) & mask;
      int index = seen[slot] - 1;
      if (index >= 0 && ids[index] != id) {
        slot = slotAfter(slot, id, mask);
        index = seen[slot] - 1;
      }
      if (index < 0) {
        ids[distinct] = id;
        hashes[distinct] = hash;
        inverse[i] = distinct++;
        seen[slot] = distinct;
      } else {
        inverse[i] = index;
        counts[index]++;
      }
    }
    return distinct;
  }

  /** Does the same without that branch: appends each id, counts it only if its slot was free. */
  private int dedupMixed(long[] batch, int from, int to, int mask, int before) {
    int distinct = before;
    for (int i = from; i < to; i++) {
      long id = batch[i];
      long hash = hashes[i];
      int slot = (int) (hash >>> SEEN_SHIFT) & mask;
      int index = seen[slot] - 1;
      ids[distinct] = id;
      hashes[distinct] = hash;
      int free = index >> 31;
      int u = index ^ ((index ^ distinct) & free);
      if (ids[u] != id) {
        slot = slotAfter(slot, id, mask);
        index = seen[slot] - 1;
        free = index >> 31;
        u = index ^ ((index ^ distinct) & free);
      }
      counts[u] += 1 + free;
      inverse[i] = u;
      seen[slot] = u + 1;
      distinct -= free;
    }
    return distinct;
  }

  /** The slot of an id whose first slot holds another id. */
  private int slotAfter(int taken, long id, int mask) {
    int slot = taken;
    int index;
    do {
      slot = (slot + 1) & mask;
      index = seen[slot] - 1;
    } while (index >= 0 && ids[index] != id);
    return slot;
  }

  /** Whether no grouped bag holds distinct id {@code u}. */
  public boolean isAbsent(int u) {
    return starts[u] == starts[u + 1];
  }

  /** Sorts the positions of bags by distinct id, and by position within an id. */
  public void group(PooledBags grouped) {
    int first = grouped.offsets[0];
    int places = grouped.offsets[grouped.count] - first;
    starts[0] = 0;
    starts[1] = 0;
    if (places == count) {
      System.arraycopy(counts, 0, starts, 2, unique);
    } else {
      Arrays.fill(starts, 2, unique + 2, 0);
      for (int i = first; i < first + places; i++) {
        starts[inverse[i] + 2]++;
      }
    }
    for (int u = 2; u <= unique; u++) {
      starts[u] += starts[u - 1];
    }
    boolean scaled = grouped.areScaled();
    if (scaled) {
      ones = 0;
    } else if (ones < places) {
      Arrays.fill(scales, ones, places, 1);
      ones = places;
    }
    laneCount = grouped.lanes().count();
    if (laneCount > 1) {
      grouped.lanes().place(this, grouped, scaled);
    } else if (scaled) {
      placeScaled(grouped);
    } else {
      place(grouped);
    }
  }

  /** Replaces each grouped bag by the place of its gradient. */
  void placeBags(RowParts gradients) {
    int places = starts[unique];
    if (gradients.hasFrontPlaces()) {
      if (frontBags.length < places) {
        frontBags = new int[bags.length];
      }
      for (int i = 0; i < places; i++) {
        frontBags[i] = gradients.frontPlace(bags[i]);
      }
    }
    for (int i = 0; i < places; i++) {
      bags[i] = gradients.place(bags[i]);
    }
  }

  /** Appends each position to its id's places, at {@code starts[u + 1]++}. */
  private void place(PooledBags grouped) {
    int[] offsets = grouped.offsets;
    for (int b = 0; b < grouped.count; b++) {
      int end = offsets[b + 1];
      for (int i = offsets[b]; i < end; i++) {
        bags[starts[inverse[i] + 1]++] = b;
      }
    }
  }

  /** Does the same, and notes the weight of each row in its bag. */
  private void placeScaled(PooledBags grouped) {
    int[] offsets = grouped.offsets;
    for (int b = 0; b < grouped.count; b++) {
      int end = offsets[b + 1];
      float scale = grouped.scale(b);
      for (int i = offsets[b]; i < end; i++) {
        int place = starts[inverse[i] + 1]++;
        bags[place] = b;
        scales[place] = grouped.factor(scale, i);
      }
    }
  }
}
