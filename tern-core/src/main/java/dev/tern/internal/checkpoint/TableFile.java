package dev.tern.internal.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableChanges;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A table as a safetensors file with these arrays, where {@code n} is the number of rows and {@code
 * W} their width:
 *
 * <ul>
 *   <li>{@code ids} (I64, {@code [n]}, ascending), {@code weights} ({@code [n, W]}, in the storage
 *       type of the table) and {@code state} (F32, {@code [n, floats of optimizer state]});
 *   <li>under a row policy also {@code metadata} (I32, {@code [n, numbers]}), {@code history} (I64)
 *       and {@code filter} (I64, words of the counting filter); see {@link TableSnapshot};
 *   <li>bucket rows, if ids without a row have them: {@link BucketColumns}.
 * </ul>
 *
 * <p>A table that is split into shards has a file for each. The last file holds history, filter and
 * buckets of the whole table.
 *
 * <p>A delta file holds the rows that are new or changed, and {@code gone} (I64, ascending), the
 * ids whose rows are gone. Its {@code filter} holds only the words of the numbers {@code
 * filter_words} (I64, ascending); {@code filter_size} (I64, {@code [1]}) is the number of all
 * words. It holds all buckets.
 */
public final class TableFile {
  static final String IDS = "ids";
  public static final String GONE = "gone";
  static final String HISTORY = "history";
  static final String FILTER = "filter";
  static final String FILTER_WORDS = "filter_words";
  static final String FILTER_SIZE = "filter_size";

  /** The metadata that names the shard: 0/4 is the first of four. Absent for a whole table. */
  static final String SHARD = "shard";

  private static final int BLOCK = 1 << 13;

  /** Rows whose weights are read at a time. */
  private static final int WEIGHTS_BLOCK = 1 << 10;

  private static final long[] NO_COUNTERS = {};

  private TableFile() {}

  /**
   * Writes a snapshot; returns the digest of the file.
   *
   * @throws IllegalStateException if a weight is infinite or NaN
   */
  public static String write(Path path, TableSnapshot table) {
    return write(path, table, TableShard.WHOLE);
  }

  /** The same for a table that holds one shard of another, which has no row policy. */
  public static String write(Path path, TableSnapshot table, TableShard shard) {
    boolean remembers = !table.config().rows().isAll();
    RowShape shape = RowShape.of(table.config());
    long count = table.rows();
    long[] gone = table.gone();
    long[] numbers = table.filterNumbers();
    long[] counters = remembers ? table.counters() : NO_COUNTERS;
    boolean whole = table.isWhole();
    SafeTensors.Layout layout = layout(shape, count, counters);
    if (!whole) {
      layout.add(GONE, DType.I64, gone.length);
    }
    if (remembers) {
      layout.add(FILTER, DType.I64, whole ? table.filterWords() : numbers.length);
    }
    if (remembers && !whole) {
      layout.add(FILTER_WORDS, DType.I64, numbers.length).add(FILTER_SIZE, DType.I64, 1);
    }
    int buckets = table.config().unknown().buckets();
    BucketColumns.layout(layout, shape, buckets);
    try (SafeTensors file = SafeTensors.create(path, layout, name(table.config().name(), shard))) {
      RowWriter rows = new RowWriter(shape, file, count);
      table.exportBlocks(finite(table, rows::append));
      rows.requireAll();
      if (!whole) {
        new LongColumn(file, GONE).append(gone, gone.length);
      }
      if (remembers) {
        new LongColumn(file, HISTORY).append(counters, counters.length);
        table.readFilter(new LongColumn(file, FILTER)::append);
      }
      if (remembers && !whole) {
        new LongColumn(file, FILTER_WORDS).append(numbers, numbers.length);
        new LongColumn(file, FILTER_SIZE).append(new long[] {table.filterWords()}, 1);
      }
      if (buckets > 0) {
        table.exportBuckets(finite(table, new BucketColumns(shape, file, buckets)::append));
      }
      return file.digest();
    }
  }

  /** {@code sink} behind a check of the weights of {@code table}. */
  private static Consumer<RowBlock> finite(TableSnapshot table, Consumer<RowBlock> sink) {
    return block -> {
      FiniteWeights.require(table.config().name(), table.config().storage(), block);
      sink.accept(block);
    };
  }

  /**
   * Merges the files of a table, the oldest first, into one. For the whole table, {@link
   * #write(Path, TableSnapshot)} would have written the same bytes at the time of the last file.
   */
  public static void merge(Path path, List<Path> files, String table, TableShard shard) {
    RowShape shape = RowShape.of(files.getLast());
    try (SavedTable counted = SavedTable.open(files, shape, shard);
        SavedTable saved = SavedTable.open(files, shape, shard)) {
      write(path, name(table, shard), saved, counted.count(), saved);
    }
  }

  /**
   * Writes {@code count} ascending rows as a table with the history and buckets of {@code saved}.
   */
  public static void write(Path path, String table, RowSource rows, long count, SavedTable saved) {
    write(path, name(table), rows, count, saved);
  }

  private static void write(
      Path path, Map<String, String> name, RowSource rows, long count, SavedTable saved) {
    boolean isLast = saved.shard().isLast(); // Only the last shard holds history and buckets.
    boolean remembers = saved.hasHistory() && isLast;
    RowShape shape = saved.shape();
    long[] counters = remembers ? saved.counters() : NO_COUNTERS;
    SafeTensors.Layout layout = layout(shape, count, counters);
    long filterWords = remembers ? saved.filter().size() : 0;
    if (remembers) {
      layout.add(FILTER, DType.I64, filterWords);
    }
    int buckets = isLast ? saved.buckets() : 0;
    BucketColumns.layout(layout, shape, buckets);
    try (SafeTensors file = SafeTensors.create(path, layout, name)) {
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

  /** The metadata of a file that names its table. */
  public static Map<String, String> name(String table) {
    return Map.of("table", table);
  }

  private static Map<String, String> name(String table, TableShard shard) {
    Map<String, String> names = new LinkedHashMap<>(name(table));
    if (shard.count() > 1) {
      names.put(SHARD, shard.number() + "/" + shard.count());
    }
    return names;
  }

  /** Rows and history; the latter is absent for no counters. */
  private static SafeTensors.Layout layout(RowShape shape, long rows, long[] counters) {
    SafeTensors.Layout layout = RowWriter.layout(shape, rows);
    if (counters.length == 0) {
      return layout;
    }
    if (shape.metadata() == 0) {
      layout.add(RowColumns.METADATA, DType.I32, rows, 0);
    }
    return layout.add(HISTORY, DType.I64, counters.length);
  }

  /**
   * Fills an empty table with one shard of its files, the oldest first: rows, buckets if the table
   * has some, and the history if it has a row policy.
   */
  public static void read(List<Path> paths, EmbeddingTable table, TableShard shard) {
    read(paths, table, shard, false);
  }

  /**
   * The same.
   *
   * @param finite whether to refuse weights that are infinite or NaN
   */
  public static void read(
      List<Path> paths, EmbeddingTable table, TableShard shard, boolean finite) {
    Path last = paths.getLast();
    TableConfig config = table.config();
    RowShape shape = RowShape.of(config);
    try (SavedTable saved = SavedTable.open(paths, shape, shard)) {
      requireBuckets(last, config, saved);
      if (!config.rows().isAll()) {
        readHistory(last, saved, table);
      }
      if (config.unknown().buckets() > 0) {
        RowBlock.Source rows = saved.bucketRows()::next;
        table.restoreBuckets(finite ? FiniteWeights.checked(last, config, rows) : rows);
      }
      if (saved.isInOneFile()) {
        RowBlock.Source rows = saved::next;
        table.importBlocks(
            saved.expected(), finite ? FiniteWeights.checked(last, config, rows) : rows);
      } else {
        table.importFrom(finite ? FiniteWeights.checked(last, config, shape, saved) : saved);
      }
    } catch (IllegalArgumentException e) {
      throw new DataException(last + ": " + e.getMessage(), e);
    }
  }

  private static void requireBuckets(Path path, TableConfig config, SavedTable saved) {
    int buckets = config.unknown().buckets();
    if (buckets > 0 && saved.buckets() != buckets) {
      throw new DataException(
          "%s: got %d buckets for ids without a row, expected %d; read the checkpoint with the buckets of its run"
              .formatted(path, saved.buckets(), buckets));
    }
  }

  /**
   * Reads the file of a checkpoint of changes.
   *
   * @param into empty changes of a table without a row policy, as for scoring
   * @return false, with nothing read, if the file holds a whole table instead
   * @throws DataException also if a weight is infinite or NaN
   */
  public static boolean readChanges(Path path, TableConfig config, TableChanges into) {
    RowShape shape = RowShape.of(config);
    try (SavedTable saved = SavedTable.open(List.of(path), shape)) {
      if (saved.isWhole()) {
        return false;
      }
      requireBuckets(path, config, saved);
      if (config.unknown().buckets() > 0) {
        into.putBuckets(FiniteWeights.checked(path, config, saved.bucketRows()::next));
      }
      long[] gone = saved.gone();
      into.put(FiniteWeights.checked(path, config, shape, saved));
      into.remove(gone, gone.length);
      return true;
    } catch (IllegalArgumentException e) {
      throw new DataException(path + ": " + e.getMessage(), e);
    }
  }

  /**
   * Reads the files of a table, the oldest first, and keeps what another table of the same run has
   * otherwise.
   *
   * @param into empty changes of {@code table}, which has no row policy, as for scoring
   * @param most bytes of memory that the changes may take
   * @return whether they did not take more
   * @throws DataException also if a weight is infinite or NaN
   */
  public static boolean readDifferences(
      List<Path> paths, EmbeddingTable table, TableChanges into, long most) {
    Path last = paths.getLast();
    TableConfig config = table.config();
    RowShape shape = RowShape.of(config);
    try (SavedTable saved = SavedTable.open(paths, shape)) {
      requireBuckets(last, config, saved);
      if (config.unknown().buckets() > 0) {
        into.putBuckets(FiniteWeights.checked(last, config, saved.bucketRows()::next));
      }
      return into.putDifferences(FiniteWeights.checked(last, config, shape, saved), most);
    } catch (IllegalArgumentException e) {
      throw new DataException(last + ": " + e.getMessage(), e);
    }
  }

  /**
   * Reads some rows of a table's files, and gives every second one as a change that changes
   * nothing. Goes the way of differences too, whose outcome it drops.
   *
   * @param into empty changes of {@code table}, which has no row policy, as for scoring
   * @param most rows, or a block more
   * @return false where the table has one of them otherwise
   * @throws DataException also if a weight is infinite or NaN
   */
  public static boolean readSame(
      List<Path> paths, EmbeddingTable table, TableChanges into, long most) {
    Path last = paths.getLast();
    TableConfig config = table.config();
    RowShape shape = RowShape.of(config);
    try (SavedTable compared = SavedTable.open(paths, shape);
        SavedTable changed = SavedTable.open(paths, shape);
        SavedTable same = SavedTable.open(paths, shape);
        TableChanges nothing = new TableChanges(table)) {
      requireBuckets(last, config, same);
      if (config.unknown().buckets() > 0) {
        into.putBuckets(FiniteWeights.checked(last, config, same.bucketRows()::next));
      }
      into.putSomeDifferences(
          FiniteWeights.checked(last, config, shape, SomeRows.first(compared, most)));
      if (into.size() > 0) {
        return false;
      }
      nothing.putSomeDifferences(SomeRows.changed(SomeRows.first(changed, most), shape));
      into.put(
          SomeRows.half(
              FiniteWeights.checked(last, config, shape, SomeRows.first(same, most)), shape));
      return true;
    } catch (IllegalArgumentException e) {
      throw new DataException(last + ": " + e.getMessage(), e);
    }
  }

  /**
   * Fills an empty table with the weights of a table's files, the oldest first. Its rows have the
   * optimizer state of new rows, and count as seen last in step 1. How often they were seen and
   * their scores stay where both tables keep them; else they count as seen once.
   *
   * @return whether it did: false where rows are of another width
   * @throws DataException if there are more rows than the table may have
   */
  public static boolean readWeights(List<Path> paths, EmbeddingTable table) {
    RowShape saved = RowShape.of(paths.getLast());
    RowShape own = RowShape.of(table.config());
    if (saved.width() != own.width()) {
      return false;
    }
    float[] state = table.config().rule().initialState(own.width());
    int[] metadata = {1, 1, Float.floatToIntBits(1)};
    int kept = saved.metadata() == own.metadata() ? own.metadata() : 0;
    try (SavedTable rows = SavedTable.open(paths, saved);
        Arena arena = Arena.ofConfined()) {
      // No more than the table asks for at a time.
      long bytes = WEIGHTS_BLOCK * saved.packedBytes();
      MemorySegment block = Memory.allocate(arena, bytes, 8, "rows to begin with");
      long[] ids = new long[WEIGHTS_BLOCK];
      table.importFrom((wanted, values) -> {
        long[] some = wanted.length <= ids.length ? new long[wanted.length] : ids;
        int count = rows.next(some, block);
        for (int i = 0; i < count; i++) {
          wanted[i] = some[i];
          long to = values.address() + i * own.packedBytes();
          long from = block.address() + i * saved.packedBytes();
          Memory.copy(from, to, 4L * own.width());
          Memory.copyIn(state, 0, to + 4L * own.width(), state.length);
          long numbers = to + 4L * (own.width() + own.state());
          long before = from + 4L * (saved.width() + saved.state());
          for (int m = 0; m < own.metadata(); m++) {
            boolean keeps = m > 0 && m < kept;
            Memory.setInt(numbers + 4L * m, keeps ? Memory.getInt(before + 4L * m) : metadata[m]);
          }
        }
        return count;
      });
      long most = table.config().rows().maxRows();
      if (table.size() > most) {
        throw new DataException(
            "%s: got %d rows to begin with, expected %d at most; allow more rows, or begin without them"
                .formatted(paths.getLast(), table.size(), most));
      }
      return true;
    } catch (IllegalArgumentException e) {
      throw new DataException(paths.getLast() + ": " + e.getMessage(), e);
    }
  }

  private static void readHistory(Path path, SavedTable saved, EmbeddingTable table) {
    if (!saved.hasHistory()) {
      throw new DataException(
          "%s: got a table without a history, expected one of the row policy %s; resume with the admission and eviction of the run"
              .formatted(path, table.config().rows()));
    }
    SavedTable.Filter filter = saved.filter();
    table.restoreHistory(saved.counters(), filter.size(), filter);
  }
}
