package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.internal.cuda.driver.SimulatedCuda;
import java.util.List;
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

  @Test
  void theCompilerOfNvidiaKeepsArithmeticAsItIsWritten() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    assumeTrue(TextCheck.find().isPresent(), "nvcc is not on this machine");
    try (DeviceFuzz fuzz = new DeviceFuzz(SimulatedCuda.driver())) {
      fuzz.checkTexts(List.of(90));
      fuzz.compare(6_000, 30);
      assertThat(fuzz.faultsOfText()).isZero();
    }
  }

  @Test
  void aTextThatIsNotExactIsFound() {
    assumeTrue(TextCheck.find().isPresent(), "nvcc is not on this machine");
    String text =
        """
        extern "C" __global__ void approximate(float* x) { x[0] = __expf(x[1]) / x[2]; }
        """;
    assertThat(TextCheck.find().orElseThrow().faults(text, List.of(90)))
        .anyMatch(fault -> fault.contains("ex2.approx"));
    assertThat(TextCheck.find().orElseThrow().faults("no C", List.of(90)))
        .anyMatch(fault -> fault.contains("error"));
  }
}
