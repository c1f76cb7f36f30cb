package dev.tern.embedding;

import dev.tern.internal.table.index.Hashing;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A table in plain Java: rows by id, and buckets. An id gets a row once it was met {@code count}
 * times, if there are fewer than {@code most} rows.
 */
final class PlainBuckets {
  final Map<Long, float[]> rows = new HashMap<>();
  private final Map<Long, Integer> met = new HashMap<>();
  private final Map<Long, float[]> initial;
  final float[][] buckets;
  private final int count;
  private final int most;

  PlainBuckets(Map<Long, float[]> initial, float[][] buckets, int count, int most) {
    this.initial = initial;
    this.buckets = buckets;
    this.count = count;
    this.most = most;
  }

  /** The bucket of an id: its hash as a share of 2^64, of all buckets. */
  static int bucket(long id, int buckets) {
    BigInteger hash = new BigInteger(Long.toUnsignedString(Hashing.mix(id)));
    return hash.multiply(BigInteger.valueOf(buckets)).shiftRight(64).intValueExact();
  }

  float[] row(long id) {
    return rows.containsKey(id) ? rows.get(id) : buckets[bucket(id, buckets.length)];
  }

  void meet(long[] ids) {
    Map<Long, Integer> times = new LinkedHashMap<>();
    Arrays.stream(ids).forEach(id -> times.merge(id, 1, Integer::sum));
    times.forEach((id, more) -> {
      if (!rows.containsKey(id) && met.merge(id, more, Integer::sum) >= count) {
        if (rows.size() < most) {
          rows.put(id, initial.get(id).clone());
        }
      }
    });
  }

  /** Adds up the gradients of each row, then takes the steps. */
  void step(long[] ids, int[] offsets, float[] gradients, float lr) {
    Map<float[], float[]> sums = new IdentityHashMap<>();
    for (int b = 0; b + 1 < offsets.length; b++) {
      for (int i = offsets[b]; i < offsets[b + 1]; i++) {
        float[] sum = sums.computeIfAbsent(row(ids[i]), _ -> new float[BucketRowsTest.WIDTH]);
        for (int j = 0; j < BucketRowsTest.WIDTH; j++) {
          sum[j] += gradients[b * BucketRowsTest.WIDTH + j];
        }
      }
    }
    sums.forEach((row, sum) -> {
      for (int j = 0; j < BucketRowsTest.WIDTH; j++) {
        row[j] -= lr * sum[j];
      }
    });
  }
}
