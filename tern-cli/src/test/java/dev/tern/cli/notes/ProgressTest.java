package dev.tern.cli.notes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

final class ProgressTest {
  private final StringWriter text = new StringWriter();
  private long now;

  private Progress progress(boolean terminal) {
    return new Progress(new PrintWriter(text), terminal, () -> now);
  }

  private void pass(double seconds) {
    now += (long) (seconds * 1e9);
  }

  @Test
  void elsewhereThanOnATerminalALineComesEveryTenSeconds() {
    Progress progress = progress(false);
    progress.begin("train", "steps", 0, 1000);
    for (int step = 10; step <= 250; step += 10) {
      pass(1);
      progress.update(step, "loss 0.5");
    }
    progress.close();
    assertThat(text.toString().lines())
        .containsExactly(
            "train   10%  100/1,000 steps  loss 0.5  1 min 30 s left",
            "train   20%  200/1,000 steps  loss 0.5  1 min 20 s left");
  }

  @Test
  void onATerminalOneLineIsWrittenOverAndTakenAway() {
    Progress progress = progress(true);
    progress.begin("fit", "rows", 0, 4);
    pass(1);
    progress.update(2, "");
    progress.update(3, "");
    progress.note("done");
    assertThat(text.toString())
        .isEqualTo(
            "\r\u001b[2K\u001b[?7lfit  ##########----------  50%  2/4 rows  1.0 s left\u001b[?7h"
                + "\r\u001b[2Kdone\n");
  }

  @Test
  void timeLeftCountsFromWhereTheWorkWasResumed() {
    Progress progress = progress(false);
    progress.begin("train", "steps", 900, 1000);
    pass(10);
    progress.update(950, "");
    assertThat(text.toString()).isEqualTo("train   95%  950/1,000 steps  10 s left\n");
  }

  @Test
  void withoutATotalThereIsNoShare() {
    Progress progress = progress(false);
    progress.begin("read", "rows", 0, 0);
    pass(11);
    progress.update(12345, "1.1k rows/s");
    assertThat(text.toString()).isEqualTo("read  12,345 rows  1.1k rows/s\n");
  }
}
