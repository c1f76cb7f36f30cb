package dev.tern.internal.table.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Allocator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Segments of ids that are chosen by their hashes. */
final class IdSegmentTest {
  private static final int PREFIX = 5;
  private static final int PREFIX_BITS = 3;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final List<IdSegment> made = new ArrayList<>();

  @AfterEach
  void givesAllMemoryBack() {
    made.forEach(IdSegment::free);
    assertThat(allocator.live()).isZero();
  }

  private IdSegment segment(int buckets, int prefix, int prefixBits) {
    IdSegment segment = new IdSegment(allocator, "test", buckets, prefix, prefixBits);
    segment.clear();
    made.add(segment);
    return segment;
  }

  /** A hash by the 32 bits that pick its bucket and those above, but for the prefix. */
  private static long hash(long position, long rest) {
    long low = Integer.toUnsignedLong(Integer.rotateLeft((int) position, IdIndex.BUCKET_BITS));
    long all = rest << Integer.SIZE | low;
    long mask = (1L << PREFIX_BITS) - 1 << IdSegment.PREFIX_SHIFT;
    return all & ~mask | (long) PREFIX << IdSegment.PREFIX_SHIFT;
  }

  /** Hashes of a bucket, the first and last that pick it among them. */
  private static List<Long> ofBucket(int bucket, int buckets, int count) {
    long offset = (long) bucket << IdSegment.LINE_SHIFT;
    long first = Math.ceilDiv((long) bucket << Integer.SIZE, buckets);
    long last = Math.ceilDiv((bucket + 1L) << Integer.SIZE, buckets) - 1;
    while (IdSegment.home(hash(first, 0), buckets) != offset) {
      first++;
    }
    while (IdSegment.home(hash(last, 0), buckets) != offset) {
      last--;
    }
    List<Long> hashes = new ArrayList<>();
    for (int k = 0; k < count; k++) {
      hashes.add(hash(k % 2 == 0 ? first : last, k));
    }
    return hashes;
  }

  private static void put(IdSegment segment, long hash, int row) {
    segment.reserve(1);
    segment.put(hash, row);
  }

  private static int find(IdSegment segment, long hash) {
    return segment.find(hash, Hashing.unmix(hash));
  }

  private static Map<Long, Integer> entries(IdSegment segment) {
    Map<Long, Integer> entries = new HashMap<>();
    segment.forEachEntry((id, row) -> assertThat(entries.put(id, row)).isNull());
    return entries;
  }

  @ParameterizedTest
  @ValueSource(ints = {16_384, 16_385, 19_483, 23_170, 30_048, 32_767})
  void idsOfFullNeighboursKeepTheirRowsAndComeBackWhole(int buckets) {
    IdSegment segment = segment(buckets, PREFIX, PREFIX_BITS);
    Map<Long, Integer> expected = new HashMap<>();
    for (int bucket : new int[] {0, 1, 2, buckets / 3, buckets / 3 + 1, buckets - 2, buckets - 1}) {
      for (long hash : ofBucket(bucket, buckets, 12)) {
        put(segment, hash, expected.size());
        expected.put(Hashing.unmix(hash), expected.size());
      }
    }
    assertThat(SoundIndex.isSound(segment)).isTrue();
    assertThat(segment.size()).isEqualTo(84);
    assertThat(segment.placed).isEqualTo(70);
    assertThat(entries(segment)).isEqualTo(expected);
    expected.forEach((id, row) -> assertThat(segment.find(Hashing.mix(id), id)).isEqualTo(row));
  }

  @Test
  void hashesThatDifferOnlyInTheirBucketAreToldApart() {
    int buckets = IdSegment.MIN_BUCKETS;
    long width = 1L << 18;
    IdSegment segment = segment(buckets, PREFIX, PREFIX_BITS);
    for (int k = 0; k < 9; k++) {
      put(segment, hash(7 * width + k * 1024, 1), k);
    }
    // What two of bucket 7 left in bucket 8 is all that those of 8 would.
    for (int k = 0; k < 9; k++) {
      assertThat(find(segment, hash(7 * width + k * 1024, 1))).isEqualTo(k);
      for (int bucket : new int[] {5, 6, 8, 9}) {
        assertThat(find(segment, hash(bucket * width + k * 1024, 1))).isEqualTo(-1);
      }
    }
    for (int k = 0; k < 9; k++) {
      put(segment, hash(8 * width + k * 1024, 1), 100 + k);
    }
    for (int k = 0; k < 9; k++) {
      assertThat(find(segment, hash(7 * width + k * 1024, 1))).isEqualTo(k);
      assertThat(find(segment, hash(8 * width + k * 1024, 1))).isEqualTo(100 + k);
    }
    assertThat(SoundIndex.isSound(segment)).isTrue();
  }

  @Test
  void anyNumberOfIdsOfOneBucketIsFoundErasedAndFoundNoMore() {
    IdSegment segment = segment(20_000, PREFIX, PREFIX_BITS);
    List<Long> hashes = new ArrayList<>();
    for (int k = 0; k < 4000; k++) {
      hashes.add(hash(777_777_777, k));
    }
    hashes = new ArrayList<>(hashes.stream().distinct().toList());
    for (int k = 0; k < hashes.size(); k++) {
      put(segment, hashes.get(k), k);
    }
    assertThat(segment.placed).isEqualTo(2 * IdSegment.SLOTS);
    assertThat(segment.isFull()).isFalse();
    for (int k = 0; k < hashes.size(); k++) {
      assertThat(find(segment, hashes.get(k))).isEqualTo(k);
    }
    Collections.shuffle(hashes, new Random(1));
    for (int k = 0; k < hashes.size(); k++) {
      long hash = hashes.get(k);
      segment.erase(hash, Hashing.unmix(hash));
      assertThat(find(segment, hash)).isEqualTo(-1);
      if (k % 200 == 0 || k > hashes.size() - 20) {
        assertThat(SoundIndex.isSound(segment)).isTrue();
      }
    }
    assertThat(segment.size()).isZero();
  }

  @Test
  void probesAreTheBucketsThatFindingEachIdReads() {
    IdSegment segment = segment(20_000, PREFIX, PREFIX_BITS);
    List<Long> hashes = LongStream.range(0, 21).mapToObj(k -> hash(777_777_777, k)).toList();
    long[] after = new long[hashes.size()];
    for (int k = 0; k < 20; k++) {
      put(segment, hashes.get(k), k);
      after[k] = segment.probes();
    }
    assertThat(after[6]).isEqualTo(7);
    assertThat(after[13]).isEqualTo(7 + 7 * 2);
    // Two and those of the overflow: five lie in their bucket there, one in the next.
    assertThat(after[19]).isEqualTo(7 + 7 * 2 + 6 * 2 + 5 + 2);
    for (int k = 7; k < 14; k++) {
      segment.erase(hashes.get(k), Hashing.unmix(hashes.get(k)));
      assertThat(SoundIndex.isSound(segment)).isTrue();
    }
    assertThat(segment.probes()).isEqualTo(7 + 6 + 5 + 2);
    put(segment, hashes.get(20), 20);
    assertThat(segment.probes()).isEqualTo(7 + 2 + 6 * 2 + 5 + 2);
    segment.erase(hashes.get(19), Hashing.unmix(hashes.get(19)));
    assertThat(segment.probes()).isEqualTo(7 + 2 + 5 * 2 + 5);
    assertThat(SoundIndex.isSound(segment)).isTrue();
  }

  @Test
  void rowNumbersOfAnySizeAreKept() {
    IdSegment segment = segment(20_000, PREFIX, PREFIX_BITS);
    int[] rows = {0, (1 << 24) - 1, 1 << 24, Integer.MAX_VALUE};
    for (int row : rows) {
      put(segment, hash(row, row), row);
    }
    for (int row : rows) {
      assertThat(find(segment, hash(row, row))).isEqualTo(row);
    }
    assertThat(segment.placed).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {17_000, 18_539})
  void aSplitLeavesEachIdWithTheHalfOfItsNextBit(int highBuckets) {
    int buckets = 17_000;
    IdSegment old = segment(buckets, PREFIX, PREFIX_BITS);
    Map<Long, Integer> expected = new HashMap<>();
    for (int bucket = 0; bucket < 40; bucket++) {
      for (int k = 0; k < 12; k++) {
        long position = Math.ceilDiv((long) bucket << Integer.SIZE, buckets) + 1000 * k;
        long hash = hash(position, k * 0x9E3779B9L) ^ (long) (k % 3 / 2) << 24;
        put(old, hash, expected.size());
        expected.put(hash, expected.size());
      }
    }
    assertThat(SoundIndex.isSound(old)).isTrue();
    IdSegment low = new IdSegment(allocator, "test", buckets, PREFIX, PREFIX_BITS + 1);
    IdSegment high = new IdSegment(allocator, "test", highBuckets, PREFIX | 8, PREFIX_BITS + 1);
    made.add(low);
    made.add(high);
    SegmentSplit.move(old, low, high);
    assertThat(low.size() + high.size()).isEqualTo(expected.size());
    assertThat(low.size()).isPositive();
    assertThat(high.size()).isPositive();
    assertThat(SoundIndex.isSound(low) && SoundIndex.isSound(high)).isTrue();
    expected.forEach(
        (hash, row) -> assertThat(find((hash >>> 24 & 1) == 0 ? low : high, hash)).isEqualTo(row));
    // With more room than before, ids come back from the overflow.
    assertThat(low.placed + high.placed).isGreaterThan(old.placed);
  }
}
