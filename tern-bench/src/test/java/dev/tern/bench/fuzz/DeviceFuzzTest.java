package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.internal.cuda.driver.SimulatedCuda;
import org.junit.jupiter.api.Test;

/** A small share of {@code bench fuzz --device simulated}. */
final class DeviceFuzzTest {
  @Test
  void randomProgramsGiveTheProcessorsBitsUnderEachSchedule() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    try (DeviceFuzz fuzz = new DeviceFuzz(SimulatedCuda.driver())) {
      fuzz.compare(5_000, 80);
      assertThat(fuzz.differing()).isZero();
    }
  }
}
