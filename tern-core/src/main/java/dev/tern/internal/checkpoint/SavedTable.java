package dev.tern.internal.checkpoint;

import dev.tern.base.DataException;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSource;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A table read from its files: a whole table, then deltas. Rows come in ascending order of id, each
 * from the last file that has its id. Memory holds one block of each file.
 */
public final class SavedTable implements RowSource, AutoCloseable {
  /** More counters than any table has. */
  private static final int MOST_COUNTERS = 1 << 10;

  /** Rows that are read before other threads of this processor have their turn: some 50 µs. */
  private static final int YIELD_ROWS = 128;

  private static final String DAMAGED = "the checkpoint is damaged, use another one";

  private final RowShape shape;

  /** The shards of the last whole table, then the deltas, in order. */
  private final List<TableReader> files;

  private final TableShard shard;

  private SavedTable(RowShape shape, TableShard shard, List<TableReader> files) {
    this.shape = shape;
    this.shard = shard;
    this.files = files;
  }

  /**
   * Opens the files of a table, the oldest first.
   *
   * @param shape shape of its rows; metadata that it does not name is not read
   */
  public static SavedTable open(List<Path> paths, RowShape shape) {
    return open(paths, shape, TableShard.WHOLE);
  }

  /** Opens only the rows of one shard. The files may hold other shards. */
  public static SavedTable open(List<Path> paths, RowShape shape, TableShard shard) {
    Deque<TableReader> files = new ArrayDeque<>();
    try {
      for (Path path : paths.reversed()) {
        TableReader file = TableReader.open(path, shape);
        files.addFirst(file);
        if (file.isWhole() && file.shard.number() == 0) {
          break;
        }
      }
      requireAllShards(files);
      return new SavedTable(shape, shard, new ArrayList<>(files));
    } catch (RuntimeException | Error e) {
      files.forEach(TableReader::close);
      throw e;
    }
  }

  /** Checks that the first files are all shards of one split, in order. */
  private static void requireAllShards(Deque<TableReader> files) {
    int count = files.getFirst().shard.count();
    int number = 0;
    for (TableReader file : files) {
      TableShard got = file.shard;
      TableShard expected = number < count ? new TableShard(number, count) : TableShard.WHOLE;
      if (!got.equals(expected)) {
        throw new DataException(
            "%s: got shard %d of %d, expected %d of %d; %s"
                .formatted(
                    file.path,
                    got.number(),
                    got.count(),
                    expected.number(),
                    expected.count(),
                    DAMAGED));
      }
      number++;
    }
    if (number < count) {
      throw new DataException(
          "%s: got shard %d of %d as the last, expected all of them; %s"
              .formatted(files.getLast().path, number - 1, count, DAMAGED));
    }
  }

  public RowShape shape() {
    return shape;
  }

  /** The shard whose rows are given. */
  TableShard shard() {
    return shard;
  }

  @Override
  public int next(long[] ids, MemorySegment rows) {
    long values = rows.address();
    int count = 0;
    while (count < ids.length && advanceTo(ids, count)) {
      TableReader latest = latest(ids[count]);
      latest.copyRow(values + count * shape.packedBytes(), shape.packedBytes());
      leave(ids[count]);
      count++;
      if (count % YIELD_ROWS == 0) {
        Thread.yield(); // A server answers requests beside it, which should not wait long.
      }
    }
    return count;
  }

  /** Whether the last file holds a whole table, not what changed in one. */
  boolean isWhole() {
    return files.getLast().isWhole();
  }

  /** Of changes, the ids whose rows are gone by the last file. */
  long[] gone() {
    TableReader last = files.getLast();
    LongColumn column = LongColumn.open(last.path, last.file, TableFile.GONE);
    long[] ids = new long[Math.toIntExact(column.size())];
    column.read(0, ids, ids.length);
    return ids;
  }

  /** Whether all its rows are in one file, so that {@link #next(RowBlock)} can read them. */
  boolean isInOneFile() {
    return files.getLast().isWhole() && files.stream().filter(this::overlaps).count() == 1;
  }

  private boolean overlaps(TableReader file) {
    return file.shard.overlaps(shard);
  }

  /** An estimate of the number of rows. A file of a larger shard counts in proportion. */
  public long expected() {
    return files.stream()
        .filter(this::overlaps)
        .mapToLong(file -> file.size() / Math.max(1, shard.count() / file.shard.count()))
        .sum();
  }

  /** Reads the next rows as they are stored; only if {@link #isInOneFile}. */
  boolean next(RowBlock block) {
    TableReader file = files.stream().filter(this::overlaps).findFirst().orElseThrow();
    while (file.next(block)) {
      if (!shard.equals(file.shard)) {
        block.keep(shard::has);
      }
      if (block.count() > 0) {
        return true;
      }
    }
    return false;
  }

  /** Walks to the end and counts the rows. */
  public long count() {
    long[] id = new long[1];
    long count = 0;
    while (advanceTo(id, 0)) {
      leave(id[0]);
      count++;
    }
    return count;
  }

  /** Puts the next id that has a row into {@code ids[at]}; returns whether there is one. */
  private boolean advanceTo(long[] ids, int at) {
    while (true) {
      boolean found = false;
      long id = 0;
      for (TableReader file : files) {
        if (file.hasRow() && (!found || file.id() < id)) {
          found = true;
          id = file.id();
        }
      }
      ids[at] = id;
      if (!found) {
        files.forEach(TableReader::finish);
        return false;
      }
      if (shard.has(id) && !wentSince(id)) {
        return true;
      }
      leave(id);
    }
  }

  /** Whether a file says that the row is gone, and no later file has it. */
  private boolean wentSince(long id) {
    for (TableReader file : files.reversed()) {
      if (file.isGone(id)) {
        return true;
      }
      if (has(file, id)) {
        return false;
      }
    }
    return false;
  }

  private TableReader latest(long id) {
    for (TableReader file : files.reversed()) {
      if (has(file, id)) {
        return file;
      }
    }
    throw new IllegalStateException("saved table: got no row of id " + id + ", expected one");
  }

  private static boolean has(TableReader file, long id) {
    return file.hasRow() && file.id() == id;
  }

  /** Goes past the rows of an id. */
  private void leave(long id) {
    for (TableReader file : files) {
      if (has(file, id)) {
        file.advance();
      }
    }
  }

  /** Whether the table had a row policy. */
  public boolean hasHistory() {
    return files.getLast().file.names().contains(TableFile.HISTORY);
  }

  /** The numbers of {@link TableSnapshot#counters()}. */
  public long[] counters() {
    TableReader last = files.getLast();
    LongColumn column = LongColumn.open(last.path, last.file, TableFile.HISTORY);
    if (column.size() < 1) {
      throw new DataException(
          last.path + ": got a history without numbers, expected one or more; " + DAMAGED);
    }
    long[] counters = new long[(int) Math.min(MOST_COUNTERS, column.size())];
    column.read(0, counters, counters.length);
    return counters;
  }

  public int buckets() {
    return files.getLast().buckets;
  }

  public BucketColumns bucketRows() {
    return new BucketColumns(shape, files.getLast().file, buckets());
  }

  Filter filter() {
    List<FilterReader> parts =
        files.stream().filter(file -> file.shard.isLast()).map(FilterReader::new).toList();
    for (int i = 1; i < parts.size(); i++) {
      parts.get(i).requireGrownFrom(parts.get(i - 1));
    }
    return new Filter(parts);
  }

  /** The words of a filter, in order. */
  static final class Filter implements TableSnapshot.Words {
    private final List<FilterReader> parts;
    private long at;

    private Filter(List<FilterReader> parts) {
      this.parts = parts;
    }

    long size() {
      return parts.getLast().size();
    }

    @Override
    public void next(long[] values, int count) {
      Arrays.fill(values, 0, count, 0);
      for (FilterReader part : parts) {
        part.overlay(at, values, count);
      }
      at += count;
      if (at >= size()) {
        parts.forEach(FilterReader::requireEnd);
      }
    }
  }

  @Override
  public void close() {
    files.forEach(TableReader::close);
  }
}
