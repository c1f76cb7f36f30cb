package dev.tern.embedding;

import dev.tern.embedding.config.VectorSource;
import dev.tern.internal.table.index.Hashing;
import java.util.List;
import java.util.stream.IntStream;

/**
 * One of several parts of a table. Shard {@code k} of {@code n} has the ids whose hash has {@code
 * k} as its highest bits. So all shards are of about the same size, whatever the ids. With twice as
 * many shards, each is cut in two: shard 1 of 2 is shards 2 and 3 of 4.
 *
 * @param number which of them, from 0
 * @param count how many there are, a power of two of at most {@value #MOST}
 */
public record TableShard(int number, int count) {
  /** Shards that there may be. */
  public static final int MOST = 1024;

  /** All of a table. */
  public static final TableShard WHOLE = new TableShard(0, 1);

  public TableShard {
    if (count < 1 || count > MOST || Integer.bitCount(count) != 1) {
      throw new IllegalArgumentException(
          "shards: got %d, expected a power of two from 1 to %d".formatted(count, MOST));
    }
    if (number < 0 || number >= count) {
      throw new IllegalArgumentException(
          "shard: got number %d of %d, expected 0 to %d".formatted(number, count, count - 1));
    }
  }

  /** All shards of a table in {@code count}, in order. */
  public static List<TableShard> allOf(int count) {
    return IntStream.range(0, Math.max(1, count)).mapToObj(k -> new TableShard(k, count)).toList();
  }

  /**
   * The share of rank {@code rank} where {@code ranks} ranks hold a table together. The shares of
   * ranks follow each other, as the leaves of a balanced binary tree do; where the number of ranks
   * is no power of two, the last ones have more. Example: of 3 ranks, rank 0 has shard 0 of 4, rank
   * 1 shard 1 of 4, and rank 2 shard 1 of 2.
   */
  public static TableShard ofRank(int rank, int ranks) {
    if (rank < 0 || rank >= ranks || ranks > MOST) {
      throw new IllegalArgumentException(
          "shard: got rank %d of %d, expected 0 to %d of at most %d ranks"
              .formatted(rank, ranks, ranks - 1, MOST));
    }
    TableShard shard = WHOLE;
    int first = 0;
    int size = ranks;
    while (size > 1) {
      int left = Integer.highestOneBit(size - 1);
      boolean isRight = rank >= first + left;
      shard = new TableShard(2 * shard.number + (isRight ? 1 : 0), 2 * shard.count);
      first += isRight ? left : 0;
      size = isRight ? size - left : left;
    }
    return shard;
  }

  /** The least number of shards of one size of which each rank has whole ones. */
  public static int countOfRanks(int ranks) {
    return ranks == 1 ? 1 : 2 * Integer.highestOneBit(ranks - 1);
  }

  /** The parts of this shard where there are {@code of} of the table, no fewer than now. */
  public List<TableShard> parts(int of) {
    int each = of / count;
    return IntStream.range(0, each).mapToObj(k -> new TableShard(number * each + k, of)).toList();
  }

  /** The number of the shard, among {@code count}, of an id with this {@link Hashing#mix hash}. */
  static int ofHash(long hash, int count) {
    return (int) (hash >>> 1 >>> (Long.SIZE - 1 - Integer.numberOfTrailingZeros(count)));
  }

  /** Whether the shard has {@code id}. */
  public boolean has(long id) {
    return ofHash(Hashing.mix(id), count) == number;
  }

  /** Of vectors of {@code width} numbers those whose ids are in the shard. */
  public VectorSource of(VectorSource all, int width) {
    if (equals(WHOLE)) {
      return all;
    }
    return (ids, vectors) -> {
      int kept = 0;
      for (int count = -1; kept == 0 && count != 0; ) {
        count = all.next(ids, vectors);
        for (int i = 0; i < count; i++) {
          if (has(ids[i])) {
            ids[kept] = ids[i];
            System.arraycopy(vectors, i * width, vectors, kept * width, width);
            kept++;
          }
        }
      }
      return kept;
    };
  }

  /** Whether some ids are in both shards. */
  public boolean overlaps(TableShard other) {
    return count <= other.count
        ? other.number / (other.count / count) == number
        : other.overlaps(this);
  }

  /** Whether it is the last one. */
  public boolean isLast() {
    return number == count - 1;
  }
}
