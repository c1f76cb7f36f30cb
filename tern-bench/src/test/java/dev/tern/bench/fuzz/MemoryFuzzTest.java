package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A small share of {@code bench fuzz --memory}. */
final class MemoryFuzzTest {
  private static final int OPERATIONS = 20_000;

  @ParameterizedTest
  @ValueSource(longs = {0, 1_000_000, 2_000_000})
  void valuesUnderABudgetAreThoseOfAPlainEvaluation(long firstSeed) {
    long operations = 0;
    long runs = 0;
    for (long seed = firstSeed; operations < OPERATIONS; seed++) {
      MemoryFuzz fuzz = new MemoryFuzz(seed);
      operations += fuzz.run(OPERATIONS);
      runs += fuzz.runs();
    }
    assertThat(runs).as("recomputation").isGreaterThan(OPERATIONS / 3);
  }
}
