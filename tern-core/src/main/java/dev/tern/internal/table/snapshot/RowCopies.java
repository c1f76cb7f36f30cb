package dev.tern.internal.table.snapshot;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.rows.PlacedBlock;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowSlabs;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The rows of a table as they were at one moment, while the table changes. Before a row changes for
 * the first time, a copy of it is appended to a log. Copies are of single rows, because ids in
 * order have rows all over memory. A bit for each row says whether the row has changed; a number
 * says how:
 *
 * <pre>
 *   k &gt; 0     changed; record k - 1 of the log is what it was
 *   k &lt; 0     of another id or of none now; record -k - 1 is what it was
 *   {@link #NEW}  of no id at that moment
 * </pre>
 *
 * <p>Rows are read without a lock. A writer first writes copy and number, then the bit, then the
 * row. A reader reads the row, then the bit; if the bit is set, it takes the copy instead. So a
 * reader always gets a whole row. Ids are walked part by part, each part under the lock {@link
 * #walk}, which writers hold while they change the table. Ids that lose their row before the walk
 * comes to them are listed apart.
 *
 * <p>The copies of all tables together take at most half of the memory that was free at the start.
 * A writer without room for another copy waits until the snapshot is closed.
 */
public final class RowCopies implements AutoCloseable {
  private static final int NEW = Integer.MIN_VALUE;

  /** Numbers of 2^14 rows lie together, in memory taken when the first of the rows changes. */
  private static final int UNIT_SHIFT = 14;

  private static final int CHUNK_BYTES = 1 << 20;

  private final IdIndex index;
  private final RowSlabs.Places places;
  private final Allocator allocator;
  private final String holder;
  private final int size;
  private final int stride;
  private final ReentrantLock walk = new ReentrantLock(true);
  private final Condition ended = walk.newCondition();
  private final long unitBytes;

  /** Whether some row may have another id than at the moment, or one although it had none. */
  private boolean rowsGo;

  /** Per row, whether it has a number. */
  private final long[] touched;

  /** Per unit, the address of its numbers; 0 while there are none. */
  private final long[] units;

  /** Bytes that the copies of all tables leave free. */
  private final long reserve;

  private final int chunkShift;
  private final long[] chunks;
  private int records;
  private volatile boolean closed;

  // Ids that lost their row, and the pass in which the walk met each before that; 0 for none.
  private long[] goneIds = new long[0];
  private int[] goneRows = new int[0];
  private int[] goneWalked = new int[0];
  private int gone;

  /** Rows of a block that changed. */
  private int[] changed = new int[0];

  // Where the walk is: it has met all keys below position.
  private int pass;
  private long position;
  private boolean whole;
  private long[] ids = new long[1024];
  private int[] rows = new int[1024];
  private int count;

  /** Starts with the rows in use; nothing may change them during this call. */
  RowCopies(TableConfig config, IdIndex index, RowSlabs slabs, Allocator allocator) {
    this.index = index;
    this.allocator = allocator;
    holder = config.holder("snapshot");
    places = slabs.places();
    size = slabs.size();
    rowsGo = slabs.inUse() < size;
    stride = slabs.stride();
    unitBytes = 4L * Math.min(1 << UNIT_SHIFT, size);
    units = new long[(size >>> UNIT_SHIFT) + 1];
    touched = new long[(size >>> 6) + 1];
    int chunkRows = Integer.highestOneBit(Math.max(1, CHUNK_BYTES / stride));
    while (chunkRows > 64 && chunkRows >= 2L * size) {
      chunkRows /= 2;
    }
    chunkShift = Integer.numberOfTrailingZeros(chunkRows);
    chunks = new long[(size >>> chunkShift) + 1];
    reserve = free() / 2;
  }

  private long free() {
    return allocator.budget() - allocator.live();
  }

  void beginChange() {
    walk.lock();
  }

  void endChange() {
    walk.unlock();
  }

  /** The rows that a lookup found are about to change. */
  void keep(RowLookup lookup) {
    int unique = lookup.unique();
    for (int u = 0; u < unique && !closed; u++) {
      int row = lookup.rows[u];
      if (row >= 0 && row < size) {
        keep(row);
      }
    }
    VarHandle.storeStoreFence();
  }

  private void keep(int row) {
    if (isTouched(row)) {
      return;
    }
    long number = number(row);
    int record = number == 0 ? -1 : append(row);
    if (record >= 0) {
      touch(row, number, record + 1);
    }
  }

  private boolean isTouched(int row) {
    return (touched[row >>> 6] & 1L << row) != 0;
  }

  private void touch(int row, long number, int value) {
    Memory.setInt(number, value);
    VarHandle.storeStoreFence();
    touched[row >>> 6] |= 1L << row;
  }

  /** The row of an id is about to be taken away. */
  void keepGone(long id, int row) {
    if (closed || row >= size) {
      return;
    }
    rowsGo = true;
    keep(row);
    long number = number(row);
    if (number == 0 || closed) {
      return;
    }
    int record = Memory.getInt(number);
    if (record > 0) {
      listGone(id, row);
      Memory.setInt(number, -record);
      VarHandle.storeStoreFence();
    }
  }

  private void listGone(long id, int row) {
    if (gone == goneIds.length) {
      int more = Math.max(64, 2 * gone);
      goneIds = Arrays.copyOf(goneIds, more);
      goneRows = Arrays.copyOf(goneRows, more);
      goneWalked = Arrays.copyOf(goneWalked, more);
    }
    boolean walked = whole || IdIndex.walkKey(Hashing.mix(id)) < position;
    goneIds[gone] = id;
    goneRows[gone] = row;
    goneWalked[gone++] = walked ? pass : 0;
  }

  /** A free row is about to be given to an id. */
  void born(int row) {
    if (closed || row >= size || isTouched(row)) {
      return;
    }
    long number = number(row);
    if (number != 0) {
      touch(row, number, NEW);
    }
  }

  /** Where the number of a row lies; 0 if the snapshot was closed meanwhile. */
  private long number(int row) {
    int unit = row >>> UNIT_SHIFT;
    if (units[unit] == 0) {
      long fresh = allocate(unitBytes);
      if (fresh == 0) {
        return 0;
      }
      units[unit] = fresh;
    }
    return units[unit] + 4L * (row & (1 << UNIT_SHIFT) - 1);
  }

  /**
   * Copies a row to a record; returns its number, negative if the snapshot was closed meanwhile.
   */
  private int append(int row) {
    int chunk = records >>> chunkShift;
    if (chunks[chunk] == 0) {
      chunks[chunk] = allocate((long) stride << chunkShift);
      if (chunks[chunk] == 0) {
        return -1;
      }
    }
    copy(places.address(row), record(records));
    return records++;
  }

  private void copy(long from, long to) {
    if ((stride & 7) != 0) {
      Memory.copy(from, to, stride);
      return;
    }
    for (int at = 0; at < stride; at += Long.BYTES) {
      Memory.setLong(to + at, Memory.getLong(from + at));
    }
  }

  private long record(int number) {
    return chunks[number >>> chunkShift] + (long) (number & (1 << chunkShift) - 1) * stride;
  }

  /** Allocates memory. If there is none, waits until the snapshot is closed, and returns 0. */
  private long allocate(long bytes) {
    if (free() - bytes >= reserve) {
      try {
        return allocator.allocate(bytes, holder);
      } catch (OutOfBudgetException _) {
        // Others took what was free: as if this had taken its share.
      }
    }
    while (!closed) {
      ended.awaitUninterruptibly();
    }
    return 0;
  }

  boolean isClosed() {
    return closed;
  }

  /** Gives each id that had a row at the moment, with the row, once and in any order. */
  public void forEachEntry(IdIndex.EntrySink sink) {
    long next = 0;
    do {
      walk.lock();
      try {
        next = collect(next);
      } finally {
        walk.unlock();
      }
      for (int i = 0; i < count; i++) {
        sink.accept(ids[i], rows[i]);
      }
    } while (next != 0);
  }

  /** Collects the ids of one segment of the index; with the last one, those listed apart. */
  private long collect(long from) {
    pass += from == 0 ? 1 : 0;
    count = 0;
    long next = index.forEachEntry(from, this::collect);
    position = next;
    whole = next == 0;
    for (int i = 0; i < gone && whole; i++) {
      if (goneWalked[i] != pass) {
        add(goneIds[i], goneRows[i]);
      }
    }
    return next;
  }

  private void collect(long id, int row) {
    if (row < size && !(rowsGo && isTouched(row) && state(row) < 0)) {
      add(id, row);
    }
  }

  private void add(long id, int row) {
    if (count == ids.length) {
      ids = Arrays.copyOf(ids, 2 * count);
      rows = Arrays.copyOf(rows, 2 * count);
    }
    ids[count] = id;
    rows[count++] = row;
  }

  /** The number of a row that has one. */
  private int state(int row) {
    return Memory.getInt(units[row >>> UNIT_SHIFT] + 4L * (row & (1 << UNIT_SHIFT) - 1));
  }

  /** Where a row lies; it may change while it is read. */
  public long address(int row) {
    return places.address(row);
  }

  /**
   * Replaces rows of a block that have changed by their copies.
   *
   * @param numbers {@code numbers[from + i]} is the row that was gathered as row {@code i}
   */
  public void mend(PlacedBlock block, int[] numbers, int from) {
    if (changed.length < block.count()) {
      changed = new int[block.places().length];
    }
    VarHandle.loadLoadFence();
    int mended = 0;
    for (int i = 0; i < block.count(); i++) {
      if (isTouched(numbers[from + i])) {
        changed[mended++] = i;
      }
    }
    VarHandle.loadLoadFence();
    for (int k = 0; k < mended; k++) {
      int i = changed[k];
      block.places()[i] = record(Math.abs(state(numbers[from + i])) - 1);
    }
    block.gather(changed, mended);
  }

  /** Ends the copies, and lets waiting writers continue. */
  @Override
  public void close() {
    walk.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      Arrays.stream(units).filter(unit -> unit != 0).forEach(allocator::free);
      Arrays.stream(chunks).filter(chunk -> chunk != 0).forEach(allocator::free);
      ended.signalAll();
    } finally {
      walk.unlock();
    }
  }
}
