package dev.tern.internal.table.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.snapshot.SortedRows;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class IdIndexTest {
  private final Allocator allocator = Allocator.of(1L << 30);
  private final IdIndex index = new IdIndex(allocator, "test index");

  @AfterEach
  void givesAllMemoryBack() {
    index.free();
    assertThat(allocator.live()).isZero();
  }

  private void insert(long id, int row) {
    long hash = Hashing.mix(id);
    assertThat(index.find(hash, id)).isEqualTo(-1);
    index.reserve(hash);
    index.insert(hash, id, row);
  }

  private int find(long id) {
    return index.find(Hashing.mix(id), id);
  }

  private void findAll(RowLookup lookup) {
    index.find(lookup.distinct, 0, lookup.unique());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 100_000})
  void findsExactlyWhatWasInserted(int count) {
    SplittableRandom random = new SplittableRandom(count);
    Map<Long, Integer> expected = new HashMap<>();
    while (expected.size() < count) {
      long id = random.nextLong() >> random.nextInt(64);
      if (expected.putIfAbsent(id, expected.size()) == null) {
        insert(id, expected.size() - 1);
      }
    }
    assertThat(index.size()).isEqualTo(count);
    expected.forEach((id, row) -> assertThat(find(id)).as("id %d", id).isEqualTo(row));
    for (int i = 0; i < 1000; i++) {
      long id = random.nextLong();
      assertThat(find(id)).as("id %d", id).isEqualTo(expected.getOrDefault(id, -1));
    }
  }

  @Test
  void idsOfWholeBatchesKeepTheirRowsAsTheIndexGrows() {
    SplittableRandom random = new SplittableRandom(4);
    RowLookup lookup = new RowLookup();
    int batch = 3000;
    long[] ids = new long[batch * 100];
    for (int from = 0; from < ids.length; from += batch) {
      // A fifth of them were there before.
      for (int i = from; i < from + batch; i++) {
        ids[i] = from > 0 && i % 5 == 0 ? ids[random.nextInt(from)] : random.nextLong();
      }
      lookup.fill(Arrays.copyOfRange(ids, from, from + batch), batch);
      findAll(lookup);
      int missing = 0;
      for (int u = 0; u < lookup.unique(); u++) {
        if (lookup.rows[u] < 0) {
          lookup.rows[u] = (int) index.size() + missing;
          lookup.missing[missing++] = u;
        }
      }
      index.insert(lookup.distinct, lookup.missing, missing);
    }
    SoundIndex.require(index);
    lookup.fill(ids, ids.length);
    findAll(lookup);
    assertThat(index.size()).isEqualTo(lookup.unique());
    for (int u = 0; u < lookup.unique(); u++) {
      assertThat(lookup.rows[u]).isEqualTo(u);
    }
  }

  /** Ids of one bucket: 7 lie in it, 7 in the next one, the rest in the overflow. */
  @ParameterizedTest
  @ValueSource(ints = {1, 8, 15, 255, 256, 257, 513, 2000})
  void idsOfOneBucketAreFoundInBatches(int count) {
    SplittableRandom random = new SplittableRandom(count);
    for (int i = 0; i < 100_000; i++) {
      insert(random.nextLong(), count + i);
    }
    for (int i = 0; i < count; i++) {
      insert(Hashing.unmix((i + 1L) << 40 | 12_345), i);
    }
    // Every third id is not there; the first 10 ids are not searched.
    long[] ids = new long[10 + 3 * count];
    int[] expected = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      int number = i % 3 == 0 ? count + i : random.nextInt(count);
      ids[i] = Hashing.unmix((number + 1L) << 40 | 12_345);
      expected[i] = number < count ? number : -1;
    }
    Arrays.fill(expected, 0, 10, 7);
    int[] rows = new int[ids.length];
    Arrays.fill(rows, 7);
    long[] hashes = LongStream.of(ids).map(Hashing::mix).toArray();
    index.find(new IdBatch(ids, hashes, rows), 10, ids.length);
    assertThat(rows).isEqualTo(expected);
  }

  @Test
  void noFewThousandInsertsSplitMoreThanTwoSegments() {
    long before = 0;
    for (int i = 0; i < 3_000_000; i++) {
      long hash = Hashing.mix(i);
      index.reserve(hash);
      index.insert(hash, i, i);
      if (i % 4096 == 0) {
        long most = i < 1_000_000 ? 2L << 20 : 4L << 20;
        assertThat(index.bytes() - before).as("bytes at %d", i).isLessThanOrEqualTo(most);
        before = index.bytes();
      }
    }
    SoundIndex.require(index);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, -13, 65_536, 1L << 44})
  void regularIdsKeepTheirRowsPastSeveralSplits(long factor) {
    int count = 600_000;
    for (int i = 0; i < count; i++) {
      long hash = Hashing.mix(i * factor);
      index.reserve(hash);
      index.insert(hash, i * factor, i);
    }
    for (int i = 0; i < count; i++) {
      assertThat(find(i * factor)).isEqualTo(i);
    }
    assertThat(find((1L << 62) | 3)).isEqualTo(-1);
    assertThat(index.bytes() / (double) count).isBetween(14.0, 20.0);
  }

  private void forEachEntry(IdIndex.EntrySink sink) {
    long next = 0;
    do {
      next = index.forEachEntry(next, sink);
    } while (next != 0);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 63, 64, 65, 1000, 5000})
  void sortedIdsComeInSignedOrderWhateverTheBlock(int count) {
    SplittableRandom random = new SplittableRandom(count);
    long[] ids = random.longs(count).distinct().toArray();
    if (ids.length > 2) {
      ids[0] = Long.MIN_VALUE;
      ids[1] = Long.MAX_VALUE;
    }
    for (int i = 0; i < ids.length; i++) {
      insert(ids[i], i);
    }
    Arrays.sort(ids);
    for (int block : new int[] {1, 7, 64, 1 << 20}) {
      if (block == 1 && count > 100) {
        continue;
      }
      SortedRows sorted = new SortedRows(this::forEachEntry, index.size(), block);
      long[] got = new long[0];
      for (int n = sorted.next(); n > 0; n = sorted.next()) {
        int before = got.length;
        got = Arrays.copyOf(got, before + n);
        System.arraycopy(sorted.ids(), 0, got, before, n);
        for (int i = 0; i < n; i++) {
          assertThat(sorted.rows()[i]).isEqualTo(find(sorted.ids()[i]));
        }
      }
      assertThat(got).isEqualTo(ids);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void erasedIdsAreGoneAndAllOthersStay(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] ids = crowded(random, seed % 2 == 0 ? 400 : 90_000, (int) (seed % 3));
    Map<Long, Integer> expected = new HashMap<>();
    for (int i = 0; i < 20 * Math.min(ids.length, 20_000); i++) {
      long id = ids[random.nextInt(ids.length)];
      Integer row = expected.remove(id);
      if (row == null) {
        insert(id, i);
        expected.put(id, i);
      } else {
        assertThat(find(id)).isEqualTo(row);
        index.erase(Hashing.mix(id), id);
        assertThat(find(id)).isEqualTo(-1);
      }
      if (ids.length < 1000) {
        check(ids, expected);
      }
    }
    check(ids, expected);
    for (long id : expected.keySet()) {
      index.erase(Hashing.mix(id), id);
    }
    check(ids, Map.of());
  }

  /** Distinct ids, extremes among them, whose hashes agree in a few bits that choose the bucket. */
  private static long[] crowded(SplittableRandom random, int count, int bits) {
    long[] extremes = {0, -1, -2, 1, Long.MIN_VALUE, Long.MAX_VALUE};
    long[] found =
        random
            .longs()
            .filter(id -> (Hashing.mix(id) & ((1 << bits) - 1)) == 0)
            .distinct()
            .limit(count)
            .toArray();
    System.arraycopy(extremes, 0, found, 0, extremes.length);
    return found;
  }

  private void check(long[] ids, Map<Long, Integer> expected) {
    SoundIndex.require(index);
    assertThat(index.size()).isEqualTo(expected.size());
    for (long id : ids) {
      assertThat(find(id)).isEqualTo(expected.getOrDefault(id, -1));
    }
    RowLookup lookup = new RowLookup();
    lookup.fill(ids, ids.length);
    findAll(lookup);
    for (int i = 0; i < ids.length; i++) {
      assertThat(lookup.rows[i]).isEqualTo(expected.getOrDefault(ids[i], -1));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void erasedIdsAreGoneAndAllOthersStayInSegments(long seed) {
    index.expect(600_000);
    SplittableRandom random = new SplittableRandom(seed);
    // Those of 6 bits alike lie in one of 64 parts of the buckets, which are so full.
    long[] ids = crowded(random, 30_000, 6);
    Map<Long, Integer> expected = new HashMap<>();
    for (int i = 0; i < 150_000; i++) {
      long id = ids[random.nextInt(ids.length)];
      Integer row = expected.remove(id);
      if (row == null) {
        insert(id, i);
        expected.put(id, i);
      } else {
        assertThat(find(id)).isEqualTo(row);
        index.erase(Hashing.mix(id), id);
        assertThat(find(id)).isEqualTo(-1);
      }
      if (i % 30_000 == 0) {
        check(ids, expected);
      }
    }
    check(ids, expected);
    for (long id : expected.keySet()) {
      index.erase(Hashing.mix(id), id);
    }
    check(ids, Map.of());
  }

  @Test
  void probesAreTheBucketsThatFindingAnIdReads() {
    assertThat(index.probes()).isNaN();
    long[] ids =
        LongStream.range(0, 1000).filter(id -> (Hashing.mix(id) & 15) == 3).limit(7).toArray();
    for (int i = 0; i < 5; i++) {
      insert(ids[i], i);
      assertThat(index.probes()).isEqualTo(1);
    }
    insert(ids[5], 5);
    insert(ids[6], 6);
    assertThat(index.probes()).isEqualTo((5 + 2 * 2) / 7.0);
    // One of the next bucket comes back.
    index.erase(Hashing.mix(ids[0]), ids[0]);
    assertThat(index.probes()).isEqualTo((5 + 2) / 6.0);
    index.erase(Hashing.mix(ids[6]), ids[6]);
    assertThat(index.probes()).isEqualTo(1);
    SoundIndex.require(index);
  }

  @Test
  void probesStayRightAsAnIndexGrowsAndLosesIds() {
    int count = 400_000;
    double most = 1;
    for (int i = 0; i < count; i++) {
      insert(i, i);
      if (i >= 1000 && i % 3 == 0) {
        index.erase(Hashing.mix(i / 2), i / 2);
        insert(i / 2, i / 2);
      }
      if (i % 50_000 == 0) {
        SoundIndex.require(index);
        most = Math.max(most, index.probes());
      }
    }
    SoundIndex.require(index);
    assertThat(most).isBetween(1.001, 1.2);
    for (int i = 0; i < count; i++) {
      index.erase(Hashing.mix(i), i);
    }
    insert(1, 1);
    assertThat(index.probes()).isEqualTo(1);
  }

  @Test
  void hashesAreTakenBackToTheirIds() {
    for (long id : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 123_456_789_012L}) {
      assertThat(Hashing.unmix(Hashing.mix(id))).isEqualTo(id);
    }
  }

  @Test
  void bytesPerIdStayTheSameAsTheIndexGrows() {
    for (int i = 0; i < 3_000_000; i++) {
      long hash = Hashing.mix(i);
      index.reserve(hash);
      index.insert(hash, i, i);
      if (i % 4096 == 0) {
        assertThat(allocator.peak()).as("of %d", i).isLessThanOrEqualTo(IdIndex.mostBytes(i + 1));
        if (i > 70_000) {
          assertThat(index.bytes() / (double) i).as("at %d", i).isBetween(11.0, 24.0);
        }
        if (i > 1_000_000) {
          assertThat(index.bytes() / (double) i).as("at %d", i).isBetween(14.5, 16.5);
        }
      }
    }
    for (int i = 0; i < 3_000_000; i += 7) {
      assertThat(find(i)).isEqualTo(i);
    }
  }

  @Test
  void roomThatIsExpectedIsEnough() {
    index.expect(1_200_000);
    long before = index.bytes();
    for (int i = 0; i < 1_200_000; i++) {
      long hash = Hashing.mix(i);
      index.reserve(hash);
      index.insert(hash, i, i);
    }
    assertThat(index.bytes() - before).isLessThan(before / 20);
    SoundIndex.require(index);
  }

  @Test
  void idsWhoseHashesAreAlikeButForTheirLowBitsNeitherHangNorTakeAllMemory() {
    index.expect(600_000);
    for (int i = 0; i < 150_000; i++) {
      long hash = 0x123456789AL << 24 | i;
      long id = Hashing.unmix(hash);
      index.reserve(hash);
      index.insert(hash, id, i);
    }
    for (int i = 0; i < 150_000; i++) {
      long hash = 0x123456789AL << 24 | i;
      assertThat(index.find(hash, Hashing.unmix(hash))).isEqualTo(i);
    }
    assertThat(index.bytes()).isLessThan(100L << 20);
    int[] seen = {0};
    forEachEntry((_, _) -> seen[0]++);
    assertThat(seen[0]).isEqualTo(150_000);
  }

  @Test
  void everyRowIsListedOnceByTheLowBitsOfItsHash() {
    for (int ids : new int[] {100, 50_000, 450_000, 700_000}) {
      for (int i = (int) index.size(); i < ids; i++) {
        long hash = Hashing.mix(i);
        index.reserve(hash);
        index.insert(hash, i, i);
      }
      for (int width : new int[] {1 << 13, 32}) {
        boolean[] seen = new boolean[ids];
        for (int first = 0; first < 1 << IdIndex.BUCKET_BITS; first += width) {
          int from = first;
          index.forEachRow(
              first,
              width,
              (hash, row) -> {
                int bits = (int) hash & (1 << IdIndex.BUCKET_BITS) - 1;
                assertThat(hash == Hashing.mix(row) && bits - from >= 0 && bits - from < width)
                    .isTrue();
                assertThat(seen[row]).isFalse();
                seen[row] = true;
              });
        }
        assertThat(seen).doesNotContain(false);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {10L << 20, 16L << 20, 24L << 20})
  void whereMemoryEndsAllThatWentInIsFound(long budget) {
    try (Allocator small = Allocator.of(budget)) {
      IdIndex narrow = new IdIndex(small, "narrow");
      int count = 0;
      try {
        for (; count < 2_000_000; count++) {
          long hash = Hashing.mix(count);
          narrow.reserve(hash);
          narrow.insert(hash, count, count);
        }
      } catch (OutOfBudgetException _) {
        SoundIndex.require(narrow);
      }
      assertThat(count).isBetween(250_000, 1_600_000);
      assertThat(narrow.size()).isEqualTo(count);
      for (int i = 0; i < count; i++) {
        assertThat(narrow.find(Hashing.mix(i), i)).isEqualTo(i);
      }
      narrow.free();
      assertThat(small.live()).isZero();
    }
  }

  @Test
  void erasingNeverLeavesASearchWithoutEnd() {
    // In each of the 16 buckets more ids than it holds, of which then all but one of the next go.
    for (int home = 0; home < 16; home++) {
      long[] ids = new long[6];
      for (int k = 0, id = 0; k < 6; id++) {
        if ((Hashing.mix(id) & 15) == home && find(id) < 0) {
          ids[k++] = id;
          insert(id, id);
        }
      }
      for (int k = 0; k < 5; k++) {
        index.erase(Hashing.mix(ids[k]), ids[k]);
        SoundIndex.require(index);
      }
    }
    for (long id = -1000; id < 0; id++) {
      assertThat(find(id)).isEqualTo(-1);
    }
  }

  @Test
  void roomThatIsExpectedButNotThereIsMadeAsIdsCome() {
    try (Allocator small = Allocator.of(1 << 20)) {
      IdIndex narrow = new IdIndex(small, "narrow");
      narrow.expect(1L << 60);
      for (int i = 0; i < 5000; i++) {
        long hash = Hashing.mix(i);
        narrow.reserve(hash);
        narrow.insert(hash, i, i);
      }
      SoundIndex.require(narrow);
      assertThat(narrow.size()).isEqualTo(5000);
      narrow.free();
      assertThat(small.live()).isZero();
    }
  }
}
