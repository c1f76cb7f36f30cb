package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.data.readers.Readers;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Checkpoints that are written while training goes on. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class BackgroundCheckpointTest {
  @TempDir private Path folder;

  private static TrainOptions options() {
    return DeltaRuns.options().tableOptimizer(Optimizer.rowWiseAdagrad(0.1f));
  }

  private static Trainer trainer(Device device, TrainOptions options) {
    return Trainer.create(device, PlantedRuns.encoder(DeltaRuns.ROWS), DeltaRuns.MODEL, options);
  }

  @Test
  void aCheckpointHoldsTheWeightsOfItsStepThoughStepsFollowWhileItIsWritten() throws IOException {
    Path run = folder.resolve("run");
    TreeMap<Long, byte[]> expected = new TreeMap<>();
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = trainer(device, options().checkpoints(run, 5))) {
      trainer.fit(
          Readers.inMemory(DeltaRuns.ROWS),
          Optional.empty(),
          progress -> {
            if (progress.step() % 5 == 0) {
              trainer.save(folder.resolve("now"));
              expected.put(progress.step(), contents(folder.resolve("now")));
            } else if (progress.step() % 5 == 4 && progress.step() > 5) {
              trainer.save(folder.resolve("other")); // waits for what is being written
              long begun = progress.step() - 4;
              assertThat(contents(run.resolve("step-" + begun))).isEqualTo(expected.get(begun));
            }
          });
    }
    assertThat(expected).hasSize(4);
    assertThat(DeltaRuns.names(run)).containsExactly("step-24");
  }

  private static byte[] contents(Path checkpoint) {
    try {
      return PlantedRuns.contents(checkpoint);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aCheckpointThatCannotBeWrittenEndsTheRunWithItsCause() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "in the way");
    for (DeltaSchedule deltas :
        List.of(DeltaSchedule.NEVER, new DeltaSchedule(0, Duration.ofNanos(1), 3))) {
      TrainOptions options = options().checkpoints(file.resolve("run"), 2).deltas(deltas);
      try (Device device = Device.cpu(1, 1L << 27);
          Trainer trainer = trainer(device, options)) {
        assertThatThrownBy(() -> trainer.fit(Readers.inMemory(DeltaRuns.ROWS)))
            .isInstanceOf(UncheckedIOException.class)
            .hasMessageContaining(file.resolve("run").toString())
            .hasMessageContaining("got an error writing it");
        assertThat(trainer.step()).isLessThan(24);
        // What could not be written stops nothing that can.
        trainer.save(folder.resolve("saved"));
        assertThat(Checkpoint.open(folder.resolve("saved")).step()).isEqualTo(trainer.step());
      }
    }
  }

  @Test
  void aCheckpointUnderWayIsCompletedWhereTheRunFails() throws IOException {
    Path run = folder.resolve("run");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = trainer(device, options().checkpoints(run, 5))) {
      assertThatThrownBy(() ->
              trainer.fit(
                  Readers.inMemory(DeltaRuns.ROWS),
                  Optional.empty(),
                  progress -> {
                    if (progress.step() == 6) {
                      throw new IllegalStateException("no more");
                    }
                  }))
          .hasMessage("no more");
    }
    assertThat(DeltaRuns.names(run)).containsExactly("step-5");
    assertThat(Checkpoint.open(run).step()).isEqualTo(5);
  }
}
