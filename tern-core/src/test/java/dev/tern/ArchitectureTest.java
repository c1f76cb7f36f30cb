package dev.tern;

import org.junit.jupiter.api.Test;

final class ArchitectureTest {
  @Test
  void vectorModuleIsOnTheTestRuntime() {
    org.assertj.core.api.Assertions.assertThat(
            ModuleLayer.boot().findModule("jdk.incubator.vector"))
        .isPresent();
  }
}
