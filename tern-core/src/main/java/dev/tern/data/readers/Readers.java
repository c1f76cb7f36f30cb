package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import java.util.Arrays;
import java.util.List;

/**
 * Readers made from readers. Each keeps the contract of {@link DataReader}: {@code restore} resumes
 * exactly, batches are recycled once closed, and closing it closes the readers it was made from.
 * The rows and their order never depend on how a source cuts batches, nor on the speed of threads,
 * except where {@link #mappedUnordered} says so.
 *
 * <p>The usual chain is {@code prefetched(encoded(batched(shuffled(file, ...), ...), ...), ...)}.
 */
public final class Readers {
  private Readers() {}

  /** The rows of {@code source}, encoded. */
  public static DataReader encoded(DataReader source, FeatureEncoder encoder) {
    return new EncodedReader(source, encoder);
  }

  /**
   * The rows of {@code source} as {@code map} changes them, on the consumer's thread. A failure of
   * the map becomes a {@link DataException} that names the row, with the failure as its cause.
   *
   * @param schema of the rows that the map makes
   */
  public static DataReader mapped(DataReader source, Schema schema, BatchMap map) {
    return new MappedReader(source, schema, map);
  }

  /**
   * The same rows in the same batches as of {@link #mapped(DataReader, Schema, BatchMap)}, mapped
   * by {@code threads} threads. The consumer's thread reads the source, at most {@code 2 * threads}
   * batches ahead; {@link #prefetched} below leaves that to another. {@code close} does not wait
   * for the map: each thread ends with the batch that it is at.
   */
  public static DataReader mapped(DataReader source, Schema schema, BatchMap map, int threads) {
    requirePositive("map: got %d threads", threads);
    return ParallelMapReader.ordered(source, schema, map, threads);
  }

  /**
   * The rows of {@code source}, mapped by {@code threads} threads, in batches of {@code size} (the
   * last may be smaller) that come as they get done: none waits for a slower one before it. A
   * restored reader gives the rows that were not delivered, again in any order. For that the {@link
   * PassOrder} in the state holds a small number for each batch since the pass began.
   */
  public static DataReader mappedUnordered(
      DataReader source, Schema schema, BatchMap map, int threads, int size) {
    requirePositive("map: got %d threads", threads);
    requirePositive("map: got a size of %d", size);
    return ParallelMapReader.unordered(source, schema, map, threads, size);
  }

  /** Those rows of {@code source} that {@code filter} keeps. Skipping reads. */
  public static DataReader filtered(DataReader source, RowFilter filter) {
    return new FilteredReader(source, filter);
  }

  /**
   * The rows of pass 0 of {@code source} in every pass. They are read as far as they are asked for,
   * and kept in memory.
   *
   * @param maxBytes of all rows; a row beyond raises a {@link DataException}
   */
  public static DataReader cached(DataReader source, long maxBytes) {
    if (maxBytes < 0) {
      throw new IllegalArgumentException(
          "cache: got a limit of " + maxBytes + " bytes, expected 0 or more");
    }
    return new CachedReader(source, maxBytes);
  }

  /**
   * The rows of {@code source} in random order within each block of {@code blockRows}. The order is
   * a pure function of (seed, epoch, number of the block). Holds two blocks: while one is handed
   * out the next is read, row for row, so that there is no pause between them.
   */
  public static DataReader shuffled(DataReader source, int blockRows, long seed) {
    requirePositive("shuffle: got a block of %d rows", blockRows);
    return new ShuffledReader(source, blockRows, seed);
  }

  /**
   * Batches of exactly {@code size} rows; the last of a pass holds what is left, or is dropped if
   * {@code dropLast}.
   */
  public static DataReader batched(DataReader source, int size, boolean dropLast) {
    requirePositive("batch: got a size of %d", size);
    return new BatchedReader(source, size, dropLast);
  }

  /**
   * Batches of {@code size} rows with similar numbers of ids in slot {@code slot}: those of up to
   * {@code bounds[0]} ids, those of up to {@code bounds[1]} and so on, and those of more. A batch
   * comes when its bucket is full; at the end of a pass the rest does, the fewest ids first, or is
   * dropped if {@code dropLast}. Holds fewer than {@code size} rows a bucket. Skipping reads.
   *
   * @param bounds ascending
   */
  public static DataReader bucketed(
      DataReader source, String slot, int[] bounds, int size, boolean dropLast) {
    requirePositive("bucket: got a size of %d", size);
    return new BucketedReader(source, slot, bounds, size, dropLast);
  }

  /**
   * Reads ahead on one background thread, at most {@code depth} batches. What the source throws is
   * thrown by {@code next} in its place among the batches. After a failure {@code start} begins
   * anew.
   *
   * <p>{@code close} waits at most a second for a read under way; a source that takes longer is
   * closed by the background thread when its read returns.
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

  /** All rows of each source in turn; their schemas must be equal. */
  public static DataReader concat(List<DataReader> sources) {
    return new ConcatReader(sources);
  }

  /**
   * {@code rows} rows of each source in turn; their schemas must be equal. One that ends is left
   * out from then on.
   */
  public static DataReader interleaved(List<DataReader> sources, int rows) {
    requirePositive("interleave: got %d rows a turn", rows);
    return new InterleavedReader(sources, rows);
  }

  /**
   * The rows of several sources side by side: each row has the labels, dense numbers and slots of
   * all of them. Names must be distinct. If one ends before another, the rows up to there come and
   * then a {@link DataException} that names the row.
   */
  public static DataReader composed(List<DataReader> sources) {
    return new ComposedReader(sources);
  }

  /** Each pass is {@code times} passes of {@code source}, with successive epochs. */
  public static DataReader repeat(DataReader source, int times) {
    requirePositive("repeat: got %d times", times);
    return new RepeatReader(source, times);
  }

  /**
   * Every {@code count}-th row: row i of a pass goes to the reader of rank {@code i % count}.
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

  /** The rows of {@code batches}, which are copied. */
  public static DataReader inMemory(Schema schema, List<Batch> batches) {
    return new MemoryReader(schema, batches);
  }

  /** The rows of {@code batches}, at least one, which are copied. */
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
