package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Allocator;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
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
    long hash = IdIndex.hash(id);
    assertThat(index.find(hash, id)).isEqualTo(-1);
    index.reserve(hash);
    index.insert(hash, id, row);
  }

  private int find(long id) {
    return index.find(IdIndex.hash(id), id);
  }

  @Test
  void noIdIsReserved() {
    long[] ids = {0, 1, -1, -2, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE + 1, 1L << 32};
    for (int i = 0; i < ids.length; i++) {
      insert(ids[i], i);
      for (int k = 0; k < ids.length; k++) {
        assertThat(find(ids[k])).as("id %d", ids[k]).isEqualTo(k <= i ? k : -1);
      }
    }
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

  @ParameterizedTest
  @ValueSource(longs = {1, -13, 65_536, 1L << 44})
  void regularIdsKeepTheirRowsPastSeveralSplits(long factor) {
    int count = 600_000;
    for (int i = 0; i < count; i++) {
      long hash = IdIndex.hash(i * factor);
      index.reserve(hash);
      index.insert(hash, i * factor, i);
    }
    for (int i = 0; i < count; i++) {
      assertThat(find(i * factor)).isEqualTo(i);
    }
    assertThat(find((1L << 62) | 3)).isEqualTo(-1);
    assertThat(index.bytes()).isLessThan(64L * count);
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
      SortedIds sorted = new SortedIds(index, block);
      long[] got = new long[0];
      for (int n = sorted.next(); n > 0; n = sorted.next()) {
        int before = got.length;
        got = Arrays.copyOf(got, before + n);
        System.arraycopy(sorted.ids(), 0, got, before, n);
      }
      assertThat(got).isEqualTo(ids);
    }
  }
}
