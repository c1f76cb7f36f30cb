package dev.tern.embedding;

import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.table.TableRows;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.policy.CountingFilter;
import dev.tern.internal.table.snapshot.ChangedRows;
import dev.tern.internal.table.snapshot.FilterWords;
import dev.tern.internal.table.snapshot.RowCopies;
import dev.tern.internal.table.snapshot.SortedRows;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * A table, or what changed in it, as it was at one moment: {@link EmbeddingTable#snapshot()}. If it
 * {@link #holdsTable holds} the table, changes of the table wait until the thread that made it
 * closes it. Otherwise the table goes on changing, and any thread may use and close the snapshot.
 */
public final class TableSnapshot implements AutoCloseable {
  private static final long[] NO_IDS = {};

  /** Takes or gives words of a counting filter, in order. */
  @FunctionalInterface
  public interface Words {
    /** The next {@code count} words, in {@code values[0 .. count)}. */
    void next(long[] values, int count);
  }

  /** A copy of the filter takes at most 1 / FILTER_SHARE of the free memory. */
  private static final int FILTER_SHARE = 4;

  private final TableRows table;
  private final Optional<RowCopies> copies;

  /** Empty for the whole table. */
  private final Optional<ChangedRows> changed;

  private final long size;
  private final long[] counters;
  private final FilterWords filter;
  private final long[] filterNumbers;
  private final Consumer<TableSnapshot> release;

  /** The thread that must close it if it holds the table. */
  private final Thread maker = Thread.currentThread();

  private final ReentrantLock use = new ReentrantLock();

  /** Whether {@link #close} was called; perhaps a call that reads this has yet to end. */
  volatile boolean closing;

  private boolean closed;

  /**
   * The table as it is now. Nothing may change it during this call; with {@code hold}, not until
   * {@code release} is called.
   *
   * @param changes whether to take only what changed, if that is listed
   * @param release takes this when it is closed
   * @throws OutOfBudgetException if there is no memory to let the table change
   */
  TableSnapshot(TableRows table, boolean changes, boolean hold, Consumer<TableSnapshot> release) {
    this.table = table;
    this.release = release;
    boolean listed = changes && !table.watch().changes().all();
    changed = listed ? Optional.of(table.changes()) : Optional.empty();
    Optional<CountingFilter> words = table.residents().filter();
    filterNumbers = listed ? words.map(CountingFilter::changedWords).orElse(NO_IDS) : NO_IDS;
    size = table.size();
    counters = table.residents().history();
    if (!hold) {
      table.watch().requireNoneKept();
    }
    // First the filter: copies of rows then leave half of the memory that is still free.
    filter = words.map(f -> filter(f, listed, hold)).orElse(FilterWords.NONE);
    try {
      copies = hold ? Optional.empty() : Optional.of(table.watch().keepRows());
    } catch (RuntimeException | Error e) {
      filter.close().run();
      throw e;
    }
  }

  private FilterWords filter(CountingFilter words, boolean listed, boolean hold) {
    if (listed) {
      return FilterWords.copy(words, filterNumbers);
    }
    if (hold) {
      return FilterWords.of(words);
    }
    Allocator allocator = table.allocator();
    String holder = table.config().holder("snapshot");
    if (FILTER_SHARE * words.bytes() > allocator.budget() - allocator.live()) {
      throw new OutOfBudgetException(
          "%s: got a filter of %d bytes to copy, expected %d times as much free memory"
              .formatted(holder, words.bytes(), FILTER_SHARE));
    }
    return FilterWords.copy(words, allocator, holder);
  }

  public TableConfig config() {
    return table.config();
  }

  /** Whether changes of the table wait until this is closed. */
  public boolean holdsTable() {
    return copies.isEmpty();
  }

  /** Whether it is of the whole table. */
  public boolean isWhole() {
    return changed.isEmpty();
  }

  /** Number of rows; in a snapshot of changes, of rows that came or changed. */
  public long rows() {
    if (isWhole()) {
      return size;
    }
    SortedRows rows = sorted();
    long sum = 0;
    for (int count = rows.next(); count > 0; count = rows.next()) {
      sum += count;
    }
    return sum;
  }

  private SortedRows sorted() {
    return new SortedRows(this::forEachEntry, changed.map(c -> (long) c.count()).orElse(size));
  }

  /** Gives all ids with their rows, in any order; of changes, some perhaps twice. */
  void forEachEntry(IdIndex.EntrySink sink) {
    if (changed.isPresent()) {
      changed.get().forEachRow(sink);
    } else if (copies.isPresent()) {
      copies.get().forEachEntry(sink);
    } else {
      table.forEachEntry(sink);
    }
  }

  /** In a snapshot of changes, the ids noted that have no row, ascending. */
  public long[] gone() {
    return changed.map(ChangedRows::gone).orElse(NO_IDS);
  }

  /**
   * Gives its rows as they are stored, in ascending (signed) order of id.
   *
   * @param sink takes block after block, each of use during the call
   * @throws IllegalStateException if it is closed, perhaps by another thread between two blocks
   */
  public void exportBlocks(Consumer<RowBlock> sink) {
    whileOpen(sink, open -> table.exportBlocks(sorted(), copies, open));
  }

  /**
   * Gives the rows of {@link UnknownRow.Hashed} as they are stored, without metadata, by their
   * numbers from 0 on. A snapshot of changes, too, gives all of them.
   *
   * @param sink as for {@link #exportBlocks}
   */
  public void exportBuckets(Consumer<RowBlock> sink) {
    whileOpen(sink, open -> table.exportBuckets(copies, open));
  }

  private void whileOpen(Consumer<RowBlock> sink, Consumer<Consumer<RowBlock>> export) {
    use.lock();
    try {
      requireOpen();
      export.accept(block -> {
        requireOpen();
        sink.accept(block);
      });
    } finally {
      use.unlock();
    }
  }

  /**
   * The last step, and counts. If rows go by time, then up to 256 steps follow, each with the time
   * at which it ended, in milliseconds since 1970.
   */
  public long[] counters() {
    return counters.clone();
  }

  /** Words of the counting filter; 0 without one. */
  public long filterWords() {
    return filter.size();
  }

  /** In a snapshot of changes, the numbers of the words of the filter that changed, ascending. */
  public long[] filterNumbers() {
    return filterNumbers.clone();
  }

  /**
   * Gives all words of the filter in order; in a snapshot of changes, only {@link #filterNumbers}.
   */
  public void readFilter(Words sink) {
    use.lock();
    try {
      requireOpen();
      filter.read(sink::next);
    } finally {
      use.unlock();
    }
  }

  private void requireOpen() {
    if (closing) {
      throw new IllegalStateException(
          "table %s: got a snapshot that is closed, expected an open one; take another"
              .formatted(config().name()));
    }
  }

  /**
   * Ends the snapshot: rows are no longer copied. Waits for a call of another thread that reads it;
   * that call fails at its next block.
   *
   * @throws IllegalStateException if it is called by the sink of its rows or, where it {@link
   *     #holdsTable holds the table}, in another thread than it was made in
   */
  @Override
  public void close() {
    if (use.isHeldByCurrentThread()) {
      throw new IllegalStateException(
          "table %s: got close of a snapshot by the sink of its rows; close it afterwards"
              .formatted(config().name()));
    }
    if (holdsTable() && Thread.currentThread() != maker) {
      throw new IllegalStateException(
          "table %s: got close of a snapshot that holds it in another thread than it was made in; close it there"
              .formatted(config().name()));
    }
    closing = true;
    use.lock();
    try {
      if (!closed) {
        closed = true;
        copies.ifPresent(RowCopies::close);
        filter.close().run();
        release.accept(this);
      }
    } finally {
      use.unlock();
    }
  }
}
