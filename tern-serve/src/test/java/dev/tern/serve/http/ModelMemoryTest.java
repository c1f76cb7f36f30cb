package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

final class ModelMemoryTest {
  private static final long GIB = 1L << 30;

  @Test
  void modelsHaveWhatTheHeapLeaves() {
    assertThat(ModelMemory.limit(16 * GIB, 4 * GIB)).isEqualTo(12 * GIB - (256 << 20));
    assertThat(ModelMemory.limit(4 * GIB, GIB)).isEqualTo(3 * GIB - (256 << 20));
  }

  @Test
  void aHeapThatMayTakeAllLeavesHalf() {
    assertThat(ModelMemory.limit(2 * GIB, 2 * GIB)).isEqualTo(GIB);
    assertThat(ModelMemory.limit(GIB / 2, 64 * GIB)).isEqualTo(GIB / 4);
  }

  @Test
  void theLimitIsOfThisMachineOrContainer() {
    OperatingSystemMXBean system =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    assertThat(ServeOptions.DEFAULT.memory()).isPositive().isLessThan(system.getTotalMemorySize());
  }
}
