package dev.tern.embedding;

import dev.tern.internal.memory.Memory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;

/** What a checkpoint keeps of a table: history, filter, and rows with all that they hold. */
final class TableCopy {
  private TableCopy() {}

  /** Fills an empty table with it. */
  static void copy(EmbeddingTable table, EmbeddingTable into) {
    copyHistory(table, into);
    copyRows(table, into);
  }

  /** Fills an empty table with the rows alone. */
  static void copyRows(EmbeddingTable table, EmbeddingTable into) {
    int floats = table.config().rowFloats();
    List<Long> ids = new ArrayList<>();
    List<int[]> rows = new ArrayList<>();
    table.exportTo((given, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        long at = values + 4L * i * floats;
        ids.add(given[i]);
        rows.add(IntStream.range(0, floats).map(j -> Memory.getInt(at + 4L * j)).toArray());
      }
    });
    Iterator<Long> id = ids.iterator();
    Iterator<int[]> row = rows.iterator();
    into.importFrom((taken, segment) -> {
      long values = segment.address();
      int count = 0;
      for (long at = values; count < taken.length && id.hasNext(); count++) {
        taken[count] = id.next();
        for (int bits : row.next()) {
          Memory.setInt(at, bits);
          at += 4;
        }
      }
      return count;
    });
  }

  /** What the table counts beside its rows. */
  static long[] counters(EmbeddingTable table) {
    try (TableSnapshot now = table.snapshot()) {
      return now.counters();
    }
  }

  private static void copyHistory(EmbeddingTable table, EmbeddingTable into) {
    List<Long> words = new ArrayList<>();
    try (TableSnapshot now = table.snapshot()) {
      now.readFilter(
          (values, count) -> IntStream.range(0, count).forEach(i -> words.add(values[i])));
    }
    Iterator<Long> word = words.iterator();
    into.restoreHistory(
        counters(table),
        words.size(),
        (values, count) -> IntStream.range(0, count).forEach(i -> values[i] = word.next()));
  }
}
