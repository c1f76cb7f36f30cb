package dev.tern.internal.table.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.index.Hashing;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CountingFilterTest {
  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void givesAllMemoryBack() {
    assertThat(allocator.live()).isZero();
  }

  private CountingFilter filter(int limit, long expected) {
    return new CountingFilter(limit, expected, Optional.empty(), allocator, "test filter");
  }

  @ParameterizedTest
  @CsvSource({"2, 50000", "10, 50000", "128, 50000", "10, 1000"})
  void nobodyIsAdmittedLateAndUnderOnePercentEarly(int limit, long expected) {
    CountingFilter filter = filter(limit, expected);
    SplittableRandom random = new SplittableRandom(limit);
    Map<Long, Integer> counts = new HashMap<>();
    Set<Long> early = new HashSet<>();
    for (int i = 0; i < 2_000_000 && counts.size() < 50_000; i++) {
      long id = (long) (60_000 * Math.pow(random.nextDouble(), 4)) * 13 - 7;
      int times = 1 + random.nextInt(2);
      int count = counts.merge(id, times, Integer::sum);
      boolean admitted = filter.count(Hashing.mix(id), times);
      if (count >= limit) {
        assertThat(admitted).as("id %d, met %d times", id, count).isTrue();
      } else if (admitted) {
        early.add(id);
      }
    }
    // Five layers of those that expect 1000 ids are full at last.
    int share = expected < 50_000 ? 40 : 100;
    assertThat(early.size()).isLessThan(counts.size() / share);
    assertThat(filter.shared()).isBetween(0.0, (double) counts.size() / share);
    if (expected >= counts.size()) {
      assertThat(filter.bytes()).isLessThan(24 * expected / 10);
    }
    filter.free();
  }

  @Test
  void idsThatShareACounterAreAsManyAsEstimated() {
    int count = 400_000;
    CountingFilter filter = filter(2, count);
    int shared = 0;
    CountingFilter coarse = filter(128, count);
    int coarselyShared = 0;
    for (long id = 0; id < count; id++) {
      // A count of all but one is enough with any other's.
      shared += filter.count(Hashing.mix(id), 1) ? 1 : 0;
      coarselyShared += coarse.count(Hashing.mix(id), 127) ? 1 : 0;
    }
    assertThat(coarse.shared()).isBetween(0.9 * coarselyShared, 1.1 * coarselyShared);
    assertThat((double) coarselyShared / count).isLessThan(0.01);
    assertThat(shared).isLessThan(100);
    filter.free();
    coarse.free();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6, 7, 8, 500})
  void whatWasWrittenGoesOnAsTheOriginal(int ids) {
    CountingFilter filter = filter(5, 7);
    for (long id = 0; id < ids; id++) {
      filter.count(Hashing.mix(-id), 1 + (int) (id % 3));
    }
    CountingFilter copy = copy(filter);
    assertThat(copy.restore(filter.compared())).isTrue();
    for (long id = 0; id < 2L * ids + 100; id++) {
      assertThat(copy.count(Hashing.mix(-id), 1)).isEqualTo(filter.count(Hashing.mix(-id), 1));
    }
    assertThat(copy.words()).isEqualTo(filter.words());
    assertThat(copy.shared()).isEqualTo(filter.shared());
    filter.free();
    copy.free();
  }

  private CountingFilter copy(CountingFilter filter) {
    CountingFilter copy = filter(5, 7);
    assertThat(copy.resize(filter.words())).isTrue();
    long[] words = new long[(int) filter.words()];
    filter.read(0, words, words.length);
    copy.write(0, words, words.length);
    return copy;
  }

  @Test
  void whatNoFilterHoldsIsRefused() {
    CountingFilter filter = filter(5, 100);
    long words = filter.words();
    for (long wrong : new long[] {0, words - 1, words + 1, 2 * words, 1L << 40}) {
      assertThat(filter.resize(wrong)).isFalse();
    }
    assertThat(filter.words()).isEqualTo(words);
    assertThat(filter.restore(-1)).isFalse();
    filter.write(0, new long[] {0xFFFF}, 1);
    assertThat(filter.restore(0)).isFalse();
    CountingFilter overfull = filter(5, 100);
    for (long word = 0; word < words; word++) {
      overfull.write(word, new long[] {0x0001_0001_0001_0001L}, 1);
    }
    assertThat(overfull.restore(0)).isFalse();
    filter.free();
    overfull.free();
  }
}
