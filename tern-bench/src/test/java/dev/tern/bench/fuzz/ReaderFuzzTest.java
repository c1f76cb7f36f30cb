package dev.tern.bench.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.tern.files.ReadPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
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
  void everyFileOfTheCorpusIsSound() {
    ReaderCheck.Way way = new ReaderCheck.Way(ReadPolicy.Labels.BINARY, true, 2, 1);
    try (ReaderCheck check = new ReaderCheck()) {
      for (ReaderCorpus.Entry entry : check.corpus()) {
        assertThat(check.check(entry, entry.bytes(), way).orElse(0L))
            .as(entry.file())
            .isGreaterThan(1);
      }
    }
  }

  @Test
  void inputsThatOnceReachedNewCodeGiveSoundRowsOrAFault() throws IOException {
    int inputs = 0;
    try (InputStream kept = ReaderFuzzTest.class.getResourceAsStream("readers.zip");
        ZipInputStream zip = new ZipInputStream(kept)) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        String name = entry.getName();
        byte[] input = zip.readAllBytes();
        assertThatCode(() -> ReaderTarget.fuzzerTestOneInput(input))
            .as(name)
            .doesNotThrowAnyException();
        inputs++;
      }
    } finally {
      ReaderTarget.fuzzerTearDown();
    }
    assertThat(inputs).isGreaterThan(1000);
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
