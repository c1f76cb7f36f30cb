package dev.tern.internal.table;

import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowSink;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.policy.CountingFilter;
import dev.tern.internal.table.policy.RowAdmission;
import dev.tern.internal.table.rows.BucketRows;
import dev.tern.internal.table.rows.FallbackRows;
import dev.tern.internal.table.rows.InitialRows;
import dev.tern.internal.table.rows.OptimizerStep;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.Pooling;
import dev.tern.internal.table.rows.RowLayout;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import dev.tern.internal.table.rows.RowReads;
import dev.tern.internal.table.rows.RowSlabs;
import dev.tern.internal.table.rows.RowUpdates;
import dev.tern.internal.table.snapshot.ChangedIds;
import dev.tern.internal.table.snapshot.ChangedRows;
import dev.tern.internal.table.snapshot.RowCopies;
import dev.tern.internal.table.snapshot.RowListener;
import dev.tern.internal.table.snapshot.SortedRows;
import dev.tern.internal.table.tier.RowSpiller;
import dev.tern.internal.table.tier.TierMemory;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * One table without its lock: joins index, rows, policy and file tier. Several threads may find
 * without insert, refresh and pool at once, also while one thread exports. Every other call needs
 * the table for itself.
 */
public final class TableRows {
  private final TableConfig config;
  private final Allocator allocator;
  private final long spare;
  final IdIndex index;
  final RowSlabs rows;
  final Optional<BucketRows> buckets;
  private final InitialRows initial;
  private final RowAdmission residents;

  /** Keeps rows in a file when memory is too small for all of them. */
  final Optional<RowSpiller> tier;

  private final IntConsumer evictor = this::evict;
  private final RowListener watch;
  private final IntConsumer spiller;
  private final RowInserts inserts;

  private final Pooling pooling;
  private final RowReads loops;
  final FallbackRows unknown;
  private final RowUpdates updates;
  private final OptimizerStep rule;
  private final RowTransfer transfer;
  private long version;
  private boolean closed;

  private TableRows(
      TableConfig config, Optional<TierMemory> tier, Allocator allocator, long spare) {
    this.config = config;
    this.allocator = allocator;
    this.spare = spare;
    initial = new InitialRows(config);
    loops = RowReads.fastest(config);
    pooling = new Pooling(config, initial, loops);
    int rowBytes = tier.isPresent() ? RowSpiller.rowBytes(config) : RowLayout.rowBytes(config);
    rows = RowSlabs.of(config, rowBytes, allocator);
    updates = new RowUpdates(config, rows, spare + RowLayout.weightBytes(config));
    int behindHead = config.width() - config.rule().headWidth();
    rule = new OptimizerStep(config.optimizer(), behindHead, config.l2());
    residents = new RowAdmission(config, tier, rows, allocator);
    transfer = new RowTransfer(this, rows, residents, loops);
    try {
      buckets = BucketRows.of(config, rows);
      index = new IdIndex(allocator, config.holder("index"));
    } catch (RuntimeException | Error e) {
      rows.free();
      residents.free();
      throw e;
    }
    try {
      this.tier = tier.map(t -> new RowSpiller(config, t, rows, index, allocator));
    } catch (RuntimeException | Error e) {
      index.free();
      rows.free();
      residents.free();
      throw e;
    }
    unknown = new FallbackRows(config, rows, buckets, loops, spare);
    watch = new RowListener(config, index, rows, allocator, () -> rows.size() + inFile());
    spiller = watch.mover();
    inserts = new RowInserts(index, rows, initial, residents, this.tier, watch);
  }

  /** An empty table; throws {@code IllegalArgumentException} if its config allows no tier. */
  public static TableRows create(
      TableConfig config, Optional<TierMemory> tier, Allocator allocator) {
    tier.ifPresent(_ -> RowSpiller.require(config));
    long spare = allocator.allocate(FallbackRows.spareBytes(config), config.holder("spare rows"));
    try {
      return new TableRows(config, tier, allocator, spare);
    } catch (RuntimeException | Error e) {
      allocator.free(spare);
      throw e;
    }
  }

  public TableConfig config() {
    return config;
  }

  public Allocator allocator() {
    return allocator;
  }

  public long size() {
    return index.size() + inFile();
  }

  /** Whether rows may lie in a file. */
  public boolean hasFile() {
    return tier.isPresent();
  }

  private long inFile() {
    return tier.isPresent() ? tier.get().size() : 0;
  }

  public long bytes() {
    long tierBytes = tier.map(RowSpiller::bytes).orElse(0L);
    long spareBytes = FallbackRows.spareBytes(config);
    return index.bytes() + rows.bytes() + residents.bytes() + spareBytes + tierBytes;
  }

  public TableStatistics statistics() {
    FileStatistics file = tier.map(RowSpiller::statistics).orElse(FileStatistics.NONE);
    return residents.statistics(size(), bytes(), index, file);
  }

  public RowAdmission residents() {
    return residents;
  }

  public long version() {
    return version;
  }

  public void find(RowLookup into, boolean insert) {
    requireOpen("find");
    if (!insert) {
      found(into, 0, locateAll(into));
      return;
    }
    requireStored("find with insert");
    watch.begin();
    try {
      int missing = locateForTraining(into);
      found(into, give(into, missing), missing);
    } finally {
      watch.end();
    }
  }

  private void found(RowLookup lookup, int inserted, int missing) {
    lookup.complete = inserted == missing;
    unknown.read(lookup, inserted, missing, size(), version);
    lookup.found(this, config.name(), size(), version, gone());
  }

  /** Locates the rows of a lookup's ids, for a later {@link #find}. */
  public void lookAhead(RowLookup into) {
    requireOpen("lookAhead");
    into.ahead.found(this, locate(into), index.size(), gone());
  }

  /** After {@link #lookAhead}, reads some rows of the file; returns whether there are more. */
  public boolean readAhead(RowLookup into) {
    requireOpen("lookAhead");
    return tier.isPresent() && tier.get().readAhead(into);
  }

  /** Rows that left memory so far. After a change, an address may belong to another id. */
  long gone() {
    return residents.evicted() + (tier.isPresent() ? tier.get().spilled() : 0);
  }

  /** Locates rows, and brings rows back from the file to memory. */
  private int locateForTraining(RowLookup lookup) {
    int missing = located(lookup);
    if (tier.isPresent()) {
      tier.get().see(lookup);
      missing = tier.get().fetch(lookup, missing, spiller);
    }
    return missing;
  }

  /** Locates rows without a change: the lookup gets copies of the rows in the file. */
  private int locateAll(RowLookup lookup) {
    int missing = located(lookup);
    return tier.isPresent() ? tier.get().copy(lookup, missing) : missing;
  }

  /** {@link #locate}, or its result from {@link #lookAhead}. */
  private int located(RowLookup lookup) {
    int missing = lookup.ahead.take(index.size(), gone());
    return missing >= 0 ? missing : locate(lookup);
  }

  /** Finds rows in memory; returns how many ids have none, and lists these as missing. */
  int locate(RowLookup lookup) {
    int unique = lookup.unique();
    index.find(lookup.distinct, 0, unique);
    return rows.locate(lookup, unique);
  }

  /** Gives rows to the admitted ids among the missing, moves these first, returns their number. */
  private int give(RowLookup lookup, int missing) {
    int known = config.knownOnly() ? lookup.knownFirst(missing) : missing;
    int given = config.rows().isAll() ? known : choose(lookup, known);
    long before = size();
    try {
      if (given > 0) {
        inserts.add(lookup, given);
      }
    } finally {
      residents.settle(lookup.unique(), missing, (int) (size() - before));
    }
    return given;
  }

  private int choose(RowLookup lookup, int missing) {
    watch.seen(lookup);
    residents.see(lookup);
    int wanted = residents.admit(lookup, missing);
    long gone = residents.evicted();
    int room = residents.makeRoom(wanted, size(), evictor);
    if (residents.evicted() != gone) {
      version++;
    }
    if (room < wanted && config.rows().whenFull() == WhenFull.ERROR) {
      throw residents.full(lookup.ids[lookup.missing[room]]);
    }
    return room;
  }

  private void evict(int row) {
    evict(Memory.getLong(rows.address(row) + RowLayout.idOffset(config)), row);
  }

  void evict(long id, int row) {
    watch.gone(id, row);
    index.erase(Hashing.mix(id), id);
    rows.release(row);
  }

  /** Removes the rows of a lookup's ids; returns how many had one. */
  public int erase(RowLookup lookup) {
    requireStored("erase");
    if (tier.isPresent()) {
      throw new IllegalStateException(
          "table %s: got erase of rows of a table with a file, which stay for good; keep rows in memory"
              .formatted(config.name()));
    }
    watch.begin();
    try {
      int missing = locate(lookup);
      residents.leave(lookup);
      for (int u = 0; u < lookup.unique(); u++) {
        if (lookup.rows[u] >= 0) {
          evict(lookup.ids[u], lookup.rows[u]);
        }
      }
      version++;
      return lookup.unique() - missing;
    } finally {
      watch.end();
    }
  }

  /** Finds the rows of a lookup as they are now; ids whose rows were evicted read as unknown. */
  public void refresh(RowLookup lookup) {
    requireOpen("refresh");
    lookup.requireOf(this, config.name(), "refresh");
    locateAgain(lookup, false);
    unknown.readAgain(lookup, size(), version);
    lookup.found(this, config.name(), size(), version, gone());
  }

  /**
   * Locates rows again if some may have moved; ids whose rows were evicted have none to update. For
   * an {@code update}, rows in the file come back to memory, else the lookup gets copies.
   */
  private void locateAgain(RowLookup lookup, boolean update) {
    if (!lookup.isBefore(gone()) && lookup.copied == 0) {
      return;
    }
    // No other call may decide whether this lookup updates an id or moves rows to the file. So an
    // id that had no row still has none here, and an id that read a bucket reads it again.
    boolean stay = update || tier.isPresent();
    int[] without = stay ? lookup.reading(RowLookup.NONE) : new int[0];
    int[] hashed = stay ? lookup.reading(RowLookup.BUCKET) : new int[0];
    long before = lookup.version();
    lookup.findAgain();
    int missing = update ? locateForTraining(lookup) : locateAll(lookup);
    lookup.complete = missing == 0 && without.length == 0 && hashed.length == 0;
    unknown.leaveOut(lookup, lookup.missing, missing);
    unknown.leaveOut(lookup, without, without.length);
    unknown.read(lookup, hashed, size(), version);
    lookup.found(this, config.name(), size(), before, gone());
  }

  /** Combines the rows of bags {@code [from, to)}. */
  public void pool(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    requireReadable("pool", lookup);
    bags.check(config.name(), from, to, lookup.count());
    poolFound(lookup, bags, from, to, out);
  }

  /** Combines rows of a lookup that was just found, for bags that were checked. */
  public void poolFound(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    pooling.pool(lookup, bags, from, to, out);
    Reference.reachabilityFence(lookup); // it owns the copies of rows
  }

  /** Copies the row of every position. */
  public void ragged(RowLookup lookup, long out) {
    requireReadable("ragged", lookup);
    pooling.ragged(lookup, out);
    Reference.reachabilityFence(lookup);
  }

  /** Applies gradients of all bags, and ends the step. */
  public void apply(RowLookup lookup, PooledBags bags, RowParts gradients, float lr, long step) {
    requireStored("apply");
    lookup.requireOf(this, config.name(), "apply");
    if (!(lr >= 0 && lr < Float.POSITIVE_INFINITY) || step < 1) {
      throw new IllegalArgumentException(
          "table %s: got learning rate %s in step %d, expected 0 or more in step 1 or later"
              .formatted(config.name(), lr, step));
    }
    bags.check(config.name(), 0, bags.count, lookup.count());
    rule.at(lr, step);
    lookup.separate();
    watch.begin();
    try {
      locateAgain(lookup, true);
      watch.updated(lookup);
      updates.run(lookup, bags, gradients, rule);
      if (buckets.isPresent() && !lookup.complete) {
        RowLookup read = buckets.get().group(lookup, bags);
        watch.bucketsUpdated(read);
        updates.runGrouped(read, bags.count, gradients, rule);
      }
      updates.runOthers(rule);
      residents.endStep(step, evictor);
    } finally {
      watch.end();
    }
    version++;
  }

  /** Gives every row in ascending (signed) order of id. */
  public void exportTo(RowSink sink) {
    requireExportable();
    transfer.export(new SortedRows(this::forEachEntry, size()), sink);
  }

  /** Gives rows as they are stored: as they are, or with {@code copies} as they were. */
  public void exportBlocks(SortedRows sorted, Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    transfer.export(sorted, copies, sink);
  }

  /** Gives the bucket rows, as they are or with {@code copies} as they were. */
  public void exportBuckets(Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    buckets.ifPresent(b -> transfer.export(b, copies, sink));
  }

  /** Takes what {@link #exportBuckets} gave; returns whether it fits. */
  public boolean restoreBuckets(RowBlock.Source source) {
    requireEmpty();
    version++;
    return buckets.map(b -> transfer.restore(b, source, watch)).orElse(false);
  }

  /** Whether a snapshot can copy each row before it changes: not all in a step, none in a file. */
  public boolean canKeepRows() {
    return tier.isEmpty() && watch.canKeepRows();
  }

  public RowListener watch() {
    return watch;
  }

  public void requireExportable() {
    requireStored("export");
  }

  /** Gives each id with its row, in no useful order. */
  public void forEachEntry(IdIndex.EntrySink sink) {
    long next = 0;
    do {
      next = index.forEachEntry(next, sink);
    } while (next != 0);
    tier.ifPresent(t -> t.forEachId(id -> sink.accept(id, RowLookup.COPY)));
  }

  /** Gives the rows of {@code ids}, each of which must have one, in their order. */
  public void exportTo(long[] ids, RowSink sink) {
    requireExportable();
    transfer.export(ids, ids.length, sink);
  }

  /** Starts to note what changes, and forgets what changed before. */
  public void trackChanges() {
    requireStored("trackChanges");
    watch.trackChanges();
    residents.filter().ifPresent(CountingFilter::trackChanges);
  }

  public ChangedRows changes() {
    requireOpen("changes");
    ChangedIds noted = watch.changes();
    return new ChangedRows(noted.ids(), noted.count(), this::locateAll);
  }

  /** Fills an empty table; if it fails, the table holds a part of the rows. */
  public void importFrom(RowSource source) {
    requireEmpty();
    transfer.importFrom(source);
    version++;
  }

  /** Fills an empty table with rows as they are stored. */
  public void importBlocks(long count, RowBlock.Source source) {
    requireEmpty();
    if (tier.isEmpty()) {
      index.expect(count);
    }
    transfer.importFrom(source, tier.isEmpty());
    version++;
  }

  private void requireEmpty() {
    requireOpen("import");
    if (size() > 0) {
      throw new IllegalStateException(
          "table %s: got an import into %d rows, expected an empty table; create a new one"
              .formatted(config.name(), size()));
    }
  }

  /** Makes an undefined row for each id, in order. */
  void importRows(long[] ids, int count, RowLookup lookup) {
    lookup.fill(ids, count);
    locateAll(lookup);
    for (int i = 0; i < count; i++) {
      if (lookup.inverse[i] != i || lookup.rows[i] != RowLookup.NONE) {
        throw new IllegalArgumentException(
            "table %s: got id %d twice in an import, expected each id once; the source is damaged"
                .formatted(config.name(), ids[i]));
      }
    }
    inserts.addUndefined(lookup);
  }

  /** Makes an undefined row for each id, in order. The ids are distinct, and none has a row. */
  void importNew(long[] ids, int count, RowLookup lookup) {
    lookup.fillDistinct(ids, count);
    Arrays.fill(lookup.rows, 0, count, RowLookup.NONE);
    index.touch(lookup.distinct, count);
    inserts.addUndefined(lookup);
  }

  /** Notes that rows changed, other than by a step. */
  void changed() {
    version++;
  }

  /** Gives memory and file back; a second call does nothing. */
  public void close() {
    if (!closed) {
      closed = true;
      tier.ifPresent(RowSpiller::await);
      index.free();
      rows.free();
      residents.free();
      allocator.free(spare);
      // Last: another table may take the memory of the tier at once.
      tier.ifPresent(RowSpiller::free);
    }
  }

  private void requireReadable(String operation, RowLookup lookup) {
    requireOpen(operation);
    lookup.requireOf(this, config.name(), operation);
    lookup.requireAsOf(version, gone(), operation);
  }

  /** Throws if the table is closed, or its rows are for reading alone. */
  private void requireStored(String operation) {
    requireOpen(operation);
    if (config.format() != RowFormat.STORED) {
      throw new IllegalStateException(
          "table %s: got %s of rows of %s, which are for reading alone; load the table with rows as stored"
              .formatted(config.name(), operation, config.format()));
    }
  }

  public void requireOpen(String operation) {
    if (closed) {
      throw new IllegalStateException(
          "table %s: got %s after close; open a new table".formatted(config.name(), operation));
    }
  }
}
