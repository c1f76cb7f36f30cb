package dev.tern.bench.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A small share of {@code bench fuzz --requests}. */
final class RequestFuzzTest {
  private static final int REQUESTS = 20_000;

  @Test
  void damagedRequestsAreAnsweredOrRefused() {
    try (RequestFuzz fuzz = new RequestFuzz()) {
      for (long seed = 0; seed < REQUESTS; seed++) {
        assertThat(fuzz.check(seed)).as("--requests 1 --seed %s", seed).isEmpty();
      }
      assertThat(fuzz.answered()).isBetween(REQUESTS / 5L, REQUESTS * 4L / 5);
    }
  }

  @Test
  void everyRequestOfTheCorpusIsAnswered() {
    try (RequestFuzz fuzz = new RequestFuzz()) {
      for (RequestCorpus.Entry entry : RequestCorpus.all()) {
        long before = fuzz.answered();
        assertThat(fuzz.check(entry)).isEmpty();
        assertThat(fuzz.answered())
            .as(new String(entry.body(), StandardCharsets.UTF_8))
            .isEqualTo(before + 1);
      }
    }
  }

  @Test
  void damageDependsOnTheSeedAlone() {
    RequestMutator mutator = new RequestMutator(RequestCorpus.all());
    RequestMutator other = new RequestMutator(RequestCorpus.all());
    for (long seed = 0; seed < 100; seed++) {
      assertThat(mutator.of(seed).body()).isEqualTo(other.of(seed).body());
    }
  }
}
