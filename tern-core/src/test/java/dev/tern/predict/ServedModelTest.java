package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.DeltaRuns;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.predict.ModelEvent.How;
import dev.tern.predict.ModelEvent.Loaded;
import dev.tern.predict.ModelEvent.RolledBack;
import dev.tern.train.TrainOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A model in service beside predictors of the checkpoints that it takes. */
final class ServedModelTest {
  @TempDir Path folder;

  private static final ModelEvent.Read NOTHING = new ModelEvent.Read(Path.of("nothing"), 0);
  private final List<ModelEvent> events = new ArrayList<>();

  private Path served() {
    return folder.resolve("served");
  }

  private ServedModel open(ServedOptions options) {
    return ServedModel.open(served(), options, events::add);
  }

  static List<TrainOptions> runs() {
    List<TrainOptions> runs = new ArrayList<>(DeltaRuns.runs());
    for (UnknownRow unknown : List.of(UnknownRow.MEAN, UnknownRow.ZEROS)) {
      runs.add(DeltaRuns.options().tables(t -> t.unknown(unknown).rows(DeltaRuns.COUNTED)));
    }
    return runs;
  }

  @ParameterizedTest
  @MethodSource("runs")
  void eachUpdateAndEachStepBackScoresAsAPredictorOfThatStep(TrainOptions run) {
    Path archive = ServedRuns.archive(folder, run, 4);
    for (RowFormat format : RowFormat.values()) {
      ServedRuns.remove(folder, "served");
      events.clear();
      assertServesEach(archive, ScoreOptions.DEFAULT.withTables(format));
    }
  }

  private void assertServesEach(Path archive, ScoreOptions scoring) {
    List<String> names = ServedRuns.names(archive);
    List<ModelEvent> expected = new ArrayList<>();
    ServedRuns.deliver(archive, served(), "step-4");
    expected.add(new Loaded(4, How.WHOLE, Duration.ZERO, NOTHING));
    try (ServedModel model = open(ServedOptions.DEFAULT.withScoring(scoring))) {
      assertServes(model, archive, "step-4", scoring);
      for (String name : names.subList(1, 5)) {
        ServedRuns.deliver(archive, served(), name);
        assertThat(model.refresh()).isTrue();
        assertServes(model, archive, name, scoring);
        assertThat(model.refresh()).isFalse();
        boolean changes = ServedRuns.isOfChanges(archive.resolve(name));
        How how = changes ? How.CHANGES : How.DIFFERENCE;
        expected.add(new Loaded(ServedRuns.step(name), how, Duration.ZERO, NOTHING));
      }
      assertThat(model.earlierSteps()).containsExactly(16L, 12L, 8L);
      model.rollBack(12);
      assertServes(model, archive, names.get(2), scoring);
      model.rollBack(8);
      assertServes(model, archive, names.get(1), scoring);
      ServedRuns.deliver(archive, served(), "step-24");
      assertThat(model.refresh()).isFalse();
      model.goOn();
      assertThat(model.refresh()).isTrue();
      assertServes(model, archive, "step-24", scoring);
      model.rollBack(8);
      assertServes(model, archive, names.get(1), scoring);
    }
    expected.add(new RolledBack(12, 20));
    expected.add(new RolledBack(8, 12));
    expected.add(new Loaded(24, How.DIFFERENCE, Duration.ZERO, NOTHING));
    expected.add(new RolledBack(8, 24));
    assertThat(events.stream().map(ServedModelTest::withoutTime).toList()).isEqualTo(expected);
  }

  private static ModelEvent withoutTime(ModelEvent event) {
    return event instanceof Loaded(long step, How how, _, _)
        ? new Loaded(step, how, Duration.ZERO, NOTHING)
        : event;
  }

  private static void assertServes(
      ServedModel model, Path archive, String name, ScoreOptions scoring) {
    try (ModelVersion version = model.pin()) {
      assertThat(name).matches("step-" + version.step() + "([.]delta)?");
      assertThat(version.score(ServedRuns.ROWS))
          .as(name)
          .isEqualTo(ServedRuns.expected(archive, name, scoring));
    }
  }
}
