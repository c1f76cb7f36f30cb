package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSink;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.TableLock;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.TableRows;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A table of embedding rows by 64-bit id; every id is legal. Rows appear when training first meets
 * their id, or as {@link TableConfig#rows} says, with initial weights that depend on (seed, table
 * index, id) alone.
 *
 * <p>A training step is {@link #find} with {@code insert}, {@link #pool} or {@link #ragged} for the
 * forward pass, {@link #apply} for the gradients. Scoring is the same without insert and apply.
 *
 * <h2>Threads</h2>
 *
 * Any number of threads may use a table at once, each with its own {@link Lookup}. Every call is
 * atomic: calls have the effect that they would have one after the other, in an order in which
 * whatever ended before another began comes first. So
 *
 * <ul>
 *   <li>an id that several threads insert at once gets one row, and two ids never share one;
 *   <li>who reads an id sees no row or a whole one: with its initial weights, or as it was before
 *       or after an update, never a mixture. {@link #findAndPool} reads all rows of its batch
 *       between the same two changes;
 *   <li>a lookup stands for the rows as they were found. {@link #pool} and {@link #ragged} refuse
 *       it after an update, or when rows were evicted; see {@link #version}. New rows do not hurt
 *       it, and what unknown ids read as stays;
 *   <li>an evicted row is never read or updated as that of the id that has its place now;
 *   <li>{@link #exportTo} and {@link #snapshot} give the table of one moment;
 *   <li>{@link #statistics} are those of one moment, so that they add up;
 *   <li>{@link #close} waits for the calls that have begun; later ones that need rows are refused;
 *   <li>a call that throws ends like any other, and nobody waits for it. Only an insert that memory
 *       runs out for may have given rows, whole ones, to some of its ids.
 * </ul>
 *
 * Find without insert, refresh, pool, ragged and what only says something run side by side; they
 * change nothing and never wait for each other, but for a new {@link UnknownRow#MEAN}, which one of
 * them finds. They take no lock but count themselves in and out, at counts that few threads share:
 * while another thread inserts or updates they wait for that batch. Calls that change the table and
 * exports take turns, first come, first served; readers do not wait for exports, nor changes that
 * wait for one. A {@link #snapshot} is a change as short as a batch, and changes go on while it is
 * read. The sink of an export may read the table; any other call from within a source or sink is
 * refused.
 *
 * <p>With several threads that train one table, rows depend on the order of their calls, and steps
 * are to be counted over all of them. With one no result depends on how many threads read.
 * Different tables are independent. Several threads may pool one lookup at once; otherwise a lookup
 * is for one thread at a time.
 */
public final class EmbeddingTable implements AutoCloseable {
  private final TableRows rows;
  private final TableLock lock;
  private final TableConfig config;

  private final TableSnapshots snapshots;

  private EmbeddingTable(TableRows rows) {
    this.rows = rows;
    config = rows.config();
    lock = new TableLock(config.name());
    snapshots = new TableSnapshots(rows, lock);
  }

  /** An empty table whose memory comes out of {@code allocator}'s budget. */
  public static EmbeddingTable create(TableConfig config, Allocator allocator) {
    return new EmbeddingTable(TableRows.create(config, Optional.empty(), allocator));
  }

  /**
   * An empty table that keeps rows in a file while its memory is too small for them all. Rows in
   * use are in memory, and every result is that of a table without a file. A batch must not have
   * more different ids than memory has room for rows. Such a table has no eviction, an optimizer
   * that updates rows in a batch alone, and unknown ids do not read as the mean.
   *
   * @throws IllegalArgumentException if that cannot be, or too little memory is left in the tier
   * @throws IllegalStateException if too little is left to count ids; later, if ids are more than
   *     the admission expects, or a batch has more than memory has room for
   * @throws java.io.UncheckedIOException if no file can be made; later, from whatever reads or
   *     writes it, if the disk fails or is full
   */
  public static EmbeddingTable create(TableConfig config, FileTier tier, Allocator allocator) {
    return new EmbeddingTable(TableRows.create(config, Optional.of(tier.shared), allocator));
  }

  public TableConfig config() {
    return config;
  }

  Allocator allocator() {
    return rows.allocator();
  }

  /** Rows. */
  public long size() {
    lock.begin(Use.READ);
    try {
      return rows.size();
    } finally {
      lock.end(Use.READ);
    }
  }

  /** Bytes of memory held for rows, state, index and what {@link TableConfig#rows} needs. */
  public long bytes() {
    lock.begin(Use.READ);
    try {
      return rows.bytes();
    } finally {
      lock.end(Use.READ);
    }
  }

  /** What the table holds, and what became of the ids that training looked up. */
  public TableStatistics statistics() {
    lock.begin(Use.READ);
    try {
      return rows.statistics();
    } finally {
      lock.end(Use.READ);
    }
  }

  /** What the table remembers beside its rows. */
  public TableHistory history() {
    return new TableHistory(rows, lock);
  }

  /**
   * Counts the changes to rows that exist. Values read from a lookup stay true while this number
   * does; afterwards {@link #pool} refuses the lookup until {@link #refresh}.
   */
  public long version() {
    lock.begin(Use.READ);
    try {
      return rows.version();
    } finally {
      lock.end(Use.READ);
    }
  }

  /**
   * Finds the rows of {@code ids[0 .. count)}.
   *
   * @param into takes the result
   * @param insert true, in training: ids without a row get one, or are counted, as {@link
   *     TableConfig#rows} says; false: the table does not change. Ids that have no row then read as
   *     {@link TableConfig#unknown()}; where that is the mean of rows, finding it walks all of them
   * @throws IllegalStateException if there is no room for a row and {@link WhenFull#ERROR}
   */
  public void find(long[] ids, int count, Lookup into, boolean insert) {
    into.found.fill(ids, count);
    Use use = insert ? Use.CHANGE : Use.READ;
    lock.begin(use);
    try {
      rows.find(into.found, insert);
    } finally {
      lock.end(use);
    }
  }

  /**
   * Looks {@code ids[0 .. count)} up ahead, while the batch before them is still at work: which
   * distinct ids there are, where their rows lie, and of rows in a file their content. The table
   * does not change, and no result depends on it; {@link #find(Lookup, boolean)} finds anew what
   * does not hold any more. It runs beside other reads, in short turns, so that changes need not
   * wait for it.
   *
   * @param into takes what is found; of no other use until then
   */
  public void lookAhead(long[] ids, int count, Lookup into) {
    lookAhead(ids, count, into.found, () -> true);
  }

  /**
   * Likewise, of rows in a file as many as can be read while it may go on.
   *
   * @param goOn asked again and again
   */
  void lookAhead(long[] ids, int count, RowLookup into, BooleanSupplier goOn) {
    into.fill(ids, count);
    lock.begin(Use.READ);
    try {
      rows.lookAhead(into);
    } finally {
      lock.end(Use.READ);
    }
    boolean more = true;
    while (more && goOn.getAsBoolean()) {
      lock.begin(Use.READ);
      try {
        more = rows.readAhead(into);
      } finally {
        lock.end(Use.READ);
      }
    }
  }

  /**
   * Finds the rows of the ids that were {@link #lookAhead looked up ahead}, with the results of
   * finding them by their ids now.
   *
   * @throws IllegalArgumentException if they were not, of this table and since the last find
   */
  public void find(Lookup ahead, boolean insert) {
    requireAhead(ahead);
    Use use = insert ? Use.CHANGE : Use.READ;
    lock.begin(use);
    try {
      rows.find(ahead.found, insert);
    } finally {
      lock.end(use);
    }
  }

  private void requireAhead(Lookup lookup) {
    if (!lookup.found.ahead.isOf(rows)) {
      throw new IllegalArgumentException(
          "table %s: got a lookup without ids, expected one that this table looked up ahead"
              .formatted(config.name()));
    }
  }

  /**
   * {@link #find}, then {@link #pool} of bags {@code [0, bags)}, with no change of the table
   * between. So threads that train one table together pool what they found; with single calls
   * another's update may come between, and the lookup is refused.
   */
  public void findAndPool(
      long[] ids,
      int count,
      Lookup into,
      boolean insert,
      int[] offsets,
      int bags,
      Combiner combiner,
      long out,
      long outStride) {
    RowParts whole = RowParts.whole(config.width(), out, outStride);
    into.found.fill(ids, count);
    findAndPool(into.found, insert, PooledBags.of(offsets, bags, combiner), whole);
  }

  /**
   * Likewise, of rows times weights.
   *
   * @param weights one for each id
   */
  public void findAndPool(
      long[] ids,
      int count,
      Lookup into,
      boolean insert,
      int[] offsets,
      float[] weights,
      int bags,
      Combiner combiner,
      long out,
      long outStride) {
    RowParts whole = RowParts.whole(config.width(), out, outStride);
    PooledBags weighted = weighted(offsets, weights, bags, combiner, count);
    into.found.fill(ids, count);
    findAndPool(into.found, insert, weighted, whole);
  }

  private PooledBags weighted(
      int[] offsets, float[] weights, int bags, Combiner combiner, int positions) {
    float[] all = PooledBags.requireWeights(config.name(), weights, positions);
    return new PooledBags(combiner).set(offsets, all, bags);
  }

  /**
   * Likewise, of a lookup that was filled, perhaps {@link #lookAhead ahead}.
   *
   * @param out one target for each of as many equal shares of the bags; bag 0 is the first of all
   */
  void findAndPool(RowLookup into, boolean insert, PooledBags bags, RowParts... out) {
    bags.check(config.name(), 0, bags.count, into.count());
    int share = bags.count / out.length;
    Use use = insert ? Use.CHANGE : Use.READ;
    lock.begin(use);
    try {
      rows.find(into, insert);
      for (int k = 0; k < out.length; k++) {
        int from = k * share;
        rows.poolFound(into, bags, from, from + share, out[k]);
      }
    } finally {
      lock.end(use);
    }
  }

  /**
   * Takes the rows of a lookup as they are now, after an {@link #apply} of another one. Ids whose
   * rows went read as unknown.
   */
  public void refresh(Lookup lookup) {
    lock.begin(Use.READ);
    try {
      rows.refresh(lookup.found);
    } finally {
      lock.end(Use.READ);
    }
  }

  /**
   * Combines the rows of each bag into one vector: bag {@code b} in {@code [from, to)} holds the
   * positions {@code offsets[b]} to {@code offsets[b + 1] - 1} of the lookup.
   *
   * @param out address of bag 0's {@code W} floats; only bags {@code [from, to)} are written
   * @param outStride floats from one bag to the next
   * @throws IllegalStateException if rows were updated or evicted since they were found
   */
  public void pool(
      Lookup lookup, int[] offsets, int from, int to, Combiner combiner, long out, long outStride) {
    RowParts whole = RowParts.whole(config.width(), out, outStride);
    pool(lookup.found, PooledBags.of(offsets, to, combiner), from, to, whole);
  }

  /**
   * Likewise, of rows times weights.
   *
   * @param weights one for each position of the lookup
   */
  public void pool(
      Lookup lookup,
      int[] offsets,
      float[] weights,
      int from,
      int to,
      Combiner combiner,
      long out,
      long outStride) {
    RowParts whole = RowParts.whole(config.width(), out, outStride);
    PooledBags weighted = weighted(offsets, weights, to, combiner, lookup.count());
    pool(lookup.found, weighted, from, to, whole);
  }

  /** Likewise, to a target that may be in parts. */
  void pool(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    lock.begin(Use.READ);
    try {
      rows.pool(lookup, bags, from, to, out);
    } finally {
      lock.end(Use.READ);
    }
  }

  /**
   * Copies the row of every position: {@code out} is the address of {@code N x W} floats.
   *
   * @throws IllegalStateException if rows were updated or evicted since they were found
   */
  public void ragged(Lookup lookup, long out) {
    lock.begin(Use.READ);
    try {
      rows.ragged(lookup.found, out);
    } finally {
      lock.end(Use.READ);
    }
  }

  /**
   * Applies gradients: those of all bags that hold an id, or one of a bucket, are added up in order
   * of position (times the factor as of {@link Combiner} there), then the row takes one step of the
   * optimizer. Ids that were found without either, or whose row went, are skipped. Ends the step:
   * rows go that were unseen for too long. For the gradient of {@link #ragged} pass offsets 0, 1, 2
   * ... and SUM.
   *
   * @param offsets bags as given to {@link #pool}
   * @param bags bags, {@code B}
   * @param grad address of bag 0's {@code W} floats
   * @param gradStride floats from one bag to the next
   * @param lr learning rate of this step, 0 or more; with FTRL 0 changes nothing
   * @param step the step, counted from 1
   */
  public void apply(
      Lookup lookup,
      int[] offsets,
      int bags,
      Combiner combiner,
      long grad,
      long gradStride,
      float lr,
      long step) {
    RowParts whole = RowParts.whole(config.width(), grad, gradStride);
    apply(lookup.found, PooledBags.of(offsets, bags, combiner), whole, lr, step);
  }

  /**
   * Likewise, of what was pooled with weights; these get no gradient.
   *
   * @param weights as given to {@link #pool}
   */
  public void apply(
      Lookup lookup,
      int[] offsets,
      float[] weights,
      int bags,
      Combiner combiner,
      long grad,
      long gradStride,
      float lr,
      long step) {
    RowParts whole = RowParts.whole(config.width(), grad, gradStride);
    PooledBags weighted = weighted(offsets, weights, bags, combiner, lookup.count());
    apply(lookup.found, weighted, whole, lr, step);
  }

  /** Likewise, of gradients that may be in parts and in another order than the bags. */
  void apply(RowLookup lookup, PooledBags bags, RowParts gradients, float lr, long step) {
    lock.begin(Use.CHANGE);
    try {
      rows.apply(lookup, bags, gradients, lr, step);
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  /**
   * Takes their rows from {@code ids[0 .. count)}, whatever the policy says, as where people have
   * asked to be forgotten. An id that training meets later begins anew. Lookups found before are as
   * after an eviction, and the ids are among those that went in checkpoints of changes. Costs a
   * walk over all rows where the policy keeps an order of them.
   *
   * @return how many different ids had a row
   * @throws IllegalStateException if the table has a file tier
   */
  public int erase(long[] ids, int count) {
    RowLookup lookup = new RowLookup();
    lookup.fill(ids, count);
    lock.begin(Use.CHANGE);
    try {
      return rows.erase(lookup);
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  /** Gives every row, weights, optimizer state and metadata, in ascending (signed) order of id. */
  public void exportTo(RowSink sink) {
    lock.begin(Use.SNAPSHOT);
    try {
      rows.exportTo(sink);
    } finally {
      lock.end(Use.SNAPSHOT);
    }
  }

  /**
   * Gives every row as it is stored, in ascending (signed) order of id: the fastest way to all
   * rows.
   *
   * @param sink takes block after block, each of use during the call
   */
  public void exportBlocks(Consumer<RowBlock> sink) {
    try (TableSnapshot all = snapshots.hold(false)) {
      all.exportBlocks(sink);
    }
  }

  /**
   * The table as it is now, whatever becomes of it later. Others may go on changing it: before the
   * snapshot is closed, whoever changes a row first makes a copy of it, in memory of the allocator,
   * half of what is free there at most, with the copies of other tables; where that is not enough,
   * changes wait until it is closed, and all other calls for them. So whoever is to close it, and
   * the sink of its rows, must not call the table before. A table with a {@link FileTier}, with an
   * optimizer that changes all rows in each step, or for whose {@link TableHistory} there is no
   * room again, stays as it is: changes of it wait until the snapshot is closed, by this thread.
   *
   * @throws IllegalStateException if another one is open; one at a time
   */
  public TableSnapshot snapshot() {
    return snapshots.take(false);
  }

  /**
   * Likewise, of what changed since {@link #trackChanges}, which must have been called; of the
   * whole table where that is too much to list.
   */
  public TableSnapshot snapshotOfChanges() {
    return snapshots.take(true);
  }

  /**
   * Gives the rows of {@code ids}, each of which must have one, in their order.
   *
   * @throws IllegalArgumentException if an id has no row
   */
  public void exportTo(long[] ids, RowSink sink) {
    lock.begin(Use.SNAPSHOT);
    try {
      rows.exportTo(ids, sink);
    } finally {
      lock.end(Use.SNAPSHOT);
    }
  }

  /**
   * From now on notes what changes, for {@link #snapshotOfChanges}; what changed before is
   * forgotten. Costs one bit a row, and 8 bytes for each row that changed.
   */
  public void trackChanges() {
    lock.begin(Use.CHANGE);
    try {
      rows.trackChanges();
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  /**
   * Fills an empty table with the rows of {@code source}, in any order, each id once; weights are
   * rounded to the nearest that the table can store. When it fails the table holds part of them:
   * close it.
   */
  public void importFrom(RowSource source) {
    lock.begin(Use.CHANGE);
    try {
      rows.importFrom(source);
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  /**
   * As {@link #importFrom}, of rows as they are stored: the fastest way to fill a table.
   *
   * @param count rows that are to come, about
   * @param source called on a thread of its own, where it must not use the table
   */
  public void importBlocks(long count, RowBlock.Source source) {
    lock.begin(Use.CHANGE);
    try {
      rows.importBlocks(count, block -> lock.source(() -> source.next(block)));
    } finally {
      lock.end(Use.CHANGE);
    }
  }

  /** Checks what every call keeps true. For tests. */
  void requireSound() {
    lock.begin(Use.SNAPSHOT);
    try {
      rows.requireSound();
    } finally {
      lock.end(Use.SNAPSHOT);
    }
  }

  /** Gives the table's memory back, and the file; closes a snapshot that is open. */
  @Override
  public void close() {
    // First, as changes may wait for it.
    snapshots.close();
    lock.begin(Use.CHANGE);
    try {
      snapshots.close(); // made meanwhile
      rows.close();
    } finally {
      lock.end(Use.CHANGE);
    }
  }
}
