package dev.tern.internal.table;

import dev.tern.embedding.EmbeddingTable;
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
import dev.tern.internal.table.rows.RowLoops;
import dev.tern.internal.table.rows.RowParts;
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
 * The rows of an {@link EmbeddingTable}, whose calls come here once they may begin. Any number of
 * threads may find without insert, refresh, pool and copy while nothing else is done, and while one
 * thread exports: these leave everything here as it is. All else is for one thread at a time.
 */
public final class TableRows {
  private final TableConfig config;
  private final Allocator allocator;
  private final long spare;
  private final IdIndex index;
  private final RowSlabs rows;
  private final Optional<BucketRows> buckets;
  private final InitialRows initial;
  private final RowAdmission residents;

  /** Has rows lie in a file, if memory is too small for all. */
  private final Optional<RowSpiller> tier;

  /** Whether every id has a row for good. */
  private final boolean all;

  private final IntConsumer evictor = this::evict;
  private final RowListener watch;
  private final IntConsumer spiller;
  private final RowInserts inserts;

  private final Pooling pooling;
  private final RowLoops loops;
  private final FallbackRows unknown;
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
    loops = RowLoops.fastest(config);
    pooling = new Pooling(config, initial, loops);
    int rowBytes = tier.isPresent() ? RowSpiller.rowBytes(config) : RowLayout.rowBytes(config);
    rows = RowSlabs.of(config, rowBytes, allocator);
    updates = new RowUpdates(config, rows, spare + RowLayout.weightBytes(config));
    int behindHead = config.width() - config.rule().headWidth();
    rule = new OptimizerStep(config.optimizer(), behindHead, config.l2());
    residents = new RowAdmission(config, tier, rows, allocator);
    transfer = new RowTransfer(this, rows, residents, loops);
    all = config.rows().isAll();
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

  /** An empty table; with a {@code tier} of such a {@code config} as can have one. */
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

  /** Rows of these that are not in memory. */
  private long inFile() {
    return tier.isPresent() ? tier.get().size() : 0;
  }

  public long bytes() {
    long tierBytes = tier.map(RowSpiller::bytes).orElse(0L);
    return index.bytes()
        + rows.bytes()
        + residents.bytes()
        + FallbackRows.spareBytes(config)
        + tierBytes;
  }

  public TableStatistics statistics() {
    FileStatistics file = tier.map(RowSpiller::statistics).orElse(FileStatistics.NONE);
    return residents.statistics(size(), bytes(), index, file);
  }

  public RowAdmission residents() {
    return residents;
  }

  /** Counts the changes to rows that exist. */
  public long version() {
    return version;
  }

  /** Finds the rows of the ids that a lookup was filled with. */
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
    lookup.found(this, config.name(), version, gone());
  }

  /** Locates the rows of the ids that a lookup was filled with, for a {@link #find} to come. */
  public void lookAhead(RowLookup into) {
    requireOpen("lookAhead");
    into.ahead.found(this, locate(into), index.size(), gone());
  }

  /** Then reads rows of a file that some of these ids have; whether more are to be read. */
  public boolean readAhead(RowLookup into) {
    requireOpen("lookAhead");
    return tier.isPresent() && tier.get().readAhead(into);
  }

  /** Rows that went so far, for good or out of memory: addresses found before may be others'. */
  private long gone() {
    return residents.evicted() + (tier.isPresent() ? tier.get().spilled() : 0);
  }

  /** Locates rows, and brings those of a file back to memory. */
  private int locateForTraining(RowLookup lookup) {
    int missing = located(lookup);
    if (tier.isPresent()) {
      tier.get().see(lookup);
      missing = tier.get().fetch(lookup, missing, spiller);
    }
    return missing;
  }

  /** Locates rows, where nothing may change: of those in a file the lookup has copies. */
  private int locateAll(RowLookup lookup) {
    int missing = located(lookup);
    return tier.isPresent() ? tier.get().copy(lookup, missing) : missing;
  }

  /** The same as {@link #locate}, which was perhaps done ahead. */
  private int located(RowLookup lookup) {
    int missing = lookup.ahead.take(index.size(), gone());
    return missing >= 0 ? missing : locate(lookup);
  }

  /** Finds rows of a lookup's distinct ids; returns how many have none, listed as missing. */
  private int locate(RowLookup lookup) {
    int unique = lookup.unique();
    int missing = 0;
    for (int from = 0; from < unique; from += IdIndex.GROUP) {
      int to = Math.min(unique, from + IdIndex.GROUP);
      index.find(lookup.distinct, from, to);
      missing = rows.locate(lookup, from, to, missing);
    }
    return missing;
  }

  /**
   * Gives rows to those of the first {@code missing} ids that are to have one, and moves them to
   * the front.
   *
   * @return how many they are
   */
  private int give(RowLookup lookup, int missing) {
    int given = all ? missing : choose(lookup, missing);
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

  /** Takes a row from its id, which it holds, for others. */
  private void evict(int row) {
    evict(Memory.getLong(rows.address(row) + RowLayout.idOffset(config)), row);
  }

  private void evict(long id, int row) {
    watch.gone(id, row);
    index.erase(Hashing.mix(id), id);
    rows.release(row);
  }

  /** Takes their rows from the ids that a lookup was filled with; returns how many had one. */
  public int erase(RowLookup lookup) {
    requireOpen("erase");
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

  /** Takes the rows of a lookup as they are now; ids whose rows went read as unknown. */
  public void refresh(RowLookup lookup) {
    requireOpen("refresh");
    lookup.requireOf(this, config.name(), "refresh");
    locateAgain(lookup, false);
    unknown.readAgain(lookup, size(), version);
    lookup.found(this, config.name(), version, gone());
  }

  /**
   * Locates rows anew that may lie elsewhere now; ids whose rows went have none to read or update.
   *
   * @param update whether those in a file come back to memory, or the lookup has copies
   */
  private void locateAgain(RowLookup lookup, boolean update) {
    if (!lookup.isBefore(gone()) && lookup.copied == 0) {
      return;
    }
    // Whether an id is updated, and what moves rows to a file, must not depend on others: ids that
    // had no row have none here, and those that read a bucket do so again.
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
    lookup.found(this, config.name(), before, gone());
  }

  /** Combines the rows of bags {@code [from, to)}. */
  public void pool(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    requireReadable("pool", lookup);
    bags.check(config.name(), from, to, lookup.count());
    poolFound(lookup, bags, from, to, out);
  }

  /** As {@link #pool}, for a lookup just found and bags that were checked. */
  public void poolFound(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    try {
      pooling.pool(lookup, bags, from, to, out);
    } finally {
      Reference.reachabilityFence(lookup); // its copies of rows go with it
    }
  }

  /** Copies the row of every position. */
  public void ragged(RowLookup lookup, long out) {
    requireReadable("ragged", lookup);
    try {
      pooling.ragged(lookup, out);
    } finally {
      Reference.reachabilityFence(lookup);
    }
  }

  /** Applies gradients of all bags, and ends the step. */
  public void apply(RowLookup lookup, PooledBags bags, RowParts gradients, float lr, long step) {
    requireOpen("apply");
    requireStored("apply");
    lookup.requireOf(this, config.name(), "apply");
    if (!(lr >= 0 && lr < Float.POSITIVE_INFINITY) || step < 1) {
      throw new IllegalArgumentException(
          "table %s: got learning rate %s in step %d, expected 0 or more in step 1 or later"
              .formatted(config.name(), lr, step));
    }
    bags.check(config.name(), 0, bags.count, lookup.count());
    rule.at(lr, step);
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

  /** Gives every row, weights, optimizer state and metadata, in ascending (signed) order of id. */
  public void exportTo(RowSink sink) {
    requireExportable();
    transfer.export(new SortedRows(this::forEachEntry, size()), sink);
  }

  /** Gives rows as they are stored, and as {@code copies} say that they were. */
  public void exportBlocks(SortedRows sorted, Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    if (copies.isPresent()) {
      transfer.export(sorted, copies.get(), sink);
    } else {
      transfer.export(sorted, tier.isEmpty(), sink);
    }
  }

  /** Gives the bucket rows, as {@code copies} say that they were. */
  public void exportBuckets(Optional<RowCopies> copies, Consumer<RowBlock> sink) {
    buckets.ifPresent(b -> transfer.export(b, copies, sink));
  }

  /** Takes what that gave; whether it fits. */
  public boolean restoreBuckets(RowBlock.Source source) {
    requireEmpty();
    version++;
    return buckets.map(b -> transfer.restore(b, source, watch)).orElse(false);
  }

  /** Whether rows can stay as they are for some while others change: all do not, nor in a file. */
  public boolean canKeepRows() {
    return tier.isEmpty() && watch.canKeepRows();
  }

  public RowListener watch() {
    return watch;
  }

  /** Refuses an export. */
  public void requireExportable() {
    requireOpen("export");
    requireStored("export");
  }

  /** Gives all ids with their rows, each once, in no useful order. */
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

  /** From now on notes what changes. */
  public void trackChanges() {
    requireOpen("trackChanges");
    requireStored("trackChanges");
    watch.trackChanges();
    residents.filter().ifPresent(CountingFilter::trackChanges);
  }

  /** What changed since {@link #trackChanges}; the ids only where they are listed. */
  public ChangedRows changes() {
    requireOpen("changes");
    ChangedIds noted = watch.changes();
    return new ChangedRows(noted.ids(), noted.count(), this::locateAll);
  }

  /** Fills an empty table; when it fails the table holds part of the rows. */
  public void importFrom(RowSource source) {
    requireEmpty();
    transfer.importFrom(source);
    version++;
  }

  /** Likewise, of rows as they are stored. */
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

  /** Makes an undefined row for each id, in order; all are distinct, and none has one. */
  void importNew(long[] ids, int count, RowLookup lookup) {
    lookup.fillDistinct(ids, count);
    Arrays.fill(lookup.rows, 0, count, RowLookup.NONE);
    index.touch(lookup.distinct, count);
    inserts.addUndefined(lookup);
  }

  /** Gives the memory back, and the file; of use once. */
  public void close() {
    if (!closed) {
      closed = true;
      tier.ifPresent(RowSpiller::await);
      index.free();
      rows.free();
      residents.free();
      allocator.free(spare);
      // Last, as others may take what it gives back.
      tier.ifPresent(RowSpiller::free);
    }
  }

  /** Checks that the index is sound and names every row in memory. For tests. */
  public void requireSound() {
    index.requireSound();
    int leaving = tier.isPresent() ? tier.get().leaving() : 0;
    if (rows.inUse() - config.unknown().buckets() - leaving != index.size()) {
      throw new IllegalStateException(
          "table " + config.name() + ": got " + rows.inUse() + " rows of " + index.size() + " ids");
    }
  }

  private void requireReadable(String operation, RowLookup lookup) {
    requireOpen(operation);
    lookup.requireOf(this, config.name(), operation);
    lookup.requireAsOf(version, gone(), operation);
  }

  /** Refuses what needs weights as training left them, or optimizer state. */
  private void requireStored(String operation) {
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
