package dev.tern.internal.table.rows;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one batch and where a table has their rows: the distinct ids, the address of the row
 * of each, and which distinct id each position of the batch holds. The arrays grow to the largest
 * batch, so that a step allocates nothing. One thread fills and applies it; several may pool it.
 */
public final class RowLookup {
  private static final int MAX_POSITIONS = 1 << 27;

  /** Bits of a hash that find neither its bucket nor its segment. */
  private static final int SEEN_SHIFT = 40;

  private static final int LINE = 64;

  /** As much of {@link #seen} as the near caches hold. */
  private static final int NEAR_SLOTS = 1 << 16;

  /** Positions per entry of {@link #met}. */
  private static final int MET_SHIFT = 6;

  /** Of as many positions, new ids, or others, that are no more are guessed not to be there. */
  private static final int FEW = 8;

  /** The table that found the rows, told apart by identity, and its name. */
  private @Nullable Object table;

  private String tableName = "";
  private int count;
  private int unique;
  private long version;

  /** Rows of the table that had gone when this lookup was found. */
  private long evicted;

  /** Whether every id has a row. */
  public boolean complete;

  /** In {@link #rows}: there is no row. */
  public static final int NONE = -1;

  /** In {@link #rows}: the row is not in memory, and this lookup has a copy. */
  public static final int COPY = -2;

  /** In {@link #rows}: there is no row, and the id reads as one of {@link BucketRows}. */
  public static final int BUCKET = -3;

  /** Distinct ids whose rows are copies. */
  public int copied;

  /** What was found before its turn. */
  public final PrefetchedRows ahead = new PrefetchedRows();

  /** Room for copies of rows. */
  private MemorySegment copies = MemorySegment.NULL;

  /** Per position: index of its id among the distinct ones. */
  public int[] inverse = new int[0];

  /** Per distinct id, by first position: the id, its hash, row number or below 0, address. */
  public long[] ids = new long[0];

  public long[] hashes = new long[0];
  public int[] rows = new int[0];
  public long[] addresses = new long[0];

  /**
   * Indexes of the distinct ids that had no row when they were looked up, as many as counted then.
   */
  public int[] missing = new int[0];

  /** The same arrays, for the index. */
  public IdBatch distinct = new IdBatch(ids, hashes, rows);

  /** Keeps alive the loads that only warm the cache; threads may write it at once. */
  int touched;

  /** Distinct ids among the positions before {@code i << MET_SHIFT}; past the last, all. */
  private int[] met = new int[2];

  /** Per distinct id: positions that hold it. */
  public int[] counts = new int[0];

  /** Of these, positions in clicked samples. */
  public final ClickCounts clicks = new ClickCounts();

  /** As {@link #group} found: places {@code starts[u]} to {@code starts[u + 1] - 1} are id u's. */
  public int[] starts = new int[2];

  /** Per place: a bag that holds the id, and by how much the id counts there. */
  public int[] bags = new int[0];

  public float[] scales = new float[0];

  /** Scales known to be 1, from the first on. */
  private int ones;

  /** Open addressing by hash: 0, or index of a distinct id + 1. Under a quarter full. */
  private int[] seen = new int[slotsFor(0)];

  /** Positions, {@code N}. */
  public int count() {
    return count;
  }

  /** Distinct ids, {@code U}. */
  public int unique() {
    return unique;
  }

  /** The version of the table at which its rows were found. */
  public long version() {
    return version;
  }

  /** Counts the positions in clicked samples: bag {@code b} is that of sample {@code b}. */
  public void label(int[] offsets, int bags, float[] labels) {
    if (labels.length < bags) {
      throw new IllegalArgumentException(
          "lookup: got %d labels for %d bags, expected one for each"
              .formatted(labels.length, bags));
    }
    PooledBags.check("to look up in", offsets, 0, bags, count);
    ClickCounts.requireLabels(labels, bags, 1);
    clicks.count(this, offsets, bags, labels, bags, 1);
  }

  /** Throws if {@code owner}, a table called {@code name}, did not find these rows. */
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

  /** Throws if the table has another version, or if rows went since these were found. */
  public void requireAsOf(long rowVersion, long rowsGone, String operation) {
    if (version != rowVersion || isBefore(rowsGone)) {
      throw new IllegalStateException(
          "table %s: got %s of a lookup at version %d, but its rows changed or moved since"
                  .formatted(tableName, operation, version)
              + " (version %d); refresh it to read them as they are now".formatted(rowVersion));
    }
  }

  /** The address of room for {@code bytes} of copies of rows; it may be another than before. */
  public long copies(long bytes) {
    if (copies.byteSize() < bytes) {
      copies = Memory.allocate(Arena.ofAuto(), bytes + bytes / 4, LINE, "lookup copies");
    }
    return copies.address();
  }

  /** Notes the table that found the rows, its version, and how many of its rows went before. */
  public void found(Object owner, String name, long rowVersion, long rowsGone) {
    table = owner;
    tableName = name;
    version = rowVersion;
    evicted = rowsGone;
  }

  /** Begins to find the same ids anew; of use only after {@link #found}. */
  public void findAgain() {
    table = null;
    copied = 0;
  }

  /** The distinct ids without a row. */
  int[] unknown() {
    return complete
        ? new int[0]
        : IntStream.range(0, unique).filter(u -> rows[u] == NONE || rows[u] == BUCKET).toArray();
  }

  /** The distinct ids that have {@code what} in {@link #rows}, one of those below 0. */
  public int[] reading(int what) {
    return complete
        ? new int[0]
        : IntStream.range(0, unique).filter(u -> rows[u] == what).toArray();
  }

  /** Whether rows went since, perhaps some of these, when {@code rowsGone} have. */
  public boolean isBefore(long rowsGone) {
    return evicted != rowsGone;
  }

  /**
   * Takes new ids: distinct ones in order of first position, and which one each position holds. Of
   * use only after {@link #found}.
   */
  public void fill(long[] batch, int positions) {
    take(batch, positions);
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

  /** Loads from where these positions' ids are looked for, so that the cache misses overlap. */
  private void touchSlots(int from, int to, int mask) {
    int sum = 0;
    for (int i = from; i < to; i++) {
      sum += seen[(int) (hashes[i] >>> SEEN_SHIFT) & mask];
    }
    touched = sum;
  }

  /** Likewise, of ids that are all distinct. */
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
   * Loads from the first {@code bytes} of the rows of ids that are met first at a position from
   * {@code from} to {@code to - 1} or little before or after. A processor overlaps the cache misses
   * of as many rows as fit into its window of instructions: of a loop that does nothing but load
   * these are several times as many as of loops that compute.
   */
  void touch(int from, int to, int bytes) {
    int last = met[(to + (1 << MET_SHIFT) - 1) >> MET_SHIFT];
    touchRows(addresses, met[from >> MET_SHIFT], last, bytes);
  }

  /** Likewise, of rows {@code rows[from .. to)}. */
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
          "lookup: got "
              + positions
              + " ids, expected at most "
              + MAX_POSITIONS
              + "; use smaller batches");
    }
    int capacity = Math.min(MAX_POSITIONS, Math.max(positions, 3 * (inverse.length / 2)));
    inverse = new int[capacity];
    ids = new long[capacity];
    hashes = new long[capacity];
    rows = new int[capacity];
    distinct = new IdBatch(ids, hashes, rows);
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
   * Moves the hashes of the distinct ones among positions {@code from} to {@code to - 1} behind
   * those {@code before}; there are no more of them than positions read. For ids that mostly are
   * new, or mostly are not, as a branch that can be predicted is the fastest.
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

  /**
   * The same without a branch that asks whether an id is new: each is written down as if it were,
   * which counts if its slot was free.
   */
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

  /** The slot that an id has or is to have where another id has the one before. */
  private int slotAfter(int taken, long id, int mask) {
    int slot = taken;
    int index;
    do {
      slot = (slot + 1) & mask;
      index = seen[slot] - 1;
    } while (index >= 0 && ids[index] != id);
    return slot;
  }

  /** Whether no bag that was grouped holds distinct id {@code u}. */
  public boolean isAbsent(int u) {
    return starts[u] == starts[u + 1];
  }

  /** Groups the positions of bags by their id, each id's in their order. */
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
    if (grouped.areScaled()) {
      ones = 0;
      placeScaled(grouped);
      return;
    }
    if (ones < places) {
      Arrays.fill(scales, ones, places, 1);
      ones = places;
    }
    place(grouped);
  }

  /** Has what was grouped name bags by where their gradients lie. */
  void placeBags(RowParts gradients) {
    int places = starts[unique];
    for (int i = 0; i < places; i++) {
      bags[i] = gradients.place(bags[i]);
    }
  }

  /** Puts each position where {@code starts[u + 1]} says, for the next of id u. */
  private void place(PooledBags grouped) {
    int[] offsets = grouped.offsets;
    for (int b = 0; b < grouped.count; b++) {
      int end = offsets[b + 1];
      for (int i = offsets[b]; i < end; i++) {
        bags[starts[inverse[i] + 1]++] = b;
      }
    }
  }

  /** Likewise, with the factor that its row has in the pooled vector. */
  private void placeScaled(PooledBags grouped) {
    int[] offsets = grouped.offsets;
    float[] weights = grouped.weights;
    for (int b = 0; b < grouped.count; b++) {
      int end = offsets[b + 1];
      float scale = grouped.scale(b);
      for (int i = offsets[b]; i < end; i++) {
        int place = starts[inverse[i] + 1]++;
        bags[place] = b;
        scales[place] = PooledBags.factor(weights, scale, i);
      }
    }
  }
}
