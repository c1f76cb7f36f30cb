package dev.tern.data;

import java.util.Arrays;
import java.util.List;

/**
 * Readers made from readers. Each keeps the contract of {@link DataReader}: {@code start} then
 * {@code skip} resumes exactly, batches are recycled once closed, and closing it closes the readers
 * it was made from. The rows and their order never depend on how a source cuts batches.
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
