package dev.tern.train;

import dev.tern.embedding.RowBlock;
import dev.tern.embedding.RowSource;
import dev.tern.embedding.TableHistory;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A table as its files leave it: a whole one, then what changed since, file by file. Rows come in
 * ascending order of id, each as the last file that names its id has it; so nothing but a block of
 * each file is held in memory.
 */
final class SavedTable implements RowSource, AutoCloseable {
  private final RowShape shape;

  /** The last whole file, then those of changes, in order. */
  private final List<TableReader> files;

  private SavedTable(RowShape shape, List<TableReader> files) {
    this.shape = shape;
    this.files = files;
  }

  /**
   * Opens the files of a table, the oldest first.
   *
   * @param shape what its rows hold; where it says none, metadata are left out
   */
  static SavedTable open(List<Path> paths, RowShape shape) {
    Deque<TableReader> files = new ArrayDeque<>();
    try {
      for (Path path : paths.reversed()) {
        files.addFirst(TableReader.open(path, shape));
        if (files.getFirst().isWhole()) {
          break;
        }
      }
      return new SavedTable(shape, new ArrayList<>(files));
    } catch (RuntimeException | Error e) {
      files.forEach(TableReader::close);
      throw e;
    }
  }

  RowShape shape() {
    return shape;
  }

  @Override
  public int next(long[] ids, long values) {
    int count = 0;
    while (count < ids.length && advanceTo(ids, count)) {
      TableReader latest = latest(ids[count]);
      latest.copyRow(values + count * shape.packedBytes(), shape.packedBytes());
      leave(ids[count]);
      count++;
    }
    return count;
  }

  /** Whether its rows lie in one file, which {@link #next(RowBlock)} reads. */
  boolean isWhole() {
    return files.size() == 1;
  }

  /** Rows at most. */
  long most() {
    return files.stream().mapToLong(TableReader::size).sum();
  }

  /** The next rows as they are stored, of a table that {@link #isWhole}. */
  boolean next(RowBlock block) {
    return files.getFirst().next(block);
  }

  /** How many rows are left; walks to the end. */
  long count() {
    long[] id = new long[1];
    long count = 0;
    while (advanceTo(id, 0)) {
      leave(id[0]);
      count++;
    }
    return count;
  }

  /** Puts the smallest id that has a row into {@code ids[at]}; returns whether there is one. */
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
      if (!wentSince(id)) {
        return true;
      }
      leave(id);
    }
  }

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

  private void leave(long id) {
    for (TableReader file : files) {
      if (has(file, id)) {
        file.advance();
      }
    }
  }

  /** Whether the table was one of a row policy. */
  boolean hasHistory() {
    return files.getLast().file().names().contains(TableFile.HISTORY);
  }

  /** {@link TableHistory#counters()}. */
  long[] counters() {
    TableReader last = files.getLast();
    LongColumn column = LongColumn.open(last.path(), last.file(), TableFile.HISTORY);
    long[] counters = new long[(int) Math.min(64, column.size())];
    column.read(0, counters, counters.length);
    return counters;
  }

  /** A walk over the words of the filter. */
  Filter filter() {
    return new Filter(files.stream().map(FilterReader::new).toList());
  }

  /** The words of a filter, in order. */
  static final class Filter implements TableHistory.Words {
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
