package dev.tern.internal.checkpoint;

import dev.tern.base.DataException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The words of a counting filter in one file of a table: all words, or in a delta the numbers of
 * those that changed and their values. Read in order.
 */
final class FilterReader {
  private static final int BLOCK = 1 << 13;

  /**
   * More than the factor by which a filter can grow between two files. It doubles when 7 of 8 cells
   * are in use, and a delta lists each word with newly used cells.
   */
  private static final int MOST_GROWTH = 16;

  private final Path path;
  private final LongColumn values;
  private final long size;
  private final Optional<IdCursor> numbers;
  private final long[] block = new long[BLOCK];
  private long loaded = -1;

  FilterReader(TableReader table) {
    path = table.path;
    SafeTensors file = table.file;
    values = LongColumn.open(path, file, TableFile.FILTER);
    if (table.isWhole()) {
      numbers = Optional.empty();
      size = values.size();
      return;
    }
    LongColumn changed = LongColumn.open(path, file, TableFile.FILTER_WORDS);
    LongColumn sizes = LongColumn.open(path, file, TableFile.FILTER_SIZE);
    if (sizes.size() != 1 || changed.size() != values.size()) {
      throw damaged(changed.size() + " numbers of " + values.size() + " words");
    }
    sizes.read(0, block, 1);
    size = block[0];
    numbers = Optional.of(new IdCursor(path, changed, BLOCK));
  }

  /** Words of the filter when the file was written. */
  long size() {
    return size;
  }

  /** Throws unless the filter of the file {@code before} can have grown to this one. */
  void requireGrownFrom(FilterReader before) {
    if (size < before.size || size / MOST_GROWTH > before.size + values.size()) {
      throw damaged("a filter of " + size + " words after one of " + before.size);
    }
  }

  /** Puts the words that it has of {@code [from, from + count)} into {@code into[0 .. count)}. */
  void overlay(long from, long[] into, int count) {
    if (numbers.isEmpty()) {
      int here = (int) Math.clamp(size - from, 0, count);
      if (here > 0) {
        values.read(from, into, here);
      }
      return;
    }
    IdCursor cursor = numbers.get();
    while (!cursor.ended() && cursor.id() < from + count) {
      if (cursor.id() < from || cursor.id() >= size) {
        throw damaged("word " + cursor.id() + " of a filter of " + size);
      }
      if (loaded != cursor.blockStart()) {
        loaded = cursor.blockStart();
        values.read(loaded, block, cursor.blockSize());
      }
      into[(int) (cursor.id() - from)] = block[cursor.inBlock()];
      cursor.advance();
    }
  }

  /** Throws if words are left that lie beyond the end of the filter. */
  void requireEnd() {
    if (numbers.isPresent() && !numbers.get().ended()) {
      throw damaged("word " + numbers.get().id() + " of a filter of " + size);
    }
  }

  private DataException damaged(String got) {
    return new DataException(
        path + ": got " + got + ", expected words of the table's filter; the file is damaged");
  }
}
