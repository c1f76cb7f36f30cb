package dev.tern.embedding;

import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSink;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.VectorSource;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.internal.table.LayeredRows;
import dev.tern.internal.table.RowFold;
import dev.tern.internal.table.TableLock;
import dev.tern.internal.table.TableLock.Call;
import dev.tern.internal.table.TableLock.Use;
import dev.tern.internal.table.TableRows;
import dev.tern.internal.table.policy.CountingFilter;
import dev.tern.internal.table.rows.GivenRows;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowParts;
import dev.tern.tensor.Device;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A table of embedding rows by 64-bit id; every id is legal. A row appears when training first
 * meets its id, or as the row policy says. Its initial weights depend on (seed, table index, id)
 * alone.
 *
 * <p>A training step is {@link #find} with {@code insert}, {@link #pool} or {@link #ragged} for the
 * forward pass, {@link #apply} for the gradients. Scoring is the same without insert and apply.
 *
 * <h2>Threads</h2>
 *
 * Any number of threads may use a table at once, each with its own {@link Lookup}. Every call is
 * atomic: calls have the effect of some sequence of them, in which a call that ended before another
 * began comes first. So
 *
 * <ul>
 *   <li>an id that several threads insert at once gets one row, and two ids never share one;
 *   <li>a reader of an id sees no row or a whole one: with initial weights, or as before or after
 *       an update, never a mixture. {@link #findAndPool} reads all rows of its batch between the
 *       same two changes;
 *   <li>a lookup stands for the rows as they were found. {@link #pool} and {@link #ragged} refuse
 *       it after an update, or when rows were evicted; see {@link #version}. New rows do not hurt
 *       it, and what unknown ids read as stays;
 *   <li>an id whose row was evicted never reads or updates the row that took its place;
 *   <li>{@link #exportTo} and {@link #snapshot} give the table as it was at one moment;
 *   <li>{@link #statistics} are taken at one moment, so that they add up;
 *   <li>{@link #close} waits for the calls that have begun; later ones that need rows are refused;
 *   <li>a call that throws ends like any other, and nobody waits for it. Only an insert for which
 *       memory runs out may have given whole rows to some of its ids.
 * </ul>
 *
 * Reads run side by side: find without insert, refresh, pool, ragged and the queries. They change
 * nothing and never wait for each other, except when one of them computes a new {@link
 * UnknownRow#MEAN}. They take no lock; each counts itself in and out. A read waits while another
 * thread inserts or updates a batch. Changes and exports take turns, first come, first served.
 * Readers wait neither for exports nor for changes that wait for an export. A {@link #snapshot} is
 * a change as short as a batch, and changes continue while it is read. The sink of an export may
 * read the table; any other call from within a source or sink is refused.
 *
 * <p>When several threads train one table, rows depend on the order of their calls, and steps must
 * be counted over all threads. When one thread trains, no result depends on how many threads read.
 * Different tables are independent. Several threads may pool one lookup at once; otherwise a lookup
 * is for one thread at a time.
 */
public final class EmbeddingTable implements AutoCloseable {
  /** Words of a filter that are restored at once. */
  private static final int HISTORY_BLOCK = 1 << 13;

  final TableRows rows;
  final TableLock lock;
  private final TableConfig config;

  /** The open snapshot during which others change the table. */
  private final AtomicReference<@Nullable TableSnapshot> open = new AtomicReference<>();

  private EmbeddingTable(TableRows rows) {
    this.rows = rows;
    config = rows.config();
    lock = new TableLock(config.name());
  }

  /** An empty table whose memory counts against the budget of {@code device}. */
  public static EmbeddingTable create(TableConfig config, Device device) {
    return create(config, DeviceAccess.allocator(device));
  }

  static EmbeddingTable create(TableConfig config, Allocator allocator) {
    return new EmbeddingTable(TableRows.create(config, Optional.empty(), allocator));
  }

  /**
   * An empty table that keeps rows in a file while its memory is too small for all of them. Rows in
   * use are in memory, and every result equals the result of a table without a file. A batch must
   * not have more different ids than memory has room for. Such a table has no eviction, an
   * optimizer that updates only the rows of a batch, and unknown ids that do not read as the mean.
   *
   * @throws IllegalArgumentException if the config asks for anything else, or too little memory is
   *     left in the tier
   * @throws IllegalStateException if too little is left to count ids; later, if more ids come than
   *     the admission expects, or a batch has more than memory has room for
   * @throws java.io.UncheckedIOException if no file can be made; later, from whatever reads or
   *     writes it, if the disk fails or is full
   */
  public static EmbeddingTable create(TableConfig config, FileTier tier, Device device) {
    return create(config, tier, DeviceAccess.allocator(device));
  }

  static EmbeddingTable create(TableConfig config, FileTier tier, Allocator allocator) {
    return new EmbeddingTable(TableRows.create(config, Optional.of(tier.shared), allocator));
  }

  public TableConfig config() {
    return config;
  }

  Allocator allocator() {
    return rows.allocator();
  }

  /** Number of rows. */
  public long size() {
    try (Call _ = lock.begin(Use.READ)) {
      return rows.size();
    }
  }

  /** Bytes of memory held for rows, state, index and what the row policy needs. */
  public long bytes() {
    try (Call _ = lock.begin(Use.READ)) {
      return rows.bytes();
    }
  }

  /** Sizes, and what became of the ids that training looked up. */
  public TableStatistics statistics() {
    try (Call _ = lock.begin(Use.READ)) {
      return rows.statistics();
    }
  }

  /**
   * The number of changes to existing rows. When it has changed, {@link #pool} refuses lookups from
   * before until {@link #refresh}.
   */
  public long version() {
    try (Call _ = lock.begin(Use.READ)) {
      return rows.version();
    }
  }

  /**
   * Finds the rows of {@code ids[0 .. count)}.
   *
   * @param into takes the result
   * @param insert true, in training: ids without a row get one, or are counted, as {@link
   *     TableConfig#rows} says. False: the table does not change, and ids without a row read as
   *     {@link TableConfig#unknown()}; if that is the mean of rows, this walks over all of them
   * @throws IllegalStateException if there is no room for a row and {@link WhenFull#ERROR}
   */
  public void find(long[] ids, int count, Lookup into, boolean insert) {
    fill(ids, count, into.found, insert);
    find(into.found, insert);
  }

  /**
   * Takes the ids of a find. Only a find with {@code insert} must know which of them are alike.
   * With a file it saves copies of rows; in a table of few rows it saves time.
   */
  void fill(long[] ids, int count, RowLookup into, boolean insert) {
    if (insert || rows.hasFile() || into.expectsRepeats(count)) {
      into.fill(ids, count);
    } else {
      into.fillRepeated(ids, count);
    }
  }

  /** Finds the rows of a lookup that was filled, perhaps {@link #lookAhead ahead}. */
  void find(RowLookup filled, boolean insert) {
    try (Call _ = lock.begin(insert ? Use.CHANGE : Use.READ)) {
      rows.find(filled, insert);
    }
  }

  /**
   * Looks {@code ids[0 .. count)} up while the batch before them is still computed: the distinct
   * ids, where their rows lie, and the content of rows in a file. The table does not change, and no
   * result depends on this call: {@link #find(Lookup, boolean)} finds again what has changed since.
   * It runs beside other reads, in short turns, so that changes hardly wait for it.
   *
   * @param into takes what is found; use it only for that {@code find}
   */
  public void lookAhead(long[] ids, int count, Lookup into) {
    lookAhead(ids, count, into.found, () -> true);
  }

  /** As {@link #lookAhead}; {@code goOn} is asked before each few rows that are read of a file. */
  void lookAhead(long[] ids, int count, RowLookup into, BooleanSupplier goOn) {
    into.fill(ids, count);
    try (Call _ = lock.begin(Use.READ)) {
      rows.lookAhead(into);
    }
    boolean more = true;
    while (more && goOn.getAsBoolean()) {
      try (Call _ = lock.begin(Use.READ)) {
        more = rows.readAhead(into);
      }
    }
  }

  /**
   * Finds the rows of the ids that were {@link #lookAhead looked up ahead}. The results are the
   * same as if the ids were first looked up now.
   *
   * @throws IllegalArgumentException if this table has not looked ids up since the last find
   */
  public void find(Lookup ahead, boolean insert) {
    if (!ahead.found.ahead.isOf(rows)) {
      throw new IllegalArgumentException(
          "table %s: got a lookup without ids, expected one that this table looked up ahead"
              .formatted(config.name()));
    }
    find(ahead.found, insert);
  }

  /**
   * {@link #find}, then {@link #pool} of all bags, with no change of the table in between. With two
   * calls, another thread's update may come in between, and {@link #pool} refuses the lookup.
   */
  public void findAndPool(
      long[] ids,
      int count,
      Lookup into,
      boolean insert,
      Bags bags,
      MemorySegment out,
      long outStride) {
    RowParts whole = target(out, bags.count(), outStride);
    PooledBags pooled = bags.pooled(config.name(), count);
    fill(ids, count, into.found, insert);
    findAndPool(into.found, insert, pooled, new int[] {0, bags.count()}, whole);
  }

  private RowParts target(MemorySegment out, int bags, long stride) {
    String what = "table " + config.name() + " pool";
    return RowParts.whole(
        config.width(), NativeFloats.toWrite(what, out, floats(bags, stride)), stride);
  }

  /** Floats that vectors of {@code bags} bags span: {@code (bags - 1) * stride + width}. */
  private long floats(int bags, long stride) {
    if (stride < 0) {
      throw new IllegalArgumentException(
          "table %s: got %d floats from one bag to the next, expected 0 or more"
              .formatted(config.name(), stride));
    }
    return bags == 0 ? 0 : Math.addExact(Math.multiplyExact(bags - 1L, stride), config.width());
  }

  /**
   * Finds and pools a lookup that was filled, perhaps {@link #lookAhead ahead}.
   *
   * @param firsts the first bag of each target, then the number of bags
   * @param out targets, which count their bags from bag 0 of all
   */
  void findAndPool(RowLookup into, boolean insert, PooledBags bags, int[] firsts, RowParts... out) {
    bags.check(config.name(), 0, bags.count, into.count());
    try (Call _ = lock.begin(insert ? Use.CHANGE : Use.READ)) {
      rows.find(into, insert);
      for (int k = 0; k < out.length; k++) {
        rows.poolFound(into, bags, firsts[k], firsts[k + 1], out[k]);
      }
    }
  }

  /** Finds and pools a lookup that was filled, beneath changes of this table. */
  void findAndPool(
      LayeredRows view, RowLookup into, PooledBags bags, int[] firsts, RowParts... out) {
    bags.check(config.name(), 0, bags.count, into.count());
    try (Call _ = lock.begin(Use.READ)) {
      view.find(into);
      for (int k = 0; k < out.length; k++) {
        rows.poolFound(into, bags, firsts[k], firsts[k + 1], out[k]);
      }
    }
  }

  /**
   * Makes a lookup current: it reads the rows as they are now. Ids whose rows went read as unknown.
   */
  public void refresh(Lookup lookup) {
    try (Call _ = lock.begin(Use.READ)) {
      rows.refresh(lookup.found);
    }
  }

  /**
   * Combines the rows of each of the bags {@code [from, to)} into one vector.
   *
   * @param out vector {@code b} goes to the {@code W} floats from {@code b * outStride} on; other
   *     bags are not written
   * @param outStride floats from one vector to the next, 0 or more
   * @throws IllegalStateException if rows were updated or evicted since they were found
   */
  public void pool(Lookup lookup, Bags bags, int from, int to, MemorySegment out, long outStride) {
    PooledBags pooled = bags.pooled(config.name(), lookup.count());
    pool(lookup.found, pooled, from, to, target(out, Math.max(0, to), outStride));
  }

  /** As {@link #pool}; the target may be in parts. */
  void pool(RowLookup lookup, PooledBags bags, int from, int to, RowParts out) {
    try (Call _ = lock.begin(Use.READ)) {
      rows.pool(lookup, bags, from, to, out);
    }
  }

  /**
   * Copies the row of every position.
   *
   * @param out {@code [N, W]} floats
   * @throws IllegalStateException if rows were updated or evicted since they were found
   */
  public void ragged(Lookup lookup, MemorySegment out) {
    long floats = (long) lookup.count() * config.width();
    long address = NativeFloats.toWrite("table " + config.name() + " ragged", out, floats);
    try (Call _ = lock.begin(Use.READ)) {
      rows.ragged(lookup.found, address);
    }
  }

  /**
   * Applies the gradients of pooled vectors, and ends the step. For each id, the gradients of all
   * bags that hold it are added up in order of position, each times its position's weight in the
   * bag's vector; then its row takes one step of the optimizer. The ids of one bucket ({@link
   * UnknownRow.Hashed}) share a row and so one step. Ids without a row, or whose row went since,
   * are skipped. At the end of the step, rows go that were unseen for too long. For the gradient of
   * {@link #ragged} pass {@link Bags#single}.
   *
   * @param bags as given to {@link #pool}
   * @param gradients gradient {@code b} lies in the {@code W} floats from {@code b * stride} on
   * @param stride floats from one gradient to the next, 0 or more
   * @param lr learning rate, 0 or more; with FTRL 0 changes nothing
   * @param step counted from 1
   */
  public void apply(
      Lookup lookup, Bags bags, MemorySegment gradients, long stride, float lr, long step) {
    String what = "table " + config.name() + " apply";
    long address = NativeFloats.toRead(what, gradients, floats(bags.count(), stride));
    RowParts whole = RowParts.whole(config.width(), address, stride);
    apply(lookup.found, bags.pooled(config.name(), lookup.count()), whole, lr, step);
  }

  /** As {@link #apply}; the gradients may be in parts and in another order than the bags. */
  void apply(RowLookup lookup, PooledBags bags, RowParts gradients, float lr, long step) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.apply(lookup, bags, gradients, lr, step);
    }
  }

  /**
   * Removes the rows of {@code ids[0 .. count)}, for example when people ask to be forgotten. If
   * training meets such an id later, it starts with initial weights. Lookups found before behave as
   * after an eviction, and checkpoints of changes list the ids as gone. Walks over all rows if the
   * policy evicts rows.
   *
   * @return the number of different ids that had a row
   * @throws IllegalStateException if the table has a file tier
   */
  public int erase(long[] ids, int count) {
    RowLookup lookup = new RowLookup();
    lookup.fill(ids, count);
    try (Call _ = lock.begin(Use.CHANGE)) {
      return rows.erase(lookup);
    }
  }

  /** Gives every row, weights, optimizer state and metadata, in ascending (signed) order of id. */
  public void exportTo(RowSink sink) {
    try (Call _ = lock.begin(Use.SNAPSHOT)) {
      rows.exportTo(sink);
    }
  }

  /**
   * Gives every row as it is stored, in ascending (signed) order of id: the fastest export.
   *
   * @param sink takes block after block, each of use during the call
   */
  public void exportBlocks(Consumer<RowBlock> sink) {
    try (TableSnapshot all = hold(false)) {
      all.exportBlocks(sink);
    }
  }

  /**
   * The table as it is at this moment. Other threads may continue to change it: until the snapshot
   * is closed, a change first copies the rows that it touches. The copies of all tables together
   * take at most half of the free memory of the device. When that is not enough, changes wait until
   * the snapshot is closed, and other calls wait for them. So the thread that closes it, and the
   * sink of its rows, must not call the table before. Three kinds of table are held instead, and
   * changes wait until this thread closes the snapshot: a table with a {@link FileTier}, one whose
   * optimizer changes all rows in each step, and one whose counting filter does not fit into free
   * memory a second time.
   *
   * @throws IllegalStateException if another one is open; one at a time
   */
  public TableSnapshot snapshot() {
    return snapshot(false);
  }

  /**
   * A {@link #snapshot} of only what changed since {@link #trackChanges}, which must have been
   * called. It has the whole table if too much changed to be listed.
   */
  public TableSnapshot snapshotOfChanges() {
    return snapshot(true);
  }

  private TableSnapshot snapshot(boolean changes) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.requireExportable();
      if (rows.canKeepRows()) {
        TableSnapshot made =
            new TableSnapshot(rows, changes, false, ended -> open.compareAndSet(ended, null));
        open.set(made);
        return made;
      }
    } catch (OutOfBudgetException _) {
      // There is no memory to keep rows as they were: the table is held instead.
    }
    return hold(changes);
  }

  /** A snapshot during which changes of the table wait. */
  private TableSnapshot hold(boolean changes) {
    Call call = lock.begin(Use.SNAPSHOT);
    try {
      rows.requireExportable();
      return new TableSnapshot(rows, changes, true, _ -> call.close());
    } catch (RuntimeException | Error e) {
      call.close();
      throw e;
    }
  }

  /**
   * Gives the rows of {@code ids}, each of which must have one, in their order.
   *
   * @throws IllegalArgumentException if an id has no row
   */
  public void exportTo(long[] ids, RowSink sink) {
    try (Call _ = lock.begin(Use.SNAPSHOT)) {
      rows.exportTo(ids, sink);
    }
  }

  /**
   * Starts to note which rows change, for {@link #snapshotOfChanges}, and forgets what was noted
   * before. Takes one bit a row, and 8 bytes for each row that changed.
   */
  public void trackChanges() {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.trackChanges();
    }
  }

  /**
   * Fills an empty table with the rows of {@code source}, in any order, each id once; weights are
   * rounded to the nearest that the table can store. When it fails the table holds part of them:
   * close it.
   */
  public void importFrom(RowSource source) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.importFrom(source);
    }
  }

  /**
   * Fills an empty table with rows whose columns {@code [first, first + columns)} are given, such
   * as vectors that were trained elsewhere. What else a row has begins as in any new row, and it
   * counts as seen once, in step 1. When it fails the table holds part of them: close it.
   *
   * @throws IllegalArgumentException if rows do not have these columns, an id comes twice, a number
   *     is not finite, or the table may not have so many rows
   */
  public void begin(int first, int columns, VectorSource vectors) {
    importFrom(new GivenRows(config, first, columns, vectors));
    long most = config.rows().maxRows();
    if (size() > most) {
      throw new IllegalArgumentException(
          "table %s: got %d vectors, expected %d at most; allow more rows, or give fewer"
              .formatted(config.name(), size(), most));
    }
  }

  /**
   * Fills an empty table with rows as they are stored: the fastest import. When it fails, close the
   * table.
   *
   * @param count about how many rows will come
   * @param source called on a thread of its own, where it must not use the table
   */
  public void importBlocks(long count, RowBlock.Source source) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.importBlocks(count, block -> lock.source(() -> source.next(block)));
    }
  }

  /**
   * Gives a new table, before its rows are imported, {@link TableSnapshot#counters} and {@link
   * TableSnapshot#readFilter filter} of another table.
   *
   * @param words words of the filter, which {@code source} gives
   * @throws IllegalArgumentException if the table cannot have this history
   */
  public void restoreHistory(long[] counters, long words, TableSnapshot.Words source) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.requireOpen("history");
      Optional<CountingFilter> filter = rows.residents().filter();
      boolean sized = filter.map(f -> f.resize(words)).orElse(words == 0);
      long[] block = new long[HISTORY_BLOCK];
      for (long from = 0; from < words && sized; from += HISTORY_BLOCK) {
        int count = (int) Math.min(HISTORY_BLOCK, words - from);
        source.next(block, count);
        filter.orElseThrow().write(from, block, count);
      }
      if (!sized || !rows.residents().restore(counters)) {
        throw new IllegalArgumentException(
            "table %s: got a history of %d counters and a filter of %d words that cannot be its own,"
                    .formatted(config.name(), counters.length, words)
                + " expected one that a table of this row policy left; the source is damaged");
      }
    }
  }

  /**
   * Gives a new table, before its rows are imported, the bucket rows ({@link UnknownRow.Hashed}) of
   * another table.
   *
   * @param source gives all, as {@link TableSnapshot#exportBuckets} does
   * @throws IllegalArgumentException if they are not as many as the table has
   */
  public void restoreBuckets(RowBlock.Source source) {
    try (Call _ = lock.begin(Use.CHANGE)) {
      rows.requireOpen("history");
      if (!rows.restoreBuckets(source)) {
        throw new IllegalArgumentException(
            "table %s: got other bucket rows than it has, expected %d; the source is damaged"
                .formatted(config.name(), config.unknown().buckets()));
      }
    }
  }

  /**
   * Takes in changes while threads read the table beneath them ({@link SlotTables#beneath}). All
   * reads from the first call on must be such, until their {@link SlotTables#drop}. If memory runs
   * out, it may be called again with {@code before} empty.
   *
   * @param before empty changes, which get what takes these back
   */
  public void fold(TableChanges changes, Optional<TableChanges> before) {
    RowFold.fold(rows, lock, changes.layer, before.map(old -> old.layer));
  }

  /** Gives the table's memory back, and the file; closes a snapshot that is open. */
  @Override
  public void close() {
    closeSnapshot(); // First, because changes may wait until it is closed.
    try (Call _ = lock.begin(Use.CHANGE)) {
      closeSnapshot(); // One may have been made meanwhile.
      rows.close();
    }
  }

  private void closeSnapshot() {
    TableSnapshot last = open.get();
    if (last != null) {
      last.close();
    }
  }
}
