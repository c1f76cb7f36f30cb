package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import java.util.Arrays;
import java.util.List;

/**
 * Decorators: readers made from readers. Each keeps the contract of {@link DataReader}: {@code
 * restore} resumes exactly, closed batches are recycled, and closing a reader closes the readers
 * below. Rows and their order never depend on how a source cuts batches, nor (except in {@link
 * #mappedUnordered}) on the speed of threads.
 */
public final class Readers {
  private Readers() {}

  /** The rows of {@code source}, encoded. */
  public static DataReader encoded(DataReader source, FeatureEncoder encoder) {
    return new EncodedReader(source, encoder);
  }

  /**
   * The rows of {@code source}, encoded, with the {@linkplain Batch#setGroups groups} that a slot's
   * values say: rows with one value belong together. Rows without a value are in no group.
   *
   * @param group a slot of {@code source} with one value a row, which the encoder need not know
   * @throws IllegalArgumentException if there is no such slot
   */
  public static DataReader encoded(DataReader source, FeatureEncoder encoder, String group) {
    return new GroupedReader(source, encoder, group);
  }

  /**
   * The rows of {@code source}, changed by {@code map} on the consumer's thread. A failure of the
   * map becomes a {@link DataException} that names the row.
   *
   * @param schema schema of the changed rows
   */
  public static DataReader mapped(DataReader source, Schema schema, BatchMap map) {
    return new MappedReader(source, schema, map);
  }

  /**
   * As {@link #mapped(DataReader, Schema, BatchMap)}, but {@code threads} threads map. Rows and
   * batches are the same. The consumer's thread reads the source, at most {@code 2 * threads}
   * batches ahead; with {@link #prefetched} below another thread does. {@code close} does not wait
   * for the map: each thread ends after its current batch.
   */
  public static DataReader mapped(DataReader source, Schema schema, BatchMap map, int threads) {
    requirePositive("map: got %d threads", threads);
    return new ParallelMapReader(source, schema, map, threads, 0);
  }

  /**
   * The rows of {@code source}, mapped by {@code threads} threads, in batches of {@code size} rows
   * (the last may be smaller). A batch comes as soon as it is done and waits for no slower one
   * before it. A restored reader gives exactly the rows that were not delivered: the {@link
   * dev.tern.data.PassOrder} in the state holds a small number for each batch since the pass began.
   */
  public static DataReader mappedUnordered(
      DataReader source, Schema schema, BatchMap map, int threads, int size) {
    requirePositive("map: got %d threads", threads);
    requirePositive("map: got a size of %d", size);
    return new ParallelMapReader(batched(source, size, false), schema, map, threads, size);
  }

  /**
   * The same rows, where slots of one sequence must have equally many ids in each row.
   *
   * @param groups names of the slots of each sequence; slots that {@code source} does not have are
   *     left out
   * @param name of the source, for the error, which also names the row
   */
  public static DataReader withEqualLengths(
      DataReader source, List<List<String>> groups, String name) {
    List<String> known = source.schema().slotNames();
    List<List<Integer>> slots =
        groups.stream()
            .map(group -> group.stream().map(known::indexOf).filter(slot -> slot >= 0).toList())
            .filter(group -> group.size() > 1)
            .toList();
    return slots.isEmpty() ? source : new EqualLengthsReader(source, slots, name);
  }

  /**
   * The rows of {@code source}, of whose labels only {@code label} is kept. A model has one: to
   * train on rows with the labels click and sale, take {@code withLabel(rows, "sale")}.
   *
   * @throws IllegalArgumentException if no label has that name
   */
  public static DataReader withLabel(DataReader source, String label) {
    return PickedLabels.one(source, label);
  }

  /**
   * The rows of {@code source}, whose label {@code label} is no label but the weight of its row:
   * how often it counts in the loss and in metrics. For rows of which one of ten was kept, it is
   * 10.
   *
   * @throws IllegalArgumentException if no label has that name, or the rows have weights. A weight
   *     that is not finite or below 0 is a {@link DataException} when its row is read
   */
  public static DataReader weighted(DataReader source, String label) {
    return PickedLabels.weighted(source, label);
  }

  /**
   * Rows with the numbers and slots of {@code schema}, matched by name. Those that {@code source}
   * lacks are missing in each row; others of it are left out. Labels stay.
   */
  public static DataReader withColumns(DataReader source, Schema schema) {
    return AllColumns.of(source, schema);
  }

  /**
   * The rows of {@code source} from one time to before another, without the slot of their times. A
   * skip reads them.
   *
   * @param slot whose one id in each row is its time; a row without one is a {@link DataException}
   *     when it is read
   * @throws IllegalArgumentException if no slot has that name
   */
  public static DataReader between(DataReader source, String slot, long from, long end) {
    return TimeSpanReader.of(source, slot, from, end);
  }

  /** The rows of {@code source} that {@code filter} keeps. A skip reads them. */
  public static DataReader filtered(DataReader source, RowFilter filter) {
    return new FilteredReader(source, filter);
  }

  /**
   * The rows of pass 0 of {@code source} in every pass. They are read on demand and kept in memory.
   *
   * @param maxBytes most bytes of all rows; more raise a {@link DataException}
   */
  public static DataReader cached(DataReader source, long maxBytes) {
    if (maxBytes < 0) {
      throw new IllegalArgumentException(
          "cache: got a limit of " + maxBytes + " bytes, expected 0 or more");
    }
    return new CachedReader(source, maxBytes);
  }

  /**
   * The rows of {@code source} in random order within each block of {@code blockRows} rows. The
   * order depends only on (seed, epoch, number of the block). Holds two blocks: the rows of the
   * next block are read while the rows of the current one are given, so that there is no pause
   * between them.
   */
  public static DataReader shuffled(DataReader source, int blockRows, long seed) {
    requirePositive("shuffle: got a block of %d rows", blockRows);
    return new ShuffledReader(source, blockRows, seed);
  }

  /**
   * Batches of exactly {@code size} rows. The last batch of a pass holds the rest, or is dropped if
   * {@code dropLast}.
   */
  public static DataReader batched(DataReader source, int size, boolean dropLast) {
    requirePositive("batch: got a size of %d", size);
    return new BatchedReader(source, size, dropLast);
  }

  /**
   * Batches of {@code size} rows with similar numbers of ids in slot {@code slot}. There is a
   * bucket for rows of up to {@code bounds[0]} ids, one for up to {@code bounds[1]} and so on, and
   * one for more. A batch comes when its bucket is full. At the end of a pass the rest comes, the
   * fewest ids first, or is dropped if {@code dropLast}. A skip reads the rows.
   *
   * @param bounds ascending numbers of ids
   */
  public static DataReader bucketed(
      DataReader source, String slot, int[] bounds, int size, boolean dropLast) {
    requirePositive("bucket: got a size of %d", size);
    return new BucketedReader(source, slot, bounds, size, dropLast);
  }

  /**
   * Reads at most {@code depth} batches ahead on a background thread. {@code next} throws what the
   * source threw, in its place among the batches. After a failure {@code start} begins anew.
   *
   * <p>{@code close} waits at most a second for the current read. If a source takes longer, the
   * background thread closes it afterwards.
   */
  public static DataReader prefetched(DataReader source, int depth) {
    requirePositive("prefetch: got a depth of %d", depth);
    return new PrefetchedReader(source, depth);
  }

  /** The first {@code rows} rows of each pass. */
  public static DataReader take(DataReader source, long rows) {
    if (rows < 0) {
      throw new IllegalArgumentException("take: got " + rows + " rows, expected 0 or more");
    }
    return new TakeReader(source, rows);
  }

  /** All rows of the first source, then all rows of the next; their schemas must be equal. */
  public static DataReader concat(List<DataReader> sources) {
    return new ConcatReader(sources, 1);
  }

  /**
   * {@code rows} rows of each source in turn; their schemas must be equal. A source that has ended
   * is left out.
   */
  public static DataReader interleaved(List<DataReader> sources, int rows) {
    requirePositive("interleave: got %d rows a turn", rows);
    return new InterleavedReader(sources, rows);
  }

  /**
   * The rows of several sources side by side: each row has the labels, dense numbers and slots of
   * all of them, whose names must be distinct. If one source ends before another, a {@link
   * DataException} names the row.
   */
  public static DataReader composed(List<DataReader> sources) {
    return new ComposedReader(sources);
  }

  /** Each pass is {@code times} passes of {@code source}, with successive epochs. */
  public static DataReader repeat(DataReader source, int times) {
    requirePositive("repeat: got %d times", times);
    return new ConcatReader(List.of(source), times);
  }

  /**
   * Every {@code count}-th row: row {@code i} of a pass goes to the reader of rank {@code i %
   * count}.
   *
   * @param rank from 0 to {@code count - 1}
   */
  public static DataReader shard(DataReader source, int rank, int count) {
    if (rank < 0 || rank >= count) {
      throw new IllegalArgumentException(
          "shard: got rank %d of %d, expected 0 to %d".formatted(rank, count, count - 1));
    }
    return new ShardReader(source, rank, count);
  }

  /** A copy of the rows of {@code batches}. */
  public static DataReader inMemory(Schema schema, List<Batch> batches) {
    return new MemoryReader(schema, batches);
  }

  /** A copy of the rows of {@code batches}; at least one batch. */
  public static DataReader inMemory(Batch... batches) {
    if (batches.length == 0) {
      throw new IllegalArgumentException(
          "in memory: got no batch, expected one or more; give a schema where there are no rows");
    }
    return new MemoryReader(batches[0].schema(), Arrays.asList(batches));
  }

  static void requireSchema(String op, Schema got, Schema expected) {
    if (!got.equals(expected)) {
      throw new IllegalArgumentException(
          "%s: got rows of %s, expected %s".formatted(op, got, expected));
    }
  }

  private static void requirePositive(String got, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(got.formatted(value) + ", expected 1 or more");
    }
  }
}
