package dev.tern.bench.tables;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A few kills of {@code tern bench crash}, which says itself what must hold. */
final class CrashTest {
  @Test
  void runsKilledWithACheckpointInEachStepEndWithTheBytesOfOneNeverKilled() {
    CrashBench.run(
        List.of(
            "--json",
            "--kills",
            "6",
            "--rows",
            "4000",
            "--steps",
            "1",
            "--millis",
            "0",
            "--within",
            "400"));
  }
}
