package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.DeltaRuns;
import dev.tern.embedding.config.RowFormat;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Updates that change nothing, before the first one that does. */
final class UpdateRehearsalTest {
  @TempDir Path folder;

  private final List<ModelEvent> events = new ArrayList<>();

  private Path served() {
    return folder.resolve("served");
  }

  private ServedModel open(ServedOptions options) {
    return ServedModel.open(served(), options, events::add);
  }

  static List<TrainOptions> runs() {
    return ServedModelTest.runs();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void scoresAndUpdatesAreTheSameAfterIt(TrainOptions run) {
    Path archive = ServedRuns.archive(folder, run, 4);
    List<String> names = ServedRuns.names(archive);
    for (RowFormat format : RowFormat.values()) {
      ScoreOptions scoring = ScoreOptions.DEFAULT.withTables(format);
      ServedRuns.remove(folder, "served");
      ServedRuns.deliver(archive, served(), names.getFirst());
      try (ServedModel model = open(ServedOptions.DEFAULT.withScoring(scoring))) {
        model.rehearse(Duration.ZERO);
        model.rehearse(Duration.ZERO);
        assertThat(model.earlierSteps()).isEmpty();
        for (String name : names.subList(0, 3)) {
          if (!name.equals(names.getFirst())) {
            ServedRuns.deliver(archive, served(), name);
            assertThat(model.refresh()).isTrue();
          }
          assertThat(ServedRuns.scores(model))
              .as(name)
              .isEqualTo(ServedRuns.expected(archive, name, scoring));
        }
      }
    }
    assertThat(events).hasSize(RowFormat.values().length * 3);
  }

  @Test
  void itNeedsNoMoreMemoryThanAnUpdateLeavesInUse() {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 2);
    ServedRuns.deliver(archive, served(), "step-2");
    long rehearsed;
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      model.warmUp();
      model.rehearse(Duration.ZERO);
      rehearsed = model.memoryInUse();
      model.rehearse(Duration.ZERO);
      assertThat(model.memoryInUse()).isEqualTo(rehearsed);
      ServedRuns.deliver(archive, served(), ServedRuns.delta(4));
      assertThat(model.refresh()).isTrue();
      assertThat(model.memoryInUse()).isGreaterThanOrEqualTo(rehearsed);
    }
  }

  @Test
  void withoutTheMemoryOrTheFilesForItTheModelServesAsBefore() {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 2);
    ServedRuns.deliver(archive, served(), "step-2");
    float[] expected = ServedRuns.expected(archive, "step-2", ScoreOptions.DEFAULT);
    long needed;
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      ServedRuns.scores(model);
      needed = model.memoryInUse();
      ServedRuns.remove(served(), "step-2");
      model.rehearse(Duration.ZERO);
      assertThat(ServedRuns.scores(model)).isEqualTo(expected);
    }
    ServedRuns.deliver(archive, served(), "step-2");
    try (ServedModel model = open(ServedOptions.DEFAULT.withMemory(needed + 100_000))) {
      assertThat(ServedRuns.scores(model)).isEqualTo(expected);
      model.rehearse(Duration.ZERO);
      assertThat(ServedRuns.scores(model)).isEqualTo(expected);
    }
  }

  @Test
  void afterAnUpdateThereIsNothingToRehearse() {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 2);
    ServedRuns.deliver(archive, served(), "step-2");
    try (ServedModel model = open(ServedOptions.DEFAULT)) {
      ServedRuns.deliver(archive, served(), ServedRuns.delta(4));
      assertThat(model.refresh()).isTrue();
      model.rehearse(Duration.ZERO);
      assertThat(ServedRuns.scores(model))
          .isEqualTo(ServedRuns.expected(archive, ServedRuns.delta(4), ScoreOptions.DEFAULT));
    }
  }
}
