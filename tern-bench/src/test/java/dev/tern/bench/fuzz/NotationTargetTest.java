package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A small share of what Jazzer gives {@link NotationTarget}. */
final class NotationTargetTest {
  private static final int EACH = 200;

  @Test
  void damagedNotationsAreReadAsPlainlyAsTheyAre() {
    Collection<byte[]> seeds = NotationTarget.seeds().values();
    Mutator mutator = new Mutator(new SplittableRandom(1));
    for (byte[] seed : seeds) {
      byte[] input = seed;
      for (int i = 0; i < EACH; i++) {
        byte[] read = input;
        assertThatCode(() -> NotationTarget.fuzzerTestOneInput(read))
            .as(HexFormat.of().formatHex(read))
            .doesNotThrowAnyException();
        input = mutator.damage(seed, List.copyOf(seeds));
      }
    }
  }

  @Test
  void aTimeThatIsReadOtherwiseIsFound() {
    byte[] time = {'2', '0', '2', '6', '-', '0', '1', '-', '3', '1'};
    assertThatCode(() -> PlainTime.check(time)).doesNotThrowAnyException();
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(() -> PlainTime.require(0, 1, "x"))
        .withMessage("time: got 0 for x, expected 1");
  }
}
