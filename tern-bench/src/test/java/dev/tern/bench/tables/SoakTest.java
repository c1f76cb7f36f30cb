package dev.tern.bench.tables;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A few seconds of {@code tern bench soak}, which says itself what must hold. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class SoakTest {
  @Test
  void tablesThatEightThreadsUseInEveryWayStaySound() {
    SoakBench.run(List.of("--json", "--minutes", "0.08", "--threads", "8"));
  }
}
