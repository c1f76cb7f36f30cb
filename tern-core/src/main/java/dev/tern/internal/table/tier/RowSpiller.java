package dev.tern.internal.table.tier;

import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.FallbackRows;
import dev.tern.internal.table.rows.PrefetchedRows;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowSlabs;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Moves rows of a table to a file while memory has no room for them. Each row in memory is followed
 * by its id and the lookup that saw it last. When a batch needs room, a hand moves to the next
 * partition of {@link ColdRows}: the half of the partition's rows in memory that was seen longest
 * ago leaves. The index lists rows by the bits of the hash that also pick partitions. A row that
 * training looks up comes back to memory; scoring copies rows instead.
 *
 * <p>Another thread reads and writes the file ({@link WriteBehind}). Rows that leave stay in memory
 * until they are in the file, so they leave before their room is needed, and some room is reserved
 * for them. Which rows leave, and when, does not depend on the speed of that thread.
 */
public final class RowSpiller {
  /** Rows in memory of a partition, about. */
  private static final int PARTITION_ROWS = 256;

  /** Rows in memory at least: so many may be imported at once. */
  public static final int LEAST_ROWS = 1024;

  /** {@link ColdRows} keeps its summaries in this fraction of the memory: 1 / SHARE. */
  private static final int SHARE = 8;

  /** Memory grows by one part in so many, and at the end by one in the square of it. */
  private static final int GROWTH = 4;

  /** Rows on their way to the file are at most so many, and one part of all that have room. */
  private static final int MOST_LEAVING = 1 << 14;

  private static final int LEAVING_SHARE = 16;

  /**
   * The partitions under merge hold at most this fraction of all records, as their summaries are in
   * memory twice; one partition is always allowed.
   */
  private static final int TWICE_SHARE = LEAVING_SHARE / 2;

  /** Ids looked for in the file at once before others get their turn. */
  private static final int READ_AHEAD = 16;

  /** Rows read ahead take one part in so many of the memory, for each lookup. */
  private static final int AHEAD_SHARE = 32;

  /** In the word after a row's id, the bit that says that the file has a record of the id. */
  private static final int IN_FILE = 1;

  private final TableConfig config;
  private final TierMemory tier;
  private final RowSlabs rows;
  private final IdIndex index;
  private final Allocator allocator;
  private final String holder;
  private final ScratchFile file;
  private final int seenOffset;

  /** Bytes of memory taken of the tier, and how many rows at most they are enough for. */
  private long memory;

  private int most;

  /** None while all rows are in memory. */
  private Optional<ColdRows> cold = Optional.empty();

  private Optional<WriteBehind> behind = Optional.empty();

  /** Counts lookups in training. */
  private int now;

  /** The next partition to make room in. */
  private int hand;

  /** Whether all rows in memory are of the last lookup. */
  private boolean stuck;

  /** Rows in memory of which the file has a record. */
  private long old;

  private long spilled;
  private long fetched;

  // The rows in memory of one partition.
  private final IdIndex.RowSink collector = this::collect;
  private long[] hashes = new long[2 * PARTITION_ROWS];
  private int[] numbers = new int[2 * PARTITION_ROWS];
  private long[] order = new long[2 * PARTITION_ROWS];
  private int count;
  private int movable;

  public RowSpiller(
      TableConfig config, TierMemory tier, RowSlabs rows, IdIndex index, Allocator allocator) {
    this.config = config;
    this.tier = tier;
    this.rows = rows;
    this.index = index;
    this.allocator = allocator;
    seenOffset = RowLayout.idOffset(config) + Long.BYTES;
    holder = "table " + config.name() + " file tier";
    long least = memoryFor(config, LEAST_ROWS) * SHARE / (SHARE - 1) + SHARE;
    memory = tier.take(least, least);
    if (memory == 0) {
      throw new IllegalArgumentException(
          "table %s with a file tier: got %d bytes of memory left of %d, expected %d or more"
              .formatted(config.name(), tier.left(), tier.memory(), least));
    }
    most = mostRows(config, memory - memory / SHARE);
    try {
      file = ScratchFile.in(tier.folder(), holder);
    } catch (RuntimeException | Error e) {
      tier.giveBack(memory);
      throw e;
    }
  }

  /** Bytes of a row in memory. */
  public static int rowBytes(TableConfig config) {
    return RowLayout.idOffset(config) + Long.BYTES + Integer.BYTES;
  }

  /**
   * Checks that a table of this config can have a file tier.
   *
   * @throws IllegalArgumentException if it cannot
   */
  public static void require(TableConfig config) {
    String wrong = "";
    if (config.rule().updatesAllRows()) {
      wrong = "an optimizer that updates all rows in each step; use lazy Adam";
    } else if (!(config.rows().eviction() instanceof Eviction.Never)) {
      wrong = config.rows().eviction() + "; rows of such a table stay for good";
    } else if (config.unknown() == UnknownRow.MEAN) {
      wrong = "unknown ids that read as the mean of all rows; use zeros or initial weights";
    } else if (config.unknown().buckets() > 0) {
      wrong = config.unknown() + "; have unknown ids read as zeros or initial weights";
    }
    if (config.format() != RowFormat.STORED) {
      wrong = "rows of " + config.format() + "; have them lie in memory, or as stored";
    }
    if (!wrong.isEmpty()) {
      throw new IllegalArgumentException(
          "table %s with a file tier: got %s".formatted(config.name(), wrong));
    }
  }

  /** Rows that memory has room for, in any state of growth. */
  private static int mostRows(TableConfig config, long bytes) {
    int low = 0;
    int high = Integer.MAX_VALUE;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (memoryFor(config, middle) <= bytes) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static long memoryFor(TableConfig config, int rows) {
    long spare = FallbackRows.spareBytes(config);
    return spare + RowSlabs.mostBytes(rowBytes(config), rows) + IdIndex.mostBytes(rows);
  }

  /** Bytes of memory beside rows and index. */
  public long bytes() {
    return cold.map(ColdRows::bytes).orElse(0L);
  }

  /** Rows that are not in memory. */
  public long size() {
    return cold.isPresent() ? cold.get().records() - old : 0;
  }

  /** Times that a row left memory. */
  public long spilled() {
    return spilled;
  }

  public FileStatistics statistics() {
    long written = cold.map(ColdRows::written).orElse(0L);
    return new FileStatistics(size(), file.bytes(), spilled, fetched, written, file.read());
  }

  /**
   * A lookup in training begins: notes the rows in memory that it found, which stay till the next.
   */
  public void see(RowLookup lookup) {
    now = (now + 1) & Integer.MAX_VALUE >> 1;
    stuck = false;
    int unique = lookup.unique();
    for (int u = 0; u < unique; u++) {
      if (lookup.rows[u] >= 0) {
        long seen = lookup.addresses[u] + seenOffset;
        Memory.setInt(seen, now << 1 | Memory.getInt(seen) & IN_FILE);
      }
    }
  }

  /** The first {@code given} ids missing were given rows. */
  public void enter(RowLookup lookup, int given) {
    for (int i = 0; i < given; i++) {
      int u = lookup.missing[i];
      Memory.setLong(lookup.addresses[u] + RowLayout.idOffset(config), lookup.ids[u]);
      Memory.setInt(lookup.addresses[u] + seenOffset, now << 1);
    }
  }

  /**
   * Brings rows back of ids that have none in memory.
   *
   * @param gone takes the numbers of rows that leave for them
   * @return ids still missing, which are first among the missing
   */
  public int fetch(RowLookup lookup, int missing, IntConsumer gone) {
    if (cold.isEmpty()) {
      return missing;
    }
    ColdRows records = cold.get();
    int still = 0;
    for (int i = 0; i < missing; i++) {
      int u = lookup.missing[i];
      makeRoom(1, gone);
      long record = record(records, lookup, u);
      if (record == ColdRows.NONE) {
        lookup.missing[still++] = u;
      } else {
        bring(lookup, u, record, records.recordBytes());
      }
    }
    return still;
  }

  /** The record of a distinct id, which was perhaps read ahead. */
  private static long record(ColdRows records, RowLookup lookup, int u) {
    long hash = lookup.hashes[u];
    return lookup.ahead.knows(u, records.writes(hash))
        ? lookup.ahead.record(u)
        : records.find(hash, lookup.ids[u], records.scratch());
  }

  /**
   * Reads the records of some ids more of those that a lookup ahead found missing. Any number of
   * threads may, each with a lookup of its own, while nothing changes.
   *
   * @return whether there are more
   */
  public boolean readAhead(RowLookup lookup) {
    if (cold.isEmpty()) {
      return false;
    }
    ColdRows records = cold.get();
    PrefetchedRows ahead = lookup.ahead;
    int bytes = records.recordBytes();
    int stride = (bytes + 15) & -16;
    int from = ahead.read();
    if (from == 0) {
      int most = (int) Math.min(ahead.missing(), memory / AHEAD_SHARE / stride);
      ahead.begin(lookup.unique(), most, (long) most * stride + records.blockBytes());
    }
    int most = ahead.most();
    int to = Math.min(most, from + READ_AHEAD);
    if (from == to) {
      return false;
    }
    long block = ahead.copies() + (long) most * stride;
    for (int i = from; i < to; i++) {
      int u = lookup.missing[i];
      long hash = lookup.hashes[u];
      long record = records.find(hash, lookup.ids[u], block);
      long copy = ahead.copies() + (long) i * stride;
      if (record != ColdRows.NONE) {
        Memory.copy(record, copy, bytes);
      }
      ahead.put(u, records.writes(hash), record == ColdRows.NONE ? record : copy);
    }
    ahead.setRead(to);
    return to < most;
  }

  private void bring(RowLookup lookup, int u, long record, int bytes) {
    index.reserve(lookup.hashes[u]);
    int row = rows.add();
    long address = rows.address(row);
    Memory.copy(record, address, bytes);
    Memory.setInt(address + seenOffset, now << 1 | IN_FILE);
    index.insert(lookup.hashes[u], lookup.ids[u], row);
    lookup.rows[u] = row;
    lookup.addresses[u] = address;
    old++;
    fetched++;
  }

  /** The same where nothing may change: the lookup gets copies. Any number of threads may. */
  public int copy(RowLookup lookup, int missing) {
    if (cold.isEmpty()) {
      return missing;
    }
    ColdRows records = cold.get();
    int still = 0;
    int copies = 0;
    int stride = (records.recordBytes() + 15) & -16;
    for (int i = 0; i < missing; i++) {
      int u = lookup.missing[i];
      long block = lookup.copies((missing + 1L) * stride + records.blockBytes());
      long record = records.find(lookup.hashes[u], lookup.ids[u], block);
      if (record == ColdRows.NONE) {
        lookup.missing[still++] = u;
      } else {
        long address = ((block + records.blockBytes() + 15) & -16) + (long) copies++ * stride;
        Memory.copy(record, address, records.recordBytes());
        lookup.rows[u] = RowLookup.COPY;
        lookup.addresses[u] = address;
      }
    }
    lookup.copied = copies;
    return still;
  }

  /**
   * Makes sure that memory has room for more rows.
   *
   * @param gone takes the numbers of rows that leave for them
   */
  public void makeRoom(int wanted, IntConsumer gone) {
    while (index.size() + wanted > most - reserve() && (grow() || spill(cold(), gone))) {}
    while (index.size() + leaving() + wanted > most) {
      if (leaving() == 0) {
        throw new IllegalStateException(
            "table %s: got a batch of more different ids than the %d rows that memory has room for;"
                    .formatted(config.name(), most)
                + " give the table more memory, or use smaller batches");
      }
      behind.orElseThrow().endFirst(rows::release);
    }
  }

  /** Rows that have left for the file and are still in memory. */
  public int leaving() {
    return behind.isPresent() ? behind.get().rows() : 0;
  }

  /** Room that is left to such rows. */
  private int reserve() {
    return cold.isPresent() ? Math.min(MOST_LEAVING, most / LEAVING_SHARE) : 0;
  }

  /** Takes more memory, if there is any left. */
  private boolean grow() {
    long more = tier.take(memory / GROWTH / GROWTH, memory / GROWTH);
    memory += more;
    most = more == 0 ? most : mostRows(config, memory - memory / SHARE);
    return more > 0;
  }

  private ColdRows cold() {
    if (cold.isEmpty()) {
      int bits = 31 - Integer.numberOfLeadingZeros(Math.max(1, most / PARTITION_ROWS));
      int offset = RowLayout.idOffset(config);
      ColdRows records =
          new ColdRows(
              offset,
              Math.min(bits, IdIndex.BUCKET_BITS),
              memory / SHARE / 4,
              file,
              allocator,
              holder);
      cold = Optional.of(records);
      behind = Optional.of(new WriteBehind(records, tier.writer()));
    }
    return cold.get();
  }

  /** Spills from the next partition with rows to spare; returns whether there was one. */
  private boolean spill(ColdRows records, IntConsumer gone) {
    for (int tried = 0; !stuck && tried < records.partitions(); tried++) {
      if (spillNext(records, gone)) {
        return true;
      }
    }
    stuck = true;
    return false;
  }

  /**
   * Spills rows of the next partition; returns whether there were any. The hand visits partitions
   * in the order of their reversed bits. A partition is fullest just before its visit, and
   * neighbouring full partitions would overflow neighbouring buckets of the index.
   */
  private boolean spillNext(ColdRows records, IntConsumer gone) {
    int partitions = records.partitions();
    int partition = (int) ((Integer.reverse(hand) & 0xFFFFFFFFL) * partitions >>> 32);
    int width = (1 << IdIndex.BUCKET_BITS) / partitions;
    count = 0;
    movable = 0;
    index.forEachRow(partition * width, width, collector);
    int leaving = Math.min(movable, (count + 1) / 2);
    if (leaving > 0) {
      endMerges(records, partition, leaving);
      Arrays.sort(order, 0, movable);
      int replaced = replaced(movable - leaving);
      ColdMerge.Rows sorted = sortedByHash(movable - leaving, leaving);
      ColdMerge merge =
          records.begin(partition, sorted, replaced, filterBits(records, partition, leaving));
      behind.orElseThrow().add(merge);
      for (int i = movable - leaving; i < movable; i++) {
        leave((int) order[i], gone);
      }
      spilled += leaving;
    }
    hand = hand + 1 == partitions ? 0 : hand + 1;
    return leaving > 0;
  }

  /** Ends merges until another may begin, of some rows of a partition. */
  private void endMerges(ColdRows records, int partition, int leaving) {
    WriteBehind writes = behind.orElseThrow();
    while (records.merge(partition).isPresent()
        || (writes.rows() > 0
            && (writes.rows() + leaving > reserve()
                || records.twice() + records.records(partition)
                    > records.records() / TWICE_SHARE))) {
      writes.endFirst(rows::release);
    }
  }

  private void collect(long hash, int row) {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, 2 * count);
      numbers = Arrays.copyOf(numbers, 2 * count);
      order = Arrays.copyOf(order, 2 * count);
    }
    hashes[count] = hash;
    numbers[count] = row;
    int seen = Memory.getInt(rows.address(row) + seenOffset) >>> 1;
    int age = (now - seen) & Integer.MAX_VALUE >> 1;
    if (age > 0) {
      order[movable++] = (long) age << 32 | count;
    }
    count++;
  }

  /** How many of the rows from one place in the order on have records. */
  private int replaced(int from) {
    int sum = 0;
    for (int i = from; i < movable; i++) {
      sum += Memory.getInt(rows.address(numbers[(int) order[i]]) + seenOffset) & IN_FILE;
    }
    return sum;
  }

  /** The rows at a part of the order, by their hashes. */
  private ColdMerge.Rows sortedByHash(int from, int length) {
    for (int i = 0; i < length; i++) {
      int at = (int) order[from + i];
      order[from + i] = (hashes[at] ^ Long.MIN_VALUE) & -1L << 32 | at;
    }
    Arrays.sort(order, from, from + length);
    long[] sorted = new long[length];
    int[] sortedRows = new int[length];
    for (int i = 0; i < length; i++) {
      int at = (int) order[from + i];
      int place = i;
      for (; place > 0 && Long.compareUnsigned(sorted[place - 1], hashes[at]) > 0; place--) {
        sorted[place] = sorted[place - 1];
        sortedRows[place] = sortedRows[place - 1];
      }
      sorted[place] = hashes[at];
      sortedRows[place] = numbers[at];
    }
    long[] addresses = new long[length];
    for (int i = 0; i < length; i++) {
      addresses[i] = rows.address(sortedRows[i]);
    }
    return new ColdMerge.Rows(sorted, addresses, sortedRows);
  }

  private void leave(int at, IntConsumer gone) {
    int row = numbers[at];
    long address = rows.address(row);
    if ((Memory.getInt(address + seenOffset) & IN_FILE) != 0) {
      old--;
    }
    index.erase(hashes[at], Memory.getLong(address + RowLayout.idOffset(config)));
    gone.accept(row);
  }

  /**
   * Bits of the filter for each id for which there is memory, also when as many rows more have left
   * as it takes until all filters are made anew.
   */
  private int filterBits(ColdRows records, int partition, int leaving) {
    long rest = memory / SHARE - bytes() + records.filterBytes();
    // A partition's old summary stays until the new one is complete; rows to come need fences.
    long twice = records.records() / TWICE_SHARE;
    long toCome = most + Math.max(0, twice - records.twice());
    rest -= records.summaryBytes(partition, leaving) + 4 * toCome / records.blockRecords();
    if (rest < 0) {
      throw new IllegalStateException(
          "table %s: got %d rows in a file, for which %d bytes of memory are not enough; give it more"
              .formatted(config.name(), records.records(), memory));
    }
    return (int) Math.min(ColdRows.FILTER_BITS, 8 * rest / (records.records() + twice + most));
  }

  /** Gives the ids whose rows are not in memory, in no useful order. */
  public void forEachId(IdIndex.IdSink sink) {
    behind.ifPresent(WriteBehind::await);
    cold.ifPresent(records ->
        records.forEachId(id -> {
          if (index.find(Hashing.mix(id), id) < 0) {
            sink.accept(id);
          }
        }));
  }

  /** Waits until no thread reads rows, none of which may be freed before. */
  public void await() {
    behind.ifPresent(WriteBehind::await);
  }

  /** After {@link #await}. */
  public void free() {
    cold.ifPresent(ColdRows::free);
    behind = Optional.empty();
    cold = Optional.empty();
    file.close();
    tier.giveBack(memory);
  }
}
