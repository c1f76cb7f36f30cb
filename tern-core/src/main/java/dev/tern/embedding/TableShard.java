package dev.tern.embedding;

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

  /** Whether the shard has {@code id}. */
  public boolean has(long id) {
    int bits = Integer.numberOfTrailingZeros(count);
    return Hashing.mix(id) >>> 1 >>> (Long.SIZE - 1 - bits) == number;
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
