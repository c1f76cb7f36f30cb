package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.readers.Readers;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the bits of a run do not depend on, for each model, of columns and sizes at random. */
final class EveryModelRunTest {
  /**
   * Of each type, and one more of a type whose slots may differ in width, which they do in every
   * other run; {@code -Dtest.flags="-Ddrawn.runs=50"} looks longer.
   */
  private static final int RUNS = Integer.getInteger("drawn.runs", 1);

  private static final long MEMORY = 1L << 28;

  @TempDir Path folder;

  /** The bytes of a checkpoint after a run, and the memory that its last step had. */
  private record Result(byte[] bytes, long memory) {}

  private Result result(DrawnRun run, Device device, String name) throws IOException {
    try (Trainer trainer = Trainer.create(device, run.encoder(), run.model(), run.options())) {
      trainer.fit(Readers.inMemory(run.train()));
      return result(trainer, name);
    }
  }

  private Result result(Trainer trainer, String name) throws IOException {
    Path target = folder.resolve(name);
    trainer.save(target);
    return new Result(PlantedRuns.contents(target), trainer.profile().bytes());
  }

  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void threadsAStopAndLessMemoryChangeNoBit(ModelConfig.Type type) throws IOException {
    // Steps of sequence models take long to plan in little memory, so they have one run, of unequal
    // widths; SequenceTrainingTest has equal ones.
    int runs = RUNS + (type.takesWidths() && !type.readsSequences() ? 1 : 0);
    for (int seed = 0; seed < runs; seed++) {
      DrawnRun run = DrawnRun.of(type, seed);
      String name = "of " + seed;
      Result whole;
      try (Device device = Device.cpu(1, MEMORY)) {
        whole = result(run, device, name);
      }
      int threads = 2 + (type.ordinal() + seed) % 2;
      try (Device device = Device.cpu(threads, MEMORY)) {
        requireSame(run, whole, result(run, device, name + " by " + threads), "threads");
      }
      requireSame(run, whole, stopped(run, name, 1 + seed * 3 % 5), "stopped and resumed");
      requireSame(run, whole, inLessMemory(run, name, whole.memory / 2), "in less memory");
    }
  }

  private static void requireSame(DrawnRun run, Result expected, Result got, String what) {
    assertThat(got.bytes).as("%s: %s", what, run).isEqualTo(expected.bytes);
  }

  private Result stopped(DrawnRun run, String name, int stop) throws IOException {
    Path half = folder.resolve(name + " half");
    TrainOptions options = run.options().reportEvery(1);
    try (Device device = Device.cpu(2, MEMORY)) {
      try (Trainer first = Trainer.create(device, run.encoder(), run.model(), options)) {
        first.fit(
            Readers.inMemory(run.train()),
            Optional.empty(),
            progress -> {
              if (progress.step() == stop) {
                first.requestStop();
              }
            });
        assertThat(first.step()).isEqualTo(stop);
        first.save(half);
      }
      try (Trainer second = Trainer.resume(device, half, run.model(), run.options())) {
        second.fit(Readers.inMemory(run.train()));
        return result(second, name + " resumed");
      }
    }
  }

  /** A run whose step has so many bytes, or the fewest in which it can be planned if more. */
  private Result inLessMemory(DrawnRun run, String name, long bytes) throws IOException {
    for (long budget = bytes; ; budget += Math.max(256, budget / 2)) {
      try (Device device = Device.cpu(2, MEMORY, budget)) {
        return result(run, device, name + " in " + budget);
      } catch (OutOfBudgetException e) {
        assertThat(budget).as("what %s can be planned in", run).isLessThan(MEMORY);
      }
    }
  }
}
