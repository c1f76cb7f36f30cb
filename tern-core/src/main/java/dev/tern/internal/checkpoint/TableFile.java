package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableHistory;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.RowSource;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One table as a safetensors file: {@code ids} (I64, {@code [n]}, ascending), {@code weights} (as
 * the table stores them, {@code [n, W]}) and {@code state} (F32, {@code [n, floats of optimizer
 * state]}). Where a {@link RowPolicy} is at work also {@code metadata} (I32, {@code [n, numbers]},
 * if rows keep any), {@code history} (I64) and {@code filter} (I64, words of the counting filter);
 * see {@link TableHistory}. Where ids without a row have buckets, also these: {@link
 * BucketColumns}.
 *
 * <p>Of a table in several shards each is a file of its own, and the last one holds history, filter
 * and buckets of all.
 *
 * <p>A file of changes holds the rows that came or changed, and {@code gone} (I64, ascending), ids
 * that had a row in the file before; of the filter only the words numbered {@code filter_words}
 * (I64, ascending), and how many there are in all, {@code filter_size} (I64, {@code [1]}); of
 * buckets all.
 */
public final class TableFile {
  static final String IDS = "ids";
  public static final String GONE = "gone";
  static final String HISTORY = "history";
  static final String FILTER = "filter";
  static final String FILTER_WORDS = "filter_words";
  static final String FILTER_SIZE = "filter_size";

  /** In the header, which shard of the table the file holds, as 0/4; where absent, all of it. */
  static final String SHARD = "shard";

  private static final int BLOCK = 1 << 13;
  private static final long[] NO_COUNTERS = {};

  private TableFile() {}

  /** Writes what a snapshot holds; returns the digest of the file. */
  public static String write(Path path, TableSnapshot table) {
    boolean remembers = !table.config().rows().isAll();
    RowShape shape = RowShape.of(table.config());
    long count = table.rows();
    long[] gone = table.gone();
    long[] numbers = table.filterNumbers();
    long[] counters = remembers ? table.counters() : NO_COUNTERS;
    SafeTensors.Layout layout = layout(shape, count, counters);
    if (!table.isWhole()) {
      layout.add(GONE, DType.I64, gone.length);
    }
    if (remembers && table.isWhole()) {
      layout.add(FILTER, DType.I64, table.filterWords());
    } else if (remembers) {
      layout
          .add(FILTER, DType.I64, numbers.length)
          .add(FILTER_WORDS, DType.I64, numbers.length)
          .add(FILTER_SIZE, DType.I64, 1);
    }
    int buckets = table.config().unknown().buckets();
    BucketColumns.layout(layout, shape, buckets);
    try (SafeTensors file = SafeTensors.create(path, layout, name(table.config().name()))) {
      RowWriter rows = new RowWriter(shape, file, count);
      table.exportBlocks(rows::append);
      rows.requireAll();
      if (!table.isWhole()) {
        new LongColumn(file, GONE).append(gone, gone.length);
      }
      if (remembers) {
        new LongColumn(file, HISTORY).append(counters, counters.length);
        table.readFilter(new LongColumn(file, FILTER)::append);
      }
      if (remembers && !table.isWhole()) {
        new LongColumn(file, FILTER_WORDS).append(numbers, numbers.length);
        new LongColumn(file, FILTER_SIZE).append(new long[] {table.filterWords()}, 1);
      }
      if (buckets > 0) {
        table.exportBuckets(new BucketColumns(shape, file, buckets)::append);
      }
      return file.digest();
    }
  }

  /**
   * Writes what the files of a table, the oldest first, come to: of the whole table the bytes that
   * {@link #write(Path, TableSnapshot)} would have written of it then.
   */
  public static void merge(Path path, List<Path> files, String table, TableShard shard) {
    RowShape shape = RowShape.of(files.getLast());
    try (SavedTable counted = SavedTable.open(files, shape, shard);
        SavedTable saved = SavedTable.open(files, shape, shard)) {
      write(path, table, saved, counted.count(), saved, shard);
    }
  }

  /**
   * Writes {@code count} rows of {@code rows}, ascending, as a table with the history and buckets
   * of {@code saved}.
   */
  public static void write(Path path, String table, RowSource rows, long count, SavedTable saved) {
    write(path, table, rows, count, saved, TableShard.WHOLE);
  }

  /** The last shard holds history and buckets of all. */
  private static void write(
      Path path, String table, RowSource rows, long count, SavedTable saved, TableShard shard) {
    boolean remembers = saved.hasHistory() && shard.isLast();
    RowShape shape = saved.shape();
    long[] counters = remembers ? saved.counters() : NO_COUNTERS;
    SafeTensors.Layout layout = layout(shape, count, counters);
    long filterWords = remembers ? saved.filter().size() : 0;
    if (remembers) {
      layout.add(FILTER, DType.I64, filterWords);
    }
    int buckets = shard.isLast() ? saved.buckets() : 0;
    BucketColumns.layout(layout, shape, buckets);
    try (SafeTensors file = SafeTensors.create(path, layout, name(table, shard))) {
      new RowWriter(shape, file, count).appendAll(rows);
      if (remembers) {
        new LongColumn(file, HISTORY).append(counters, counters.length);
        copy(saved.filter(), filterWords, new LongColumn(file, FILTER));
      }
      if (buckets > 0) {
        new BucketColumns(shape, file, buckets).appendAll(saved.bucketRows());
      }
    }
  }

  private static void copy(SavedTable.Filter from, long words, LongColumn to) {
    long[] block = new long[BLOCK];
    for (long at = 0; at < words; at += BLOCK) {
      int count = (int) Math.min(BLOCK, words - at);
      from.next(block, count);
      to.append(block, count);
    }
  }

  public static Map<String, String> name(String table) {
    return Map.of("table", table);
  }

  private static Map<String, String> name(String table, TableShard shard) {
    Map<String, String> names = new LinkedHashMap<>(name(table));
    if (!shard.equals(TableShard.WHOLE)) {
      names.put(SHARD, shard.number() + "/" + shard.count());
    }
    return names;
  }

  /**
   * @param counters of its history; none where it has none
   */
  private static SafeTensors.Layout layout(RowShape shape, long rows, long[] counters) {
    boolean remembers = counters.length > 0;
    SafeTensors.Layout layout = RowWriter.layout(shape, rows);
    if (remembers && shape.metadata() == 0) {
      layout.add(RowColumns.METADATA, DType.I32, rows, 0);
    }
    return remembers ? layout.add(HISTORY, DType.I64, counters.length) : layout;
  }

  /**
   * Fills an empty table with a shard of what its files, the oldest first, hold; of one without a
   * row policy it takes no more than rows, and buckets where the table has some.
   */
  public static void read(List<Path> paths, EmbeddingTable table, TableShard shard) {
    try (SavedTable saved = SavedTable.open(paths, RowShape.of(table.config()), shard)) {
      int buckets = table.config().unknown().buckets();
      if (buckets > 0 && saved.buckets() != buckets) {
        throw new DataException(
            "%s: got %d buckets for ids without a row, expected %d; read the checkpoint with the buckets of its run"
                .formatted(paths.getLast(), saved.buckets(), buckets));
      }
      if (!table.config().rows().isAll()) {
        readHistory(paths.getLast(), saved, table);
      }
      if (buckets > 0) {
        table.history().restoreBuckets(saved.bucketRows()::next);
      }
      if (saved.isInOneFile()) {
        table.importBlocks(saved.expected(), saved::next);
      } else {
        table.importFrom(saved);
      }
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
