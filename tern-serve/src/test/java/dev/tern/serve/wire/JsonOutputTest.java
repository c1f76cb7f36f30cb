package dev.tern.serve.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class JsonOutputTest {
  private final AtomicLong taken = new AtomicLong();

  private boolean take(long bytes, long room) {
    return taken.addAndGet(bytes) <= room;
  }

  @Test
  void aShortTextAsksForNoMemory() {
    JsonOutput out = new JsonOutput(bytes -> take(bytes, 0));
    for (int i = 0; i < 1_000; i++) {
      out.text("0123456789 0123456789 0123456789 0123456789");
    }
    assertThat(taken).hasValue(0);
    assertThat(out.copy()).hasSize(45_000);
  }

  @Test
  void aLongTextAsksForWhatItTakesAndLetsGoOfItAtOnce() {
    JsonOutput out = new JsonOutput(bytes -> take(bytes, 1 << 20));
    out.raw("a".repeat(300_000));
    assertThat(taken.get()).isBetween(300_000L - (1 << 16), 600_000L);
    long first = taken.get();
    out.clear();
    out.raw("b".repeat(300_000));
    assertThat(taken).hasValue(first);
    out.shrink();
    out.raw("b".repeat(300_000));
    assertThat(taken).hasValue(2 * first);
    assertThat(out.copy()).hasSize(300_000);
  }

  @Test
  void aTextThatFindsNoMemoryIsRefused() {
    JsonOutput out = new JsonOutput(bytes -> take(bytes, 100_000));
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> out.raw("a".repeat(300_000)))
        .withMessageContaining("answer: got one of over 0 bytes, for which no memory is left")
        .matches(fault -> fault.status() == 503);
  }
}
