package dev.tern.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A small share of {@code bench fuzz --readers}. */
final class ReaderFuzzTest {
  private static final int FILES = 1000;

  @Test
  void damagedFilesGiveSoundRowsOrAFault() {
    try (ReaderFuzz fuzz = new ReaderFuzz()) {
      for (long seed = 0; seed < FILES; seed++) {
        assertThat(fuzz.check(seed)).as("--readers 1 --seed %s", seed).isEmpty();
      }
      assertThat(fuzz.sound()).isBetween(FILES / 10, FILES / 2);
    }
  }

  @Test
  void damageDependsOnTheSeedAlone() {
    byte[] bytes = new byte[1000];
    byte[] first = new Mutator(new SplittableRandom(1)).damage(bytes, List.of(bytes));
    byte[] again = new Mutator(new SplittableRandom(1)).damage(bytes, List.of(bytes));
    byte[] other = new Mutator(new SplittableRandom(2)).damage(bytes, List.of(bytes));
    assertThat(first).isEqualTo(again).isNotEqualTo(other).isNotEqualTo(new byte[1000]);
  }
}
