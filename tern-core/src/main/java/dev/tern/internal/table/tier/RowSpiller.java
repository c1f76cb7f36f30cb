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
 * Moves rows of a table to a file when memory has no room for them. Each row in memory is followed
 * by its id and by the number of the lookup that saw it last. When a batch needs room, the next
 * partition of {@link ColdRows} is taken: of its rows in memory, the half that was seen longest ago
 * leaves. The index lists rows by the same bits of the hash that name partitions. A row that
 * training looks up comes back to memory; scoring copies rows instead.
 *
 * <p>Another thread reads and writes the file ({@link WriteBehind}). Rows that leave stay in memory
 * until they are in the file, so they leave before their room is needed, and some room is reserved
 * for them. Which rows leave, and when, does not depend on the speed of that thread.
 */
public final class RowSpiller {
  /** About how many rows of a partition are in memory. */
  private static final int PARTITION_ROWS = 256;

  /** Rows in memory at least: so many may be imported at once. */
  public static final int LEAST_ROWS = 1024;

  /** {@link ColdRows} keeps its summaries in 1 / SHARE of the memory. */
  private static final int SHARE = 8;

  /** Memory grows by 1 / GROWTH; when less is left, by down to 1 / GROWTH^2. */
  private static final int GROWTH = 4;

  /** Most rows on their way to the file. */
  private static final int MOST_LEAVING = 1 << 14;

  /** Rows on their way to the file take at most 1 / LEAVING_SHARE of the room for rows. */
  private static final int LEAVING_SHARE = 16;

  /**
   * The partitions under merge hold at most 1 / TWICE_SHARE of all records, because memory holds
   * two summaries of each of them; one partition is always allowed.
   */
  private static final int TWICE_SHARE = LEAVING_SHARE / 2;

  /** Ids that one call of {@link #readAhead} looks for in the file. */
  private static final int READ_AHEAD = 16;

  /** The rows that one lookup reads ahead take at most 1 / AHEAD_SHARE of the memory. */
  private static final int AHEAD_SHARE = 32;

  /** The lowest bit of the word after a row's id: the file has a record of the id. */
  private static final int IN_FILE = 1;

  private final TableConfig config;
  private final TierMemory tier;
  private final RowSlabs rows;
  private final IdIndex index;
  private final Allocator allocator;
  private final String holder;
  private final ScratchFile file;
  private final int idOffset;

  /** Where the word after a row's id lies: the lookup that saw it last, and {@link #IN_FILE}. */
  private final int seenOffset;

  /** Bytes of memory taken of the tier. */
  private long memory;

  /** Rows that they are enough for. */
  private int most;

  /** Writes rows to the file; none while all rows are in memory. */
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

  // The rows in memory of one partition: their hashes and numbers.
  private final IdIndex.RowSink collector = this::collect;
  private long[] hashes = new long[2 * PARTITION_ROWS];
  private int[] numbers = new int[2 * PARTITION_ROWS];
  private int count;

  /** Of the rows that may leave: lookups since the row was seen, then its place in the arrays. */
  private long[] order = new long[2 * PARTITION_ROWS];

  private int movable;

  public RowSpiller(
      TableConfig config, TierMemory tier, RowSlabs rows, IdIndex index, Allocator allocator) {
    this.config = config;
    this.tier = tier;
    this.rows = rows;
    this.index = index;
    this.allocator = allocator;
    idOffset = RowLayout.idOffset(config);
    seenOffset = idOffset + Long.BYTES;
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
   * Checks that a table of this configuration may have a file tier.
   *
   * @throws IllegalArgumentException if not
   */
  public static void require(TableConfig config) {
    String wrong = "";
    if (config.updatesAllRows() && !config.rule().updatesAllRows()) {
      wrong = "l2 of all rows, which updates them in each step; take l2 of the rows of a batch";
    } else if (config.updatesAllRows()) {
      wrong = "an optimizer that updates all rows in each step; use lazy Adam";
    } else if (!(config.rows().eviction() instanceof Eviction.Never)) {
      wrong = config.rows().eviction() + "; a table with a file keeps every row";
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

  /** Rows that always fit into so many bytes, even while the index or the slabs grow. */
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

  /** Bytes of memory, without rows and index. */
  public long bytes() {
    return behind.map(writes -> writes.records().bytes()).orElse(0L);
  }

  /** Rows that are not in memory. */
  public long size() {
    return behind.isPresent() ? behind.get().records().records() - old : 0;
  }

  /** How often a row left memory. */
  public long spilled() {
    return spilled;
  }

  public FileStatistics statistics() {
    long written = behind.map(writes -> writes.records().written()).orElse(0L);
    return new FileStatistics(size(), file.bytes(), spilled, fetched, written, file.read());
  }

  /** Begins a lookup in training: the rows in memory that it found stay until the next. */
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

  /** Completes the new rows of the first {@code given} ids that were missing. */
  public void enter(RowLookup lookup, int given) {
    for (int i = 0; i < given; i++) {
      int u = lookup.missing[i];
      Memory.setLong(lookup.addresses[u] + idOffset, lookup.ids[u]);
      Memory.setInt(lookup.addresses[u] + seenOffset, now << 1);
    }
  }

  /**
   * Brings rows from the file back to memory.
   *
   * @param missing ids of the lookup without a row in memory
   * @param gone takes the numbers of rows that leave to make room
   * @return how many ids are still missing; they come first among the missing
   */
  public int fetch(RowLookup lookup, int missing, IntConsumer gone) {
    if (behind.isEmpty()) {
      return missing;
    }
    ColdRows records = behind.get().records();
    int still = 0;
    for (int i = 0; i < missing; i++) {
      int u = lookup.missing[i];
      makeRoom(1, gone);
      long record = record(records, lookup, u);
      if (record == ColdRows.NONE) {
        lookup.missing[still++] = u;
      } else {
        index.reserve(lookup.hashes[u]);
        int row = rows.add();
        long address = rows.address(row);
        Memory.copy(record, address, records.recordBytes());
        Memory.setInt(address + seenOffset, now << 1 | IN_FILE);
        index.insert(lookup.hashes[u], lookup.ids[u], row);
        lookup.rows[u] = row;
        lookup.addresses[u] = address;
        old++;
        fetched++;
      }
    }
    return still;
  }

  /** The record of a distinct id, perhaps read ahead. */
  private static long record(ColdRows records, RowLookup lookup, int u) {
    long hash = lookup.hashes[u];
    return lookup.ahead.knows(u, records.writes(hash))
        ? lookup.ahead.record(u)
        : records.find(hash, lookup.ids[u], records.scratch());
  }

  /**
   * Reads the next records of the ids that a lookup ahead found missing. Several threads may do so
   * while nothing changes, each with its own lookup.
   *
   * @return whether there are more
   */
  public boolean readAhead(RowLookup lookup) {
    if (behind.isEmpty()) {
      return false;
    }
    ColdRows records = behind.get().records();
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

  /**
   * As {@link #fetch}, but the lookup gets copies of the rows and nothing else changes. Several
   * threads may do so, each with its own lookup.
   */
  public int copy(RowLookup lookup, int missing) {
    if (behind.isEmpty()) {
      return missing;
    }
    ColdRows records = behind.get().records();
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
   * @param gone takes the numbers of rows that leave to make room
   */
  public void makeRoom(int wanted, IntConsumer gone) {
    while (index.size() + wanted > most - reserve() && (grow() || spill(gone))) {}
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

  /** Rows that have left for the file but are still in memory. */
  public int leaving() {
    return behind.isPresent() ? behind.get().rows() : 0;
  }

  /** Rows that room is reserved for while they leave. */
  private int reserve() {
    return behind.isPresent() ? Math.min(MOST_LEAVING, most / LEAVING_SHARE) : 0;
  }

  /** Takes more memory, if there is any left. */
  private boolean grow() {
    long more = tier.take(memory / GROWTH / GROWTH, memory / GROWTH);
    memory += more;
    most = more == 0 ? most : mostRows(config, memory - memory / SHARE);
    return more > 0;
  }

  private WriteBehind writes() {
    if (behind.isEmpty()) {
      int bits = 31 - Integer.numberOfLeadingZeros(Math.max(1, most / PARTITION_ROWS));
      bits = Math.min(bits, IdIndex.BUCKET_BITS);
      long buffers = memory / SHARE / 4;
      ColdRows records = new ColdRows(idOffset, bits, buffers, file, allocator, holder);
      behind = Optional.of(new WriteBehind(records, tier.writer()));
    }
    return behind.get();
  }

  /** Spills from the next partition that has rows to spare; returns whether there was one. */
  private boolean spill(IntConsumer gone) {
    WriteBehind writes = writes();
    for (int tried = 0; !stuck && tried < writes.records().partitions(); tried++) {
      if (spillNext(writes, gone)) {
        return true;
      }
    }
    stuck = true;
    return false;
  }

  /**
   * Spills rows of the next partition; returns whether there were any. Partitions are visited in
   * the order of their reversed bits: of 8, that is 0, 4, 2, 6, 1, 5, 3, 7. A partition is fullest
   * just before its visit, and full partitions side by side would overflow buckets of the index
   * that lie side by side.
   */
  private boolean spillNext(WriteBehind writes, IntConsumer gone) {
    ColdRows records = writes.records();
    int partitions = records.partitions();
    int partition = (int) ((Integer.reverse(hand) & 0xFFFFFFFFL) * partitions >>> 32);
    int width = (1 << IdIndex.BUCKET_BITS) / partitions;
    count = 0;
    movable = 0;
    index.forEachRow(partition * width, width, collector);
    int leaving = Math.min(movable, (count + 1) / 2);
    if (leaving > 0) {
      endMerges(writes, partition, leaving);
      Arrays.sort(order, 0, movable);
      ColdMerge.Rows oldest = sortedByHash(movable - leaving);
      int replaced = 0;
      for (long address : oldest.addresses()) {
        replaced += Memory.getInt(address + seenOffset) & IN_FILE;
      }
      int bits = filterBits(records, partition, leaving);
      writes.add(records.begin(partition, oldest, replaced, bits));
      old -= replaced;
      for (int i = 0; i < leaving; i++) {
        index.erase(oldest.hashes()[i], Memory.getLong(oldest.addresses()[i] + idOffset));
        gone.accept(oldest.numbers()[i]);
      }
      spilled += leaving;
    }
    hand = hand + 1 == partitions ? 0 : hand + 1;
    return leaving > 0;
  }

  /** Ends merges until one may begin of {@code leaving} rows of a partition. */
  private void endMerges(WriteBehind writes, int partition, int leaving) {
    ColdRows records = writes.records();
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

  /** The rows that {@code order} has from one place on, by their hashes. */
  private ColdMerge.Rows sortedByHash(int from) {
    int length = movable - from;
    // With the highest bit flipped, the signed order of numbers is the unsigned order of hashes.
    long[] sorted = new long[length];
    for (int i = 0; i < length; i++) {
      sorted[i] = hashes[(int) order[from + i]] ^ Long.MIN_VALUE;
    }
    Arrays.sort(sorted);
    long[] addresses = new long[length];
    int[] sortedNumbers = new int[length];
    for (int i = from; i < movable; i++) {
      int at = (int) order[i];
      int place = Arrays.binarySearch(sorted, hashes[at] ^ Long.MIN_VALUE);
      sortedNumbers[place] = numbers[at];
      addresses[place] = rows.address(numbers[at]);
    }
    for (int i = 0; i < length; i++) {
      sorted[i] ^= Long.MIN_VALUE;
    }
    return new ColdMerge.Rows(sorted, addresses, sortedNumbers);
  }

  /**
   * Bits for each id in a new filter: as many as memory has room for, even after all the rows have
   * left that leave before every filter is made anew.
   */
  private int filterBits(ColdRows records, int partition, int leaving) {
    long rest = memory / SHARE - bytes() + records.filterBytes();
    // A partition's old summary stays until the new one is complete. Rows to come need fences, too.
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
    if (behind.isPresent()) {
      await();
      behind
          .get()
          .records()
          .forEachId(id -> {
            if (index.find(Hashing.mix(id), id) < 0) {
              sink.accept(id);
            }
          });
    }
  }

  /** Waits until no other thread reads rows, so that they may be freed. */
  public void await() {
    behind.ifPresent(WriteBehind::await);
  }

  /** Gives memory and file back; after {@link #await}. */
  public void free() {
    behind.ifPresent(writes -> writes.records().free());
    behind = Optional.empty();
    file.close();
    tier.giveBack(memory);
  }
}
