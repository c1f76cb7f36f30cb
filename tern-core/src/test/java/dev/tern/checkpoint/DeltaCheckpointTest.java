package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.readers.Readers;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.model.Network;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checkpoints of what changed, against full ones of the same moment. */
final class DeltaCheckpointTest {
  @TempDir Path folder;

  @ParameterizedTest
  @MethodSource("dev.tern.checkpoint.DeltaRuns#runs")
  void fullAndChangesTogetherAreTheFullCheckpointOfThatMoment(TrainOptions options)
      throws IOException {
    Path run = folder.resolve("run");
    TreeMap<Long, byte[]> full = new TreeMap<>();
    List<Integer> lengths = new ArrayList<>();
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer =
            Trainer.create(
                device,
                PlantedRuns.encoder(DeltaRuns.ROWS),
                DeltaRuns.MODEL,
                options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(4, 3)))) {
      trainer.fit(
          Readers.inMemory(DeltaRuns.ROWS),
          Optional.empty(),
          progress -> {
            try {
              if (progress.step() % 4 == 0) {
                trainer.save(folder.resolve("full"));
                full.put(progress.step(), PlantedRuns.contents(folder.resolve("full")));
              }
              if (progress.step() % 4 == 3 && progress.step() > 4) {
                trainer.save(folder.resolve("other")); // waits for what is being written
                Checkpoint latest = Checkpoint.openLatest(run);
                lengths.add(latest.parts().size());
                assertThat(again(latest.folder(), options)).isEqualTo(full.get(latest.step()));
              }
            } catch (IOException e) {
              throw new java.io.UncheckedIOException(e);
            }
          });
    }
    assertThat(lengths).startsWith(1, 2).contains(1, 2).allMatch(length -> length <= 4);
    assertThat(DeltaRuns.names(run)).containsExactly("step-24");
  }

  /** The files of a checkpoint that was read and written again as a full one. */
  private byte[] again(Path checkpoint, TrainOptions options) throws IOException {
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, checkpoint, DeltaRuns.MODEL, options)) {
      trainer.save(folder.resolve("again"));
    }
    return PlantedRuns.contents(folder.resolve("again"));
  }

  @ParameterizedTest
  @MethodSource("dev.tern.checkpoint.DeltaRuns#runs")
  void aResumedRunGoesOnWithTheChainAndEndsWithTheSameBytes(TrainOptions options)
      throws IOException {
    Path run = folder.resolve("run");
    TrainOptions often = options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(3, 100));
    DeltaRuns.run(run, often, false, 10);
    List<String> before = DeltaRuns.names(run);
    DeltaRuns.run(run, often, true, 11);
    assertThat(DeltaRuns.names(run)).isIn(List.of("step-11"), appended(before, "step-11.delta"));
    DeltaRuns.run(run, often, true, Long.MAX_VALUE);
    Path whole = folder.resolve("whole");
    DeltaRuns.run(whole, options.checkpoints(whole, 0), false, Long.MAX_VALUE);
    assertThat(PlantedRuns.contents(run.resolve("step-24")))
        .isEqualTo(PlantedRuns.contents(whole.resolve("step-24")));
  }

  private static List<String> appended(List<String> names, String name) {
    return Stream.concat(names.stream(), Stream.of(name)).sorted().toList();
  }

  @Test
  void afterSoManyChangesComesAFullCheckpoint() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions often = DeltaRuns.options().checkpoints(run, 0).deltas(DeltaRuns.everySteps(1, 3));
    DeltaRuns.run(run, often, false, 4);
    assertThat(DeltaRuns.names(run))
        .containsExactly("step-1", "step-2.delta", "step-3.delta", "step-4.delta");
    DeltaRuns.run(run, often, true, 5);
    assertThat(DeltaRuns.names(run)).containsExactly("step-5");
  }

  @Test
  void whatNeitherChangedNorFollowsIsRemovedAndAllThatIsNeededStays() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions often =
        DeltaRuns.options().checkpoints(run, 0).deltas(DeltaRuns.everySteps(1, 100));
    DeltaRuns.run(run, often, false, 4);
    assertThat(DeltaRuns.names(run))
        .containsExactly("step-1", "step-2.delta", "step-3.delta", "step-4.delta");
    Files.createDirectories(run.resolve("step-5.delta.writing"));
    Files.createDirectories(run.resolve("step-0"));
    Files.createDirectories(run.resolve("mine"));
    DeltaRuns.run(run, often, true, 5);
    assertThat(DeltaRuns.names(run))
        .containsExactly(
            "mine", "step-1", "step-2.delta", "step-3.delta", "step-4.delta", "step-5.delta");
    try (Device device = Device.cpu(1, 1L << 27);
        Network network = Checkpoint.open(run).load(device)) {
      assertThat(network.tables().rows()).isPositive();
    }
  }

  @Test
  void timeAloneMakesCheckpointsOfChangesToo() throws IOException {
    Path run = folder.resolve("run");
    TrainOptions always =
        DeltaRuns.options()
            .checkpoints(run, 0)
            .deltas(new DeltaSchedule(0, Duration.ofNanos(1), 100));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(DeltaRuns.ROWS), DeltaRuns.MODEL, always)) {
      trainer.fit(
          Readers.inMemory(DeltaRuns.ROWS),
          Optional.empty(),
          progress -> {
            trainer.save(folder.resolve("other")); // waits for what is being written
            if (progress.step() == 3) {
              trainer.requestStop();
            }
          });
    }
    assertThat(DeltaRuns.names(run)).containsExactly("step-1", "step-2.delta", "step-3.delta");
  }

  @Test
  void changesHoldFewRowsWhereFewChanged() {
    Path run = folder.resolve("run");
    DeltaRuns.run(
        run,
        DeltaRuns.options().checkpoints(run, 0).deltas(DeltaRuns.everySteps(10, 100)),
        false,
        21);
    try (SafeTensors full = SafeTensors.open(run.resolve("step-10/tables/2.safetensors"));
        SafeTensors last = SafeTensors.open(run.resolve("step-21.delta/tables/2.safetensors"))) {
      assertThat(last.entry("ids").elements()).isBetween(1L, 90L);
      assertThat(last.entry("gone").elements()).isZero();
      assertThat(full.entry("ids").elements()).isGreaterThan(1000);
    }
  }
}
