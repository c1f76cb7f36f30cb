package dev.tern.bench.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class TierBenchTest {
  @Test
  void aTableWhoseRowsNeverLeftMemoryIsNoTest() {
    Map<String, String> all = Map.of("digest", "12ab", "spilled", "0.0");
    assertThatThrownBy(() -> TierBench.requireSame(all, all))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("got memory enough for all rows")
        .hasMessageContaining("lessen --memory");
    assertThatThrownBy(() -> TierBench.requireSame(all, Map.of("digest", "12ab")))
        .hasMessageContaining("got memory enough for all rows");
    assertThatThrownBy(() -> TierBench.requireSame(all, Map.of("digest", "12ac", "spilled", "7.0")))
        .hasMessageContaining("got rows of digest 12ac, expected 12ab");
    Map<String, String> tier = Map.of("digest", "12ab", "spilled", "7.0");
    assertThat(TierBench.requireSame(all, tier)).isEqualTo(tier);
  }
}
