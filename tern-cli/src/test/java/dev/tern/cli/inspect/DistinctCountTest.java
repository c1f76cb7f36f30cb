package dev.tern.cli.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class DistinctCountTest {
  @Test
  void fewIdsAreCountedExactlyAndManyToAFewPercent() {
    DistinctCount count = new DistinctCount();
    assertThat(count.count()).isZero();
    long next = 0;
    for (int size : new int[] {1, 1000, DistinctCount.EXACT, DistinctCount.EXACT + 1, 1_000_000}) {
      for (; next < size; next++) {
        count.add(next * 3);
        count.add(next / 2 * 3);
      }
      assertThat(count.isExact()).isEqualTo(size <= DistinctCount.EXACT);
      double most = count.isExact() ? 0 : 0.03 * size;
      assertThat((double) count.count()).isCloseTo(size, within(most));
    }
  }
}
