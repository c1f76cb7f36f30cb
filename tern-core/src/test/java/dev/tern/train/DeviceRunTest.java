package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.data.readers.Readers;
import dev.tern.internal.cuda.driver.CudaLibraries;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Training on a device, which is simulated, leaves the bytes that the processor leaves. */
final class DeviceRunTest {
  private static final long MEMORY = 1L << 28;

  @TempDir Path folder;

  @BeforeAll
  static void useTheSimulatedDevice() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    System.setProperty(CudaLibraries.PATH_PROPERTY, SimulatedCuda.library().toString());
  }

  @AfterAll
  static void useNone() {
    System.clearProperty(CudaLibraries.PATH_PROPERTY);
  }

  @ParameterizedTest
  @EnumSource(names = {"DEEPFM", "DLRM", "DIN", "TWOTOWER"})
  void aRunMayChangeItsDeviceAtACheckpoint(ModelConfig.Type type) throws IOException {
    DrawnRun run = DrawnRun.of(type, 3);
    byte[] expected;
    try (Device device = Device.cpu(2, MEMORY)) {
      expected = whole(run, device, "cpu");
    }
    String before = SimulatedCuda.live();
    try (Device device = Device.cuda(0, 2, MEMORY, MEMORY)) {
      assertThat(whole(run, device, "cuda")).as(run.toString()).isEqualTo(expected);
    }
    assertThat(SimulatedCuda.live()).isEqualTo(before);
    Path half = folder.resolve("half");
    try (Device device = Device.cuda(0, 2, MEMORY, MEMORY)) {
      stop(run, device, half);
    }
    try (Device device = Device.cpu(2, MEMORY)) {
      assertThat(resumed(run, device, half, "to cpu")).isEqualTo(expected);
    }
    try (Device device = Device.cpu(2, MEMORY)) {
      stop(run, device, half);
    }
    try (Device device = Device.cuda(0, 2, MEMORY, MEMORY)) {
      assertThat(resumed(run, device, half, "to cuda")).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DEEPFM", "DIN"})
  void soDoesARunInLanes(ModelConfig.Type type) throws IOException {
    DrawnRun run = DrawnRun.of(type, 3);
    TrainOptions options = run.options().batch(64).lanes(4);
    byte[] expected;
    try (Device device = Device.cpu(2, MEMORY)) {
      expected = whole(run, options, device, "cpu");
    }
    String before = SimulatedCuda.live();
    try (Device device = Device.cuda(0, 2, MEMORY, MEMORY)) {
      assertThat(whole(run, options, device, "cuda")).as(run.toString()).isEqualTo(expected);
    }
    assertThat(SimulatedCuda.live()).isEqualTo(before);
  }

  private byte[] whole(DrawnRun run, Device device, String name) throws IOException {
    return whole(run, run.options(), device, name);
  }

  private byte[] whole(DrawnRun run, TrainOptions options, Device device, String name)
      throws IOException {
    try (Trainer trainer = Trainer.create(device, run.encoder(), run.model(), options)) {
      trainer.fit(Readers.inMemory(run.train()));
      return saved(trainer, name);
    }
  }

  private void stop(DrawnRun run, Device device, Path half) {
    TrainOptions options = run.options().reportEvery(1);
    try (Trainer first = Trainer.create(device, run.encoder(), run.model(), options)) {
      first.fit(
          Readers.inMemory(run.train()),
          Optional.empty(),
          progress -> {
            if (progress.step() == 2) {
              first.requestStop();
            }
          });
      first.save(half);
    }
  }

  private byte[] resumed(DrawnRun run, Device device, Path half, String name) throws IOException {
    try (Trainer second = Trainer.resume(device, half, run.model(), run.options())) {
      second.fit(Readers.inMemory(run.train()));
      return saved(second, name);
    }
  }

  private byte[] saved(Trainer trainer, String name) throws IOException {
    Path target = folder.resolve(name);
    trainer.save(target);
    return PlantedRuns.contents(target);
  }
}
