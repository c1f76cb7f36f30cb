package dev.tern.train;

import dev.tern.data.DataException;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.RowPolicy;
import dev.tern.embedding.TableChanges;
import dev.tern.embedding.TableHistory;
import dev.tern.tensor.DType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * One table as a safetensors file: {@code ids} (I64, {@code [n]}, ascending), {@code weights} (as
 * the table stores them, {@code [n, W]}) and {@code state} (F32, {@code [n, floats of optimizer
 * state]}). Where a {@link RowPolicy} is at work also {@code metadata} (I32, {@code [n, numbers]},
 * if rows keep any), {@code history} (I64) and {@code filter} (I64, words of the counting filter);
 * see {@link TableHistory}.
 *
 * <p>A file of changes holds the rows that came or changed, and {@code gone} (I64, ascending), ids
 * that had a row in the file before; of the filter only the words numbered {@code filter_words}
 * (I64, ascending), and how many there are in all, {@code filter_size} (I64, {@code [1]}).
 */
final class TableFile {
  static final String IDS = "ids";
  static final String GONE = "gone";
  static final String HISTORY = "history";
  static final String FILTER = "filter";
  static final String FILTER_WORDS = "filter_words";
  static final String FILTER_SIZE = "filter_size";

  private TableFile() {}

  /** Writes the whole table. */
  static void write(Path path, EmbeddingTable table) {
    boolean remembers = !table.config().rows().isAll();
    TableHistory history = table.history();
    SafeTensors.Layout layout = layout(table, table.size());
    if (remembers) {
      layout.add(FILTER, DType.I64, history.filterWords());
    }
    try (SafeTensors file = SafeTensors.create(path, layout, name(table))) {
      RowWriter rows = new RowWriter(RowShape.of(table.config()), file);
      table.exportTo(rows::append);
      if (remembers) {
        new LongColumn(file, HISTORY).append(history.counters(), TableHistory.COUNTERS);
        history.readFilter(new LongColumn(file, FILTER)::append);
      }
    }
  }

  /** Writes what changed in the table, or all of it where that is too much to list. */
  static void writeChanges(Path path, EmbeddingTable table) {
    TableChanges changes = table.changes();
    if (changes.all()) {
      write(path, table);
      return;
    }
    boolean remembers = !table.config().rows().isAll();
    TableHistory history = table.history();
    long[] ids = changes.rows();
    long[] gone = changes.gone();
    long[] words = changes.filterWords();
    SafeTensors.Layout layout = layout(table, ids.length).add(GONE, DType.I64, gone.length);
    if (remembers) {
      layout
          .add(FILTER, DType.I64, words.length)
          .add(FILTER_WORDS, DType.I64, words.length)
          .add(FILTER_SIZE, DType.I64, 1);
    }
    try (SafeTensors file = SafeTensors.create(path, layout, name(table))) {
      RowWriter rows = new RowWriter(RowShape.of(table.config()), file);
      table.exportTo(ids, rows::append);
      new LongColumn(file, GONE).append(gone, gone.length);
      if (remembers) {
        new LongColumn(file, HISTORY).append(history.counters(), TableHistory.COUNTERS);
        history.readFilter(words, new LongColumn(file, FILTER)::append);
        new LongColumn(file, FILTER_WORDS).append(words, words.length);
        new LongColumn(file, FILTER_SIZE).append(new long[] {history.filterWords()}, 1);
      }
    }
  }

  private static Map<String, String> name(EmbeddingTable table) {
    return Map.of("table", table.config().name());
  }

  private static SafeTensors.Layout layout(EmbeddingTable table, long rows) {
    SafeTensors.Layout layout = RowWriter.layout(RowShape.of(table.config()), rows);
    if (!table.config().rows().isAll()) {
      if (table.config().metadata() == 0) {
        layout.add(RowColumns.METADATA, DType.I32, rows, 0);
      }
      layout.add(HISTORY, DType.I64, TableHistory.COUNTERS);
    }
    return layout;
  }

  /**
   * Fills an empty table from its files, the oldest first; of one without a row policy it takes no
   * more than rows.
   */
  static void read(List<Path> paths, EmbeddingTable table) {
    try (SavedTable saved = SavedTable.open(paths, RowShape.of(table.config()))) {
      if (!table.config().rows().isAll()) {
        readHistory(paths.getLast(), saved, table);
      }
      table.importFrom(saved);
    } catch (IllegalArgumentException e) {
      throw new DataException(paths.getLast() + ": " + e.getMessage(), e);
    }
  }

  private static void readHistory(Path path, SavedTable saved, EmbeddingTable table) {
    if (!saved.hasHistory()) {
      throw new DataException(
          path
              + ": got a table without a history, expected one of the row policy "
              + table.config().rows()
              + "; resume with the admission and eviction of the run");
    }
    SavedTable.Filter filter = saved.filter();
    table.history().restore(saved.counters(), filter.size(), filter);
  }
}
