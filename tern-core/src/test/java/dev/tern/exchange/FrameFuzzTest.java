package dev.tern.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A share of what {@code tern bench fuzz --exchange} does. */
final class FrameFuzzTest {
  @Test
  void damagedFramesEndInAnErrorOrInTheRightBytes() {
    FrameFuzz fuzz = new FrameFuzz();
    for (int seed = 0; seed < 300; seed++) {
      assertThat(fuzz.check(seed)).isEmpty();
    }
    assertThat(fuzz.refused()).isGreaterThan(150);
    assertThat(fuzz.taken()).isPositive();
  }
}
