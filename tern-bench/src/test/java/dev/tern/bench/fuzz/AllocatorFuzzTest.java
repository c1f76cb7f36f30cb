package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A small share of {@code bench fuzz --allocator}. */
final class AllocatorFuzzTest {
  private static final int OPERATIONS = 20_000;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 8})
  void blocksAreApartAndCountedAndNothingLeaks(long seed) throws InterruptedException {
    assertThat(new AllocatorFuzz(seed).run(OPERATIONS)).isGreaterThanOrEqualTo(OPERATIONS);
  }
}
