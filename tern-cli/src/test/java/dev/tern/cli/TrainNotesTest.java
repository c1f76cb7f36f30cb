package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run says of settings with which it trains little or nothing. */
final class TrainNotesTest {
  @TempDir Path temp;

  @BeforeEach
  void unpack() throws IOException {
    OldRun.unpack(temp);
  }

  private Result train(String... more) {
    Result result = OldRun.train(temp, temp.resolve("new"), more);
    assertThat(result.code()).as(result.err()).isZero();
    return result;
  }

  @Test
  void aResumedRunWithoutStepsSaysThatNothingWasLeft() {
    assertThat(train().err()).doesNotContain("nothing was left");
    assertThat(train("--resume").err())
        .contains(
            "nothing was left to train at step 8 with train.epochs 2; --set train.epochs=3 trains"
                + " on");
    assertThat(train("--resume", "--set", "train.epochs=3").err())
        .doesNotContain("nothing was left");
  }

  @Test
  void aBatchOfMoreThanAllRowsIsTold() {
    assertThat(train().err()).doesNotContain("each epoch is one step");
    assertThat(train("--overwrite", "--set", "train.batch=4096").err())
        .contains("warning: train.batch is 4,096 and there are", "each epoch is one step");
  }

  @Test
  void aLearningRateOfZeroIsTold() {
    assertThat(train("--set", "train.optimizer.lr=0").err())
        .contains("warning: the learning rate is 0 from step 1 on, so no weight changes");
  }

  @Test
  void aScheduleThatEndedBeforeTheRunIsTold() {
    String[] schedule = {
      "--set", "train.schedule.type=warmup-decay", "--set", "train.schedule.warmup_steps=1",
      "--set", "train.schedule.decay_start=2", "--set", "train.schedule.decay_steps=6"
    };
    assertThat(train(schedule).err()).doesNotContain("the learning rate is 0");
    String[] longer = java.util.Arrays.copyOf(schedule, schedule.length + 3);
    longer[schedule.length] = "--resume";
    longer[schedule.length + 1] = "--set";
    longer[schedule.length + 2] = "train.epochs=3";
    assertThat(train(longer).err()).contains("the learning rate is 0 from step 9 on");
  }
}
