package dev.tern.internal.table.rows;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import java.util.Optional;

/**
 * The rows of {@code UnknownRow.Hashed}, which ids without a row of their own share. They are the
 * first rows of the slabs and are not in the index, so every id stays legal. An update of them uses
 * a lookup of bucket numbers instead of ids: ids that share a bucket become one distinct number.
 */
public final class BucketRows {
  /** Gives bucket rows other initial weights than rows of ids have. */
  private static final long SALT = 0x2545F4914F6CDD1DL;

  private final RowSlabs slabs;
  private final int count;

  private final RowLookup read = new RowLookup();
  private final PooledBags grouped = new PooledBags(Combiner.SUM);

  // For each position of a batch whose id reads as a bucket: the bucket, and its weight in the bag.
  private long[] numbers = new long[0];
  private float[] scales = new float[0];

  /** Where bags begin among these positions. */
  private int[] offsets = new int[1];

  private BucketRows(TableConfig config, RowSlabs slabs, int count) {
    this.slabs = slabs;
    this.count = count;
    InitialRows initial = new InitialRows(config, SALT);
    slabs.reserve(count);
    for (int bucket = 0; bucket < count; bucket++) {
      long row = slabs.address(slabs.add());
      Memory.zero(row, slabs.stride());
      if (config.format() == RowFormat.STORED) {
        initial.write(new long[] {bucket}, new long[] {row}, new int[] {0}, 1);
      }
    }
  }

  /**
   * Makes the bucket rows of a new table, if it has any. They have initial weights, in a table for
   * reading alone zeros. If memory runs out, the caller frees the slabs.
   */
  public static Optional<BucketRows> of(TableConfig config, RowSlabs slabs) {
    int count = config.unknown().buckets();
    return count > 0 ? Optional.of(new BucketRows(config, slabs, count)) : Optional.empty();
  }

  /** Makes distinct id {@code u} of a lookup read its bucket. */
  void read(RowLookup lookup, int u) {
    lookup.rows[u] = RowLookup.BUCKET;
    lookup.addresses[u] = slabs.address(bucket(lookup.hashes[u]));
  }

  private int bucket(long hash) {
    return (int) Math.unsignedMultiplyHigh(hash, count);
  }

  /** The buckets that a lookup reads, grouped for an update; valid until the next call. */
  public RowLookup group(RowLookup lookup, PooledBags bags) {
    int count = bags.count;
    int positions = bags.offsets[count] - bags.offsets[0];
    if (numbers.length < positions || scales.length < positions) {
      numbers = new long[positions + positions / 4];
      scales = new float[numbers.length];
    }
    if (offsets.length <= count) {
      offsets = new int[count + count / 4 + 1];
    }
    offsets[0] = 0;
    for (int b = 0; b < count; b++) {
      offsets[b + 1] = take(lookup, bags, b, offsets[b]);
    }
    read.fill(numbers, offsets[count]);
    locate();
    read.group(grouped.set(offsets, scales, count).inLanes(bags.lanes()));
    return read;
  }

  /** Appends the positions of a bag to {@code taken} others; returns how many there are then. */
  private int take(RowLookup lookup, PooledBags bags, int bag, int taken) {
    float scale = bags.scale(bag);
    int at = taken;
    for (int i = bags.offsets[bag]; i < bags.offsets[bag + 1]; i++) {
      int u = lookup.inverse[i];
      if (lookup.rows[u] == RowLookup.BUCKET) {
        numbers[at] = bucket(lookup.hashes[u]);
        scales[at++] = bags.factor(scale, i);
      }
    }
    return at;
  }

  /** A lookup of the bucket rows with these numbers; valid until the next call. */
  public RowLookup numbered(long[] bucketNumbers, int rows) {
    read.fillDistinct(bucketNumbers, rows);
    locate();
    return read;
  }

  private void locate() {
    int unique = read.unique();
    for (int u = 0; u < unique; u++) {
      read.rows[u] = (int) read.ids[u];
      read.addresses[u] = slabs.address(read.rows[u]);
    }
    read.complete = true;
  }

  /** Overwrites all rows with those of a table like this one. */
  public void copyFrom(BucketRows other) {
    int bytes = slabs.stride();
    for (int bucket = 0; bucket < count; bucket++) {
      Memory.copy(other.slabs.address(bucket), slabs.address(bucket), bytes);
    }
  }

  public int count() {
    return count;
  }
}
