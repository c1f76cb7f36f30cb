package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.GroupedRows;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.ModelConfig;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class GroupedRowsTest {
  @TempDir Path folder;

  private static final Schema SCHEMA =
      new Schema(
          List.of("click", "buy"), List.of(), List.of(Slot.oneHot("ad"), Slot.ragged("user")));
  private static final TaskLabels TASKS =
      TaskLabels.of(SCHEMA, List.of(Task.of("click"), Task.of("buy").within("click")));

  private static Batch row(float click, float buy, long... users) {
    Batch batch = new Batch(SCHEMA, 1);
    batch.setLabel(0, click);
    batch.setLabel(1, buy);
    batch.addId(0, 9);
    for (long user : users) {
      batch.addId(1, user);
    }
    batch.endRow();
    return batch;
  }

  @Test
  void eachTaskHasTheRowsThatCountForItAndHaveAGroup() {
    GroupedRows groups = new GroupedRows(SCHEMA, TASKS, "user", 1);
    groups.add(new float[] {2, 1}, row(1, 1, 7));
    groups.add(new float[] {3, 5}, row(0, 0, 7));
    groups.add(new float[] {1, 0}, row(1, 0, 7));
    groups.add(new float[] {9, 9}, row(1, 1));
    groups.add(new float[] {9, 9}, row(1, 1, TextHash.EMPTY));
    assertThat(groups.rows()).isEqualTo(5);
    assertThat(groups.without()).isEqualTo(2);
    List<GroupMetrics.Result> results =
        groups.results().stream().map(Optional::orElseThrow).toList();
    assertThat(results.getFirst().counts()).isEqualTo(new GroupMetrics.Counts(1, 1, 1));
    assertThat(results.getFirst().auc().byRows()).isZero();
    assertThat(results.getLast().auc().byRows()).isEqualTo(1);
    assertThat(results.getLast().order().reciprocalRank()).isEqualTo(1);
  }

  @Test
  void aRowCountsAsOftenAsItsWeightSays() {
    Schema weighted = SCHEMA.withWeight(Optional.of("times"));
    GroupedRows groups =
        new GroupedRows(weighted, TaskLabels.of(weighted, List.of(Task.of("click"))), "user", 1);
    float[][] rows = {{0, 3, 0.5f}, {1, 2, 2}, {0, 1, 4}};
    for (float[] row : rows) {
      Batch batch = new Batch(weighted, 1);
      batch.setLabel(0, row[0]);
      batch.setRowWeight(row[2]);
      batch.addId(0, 9);
      batch.addId(1, 7);
      batch.endRow();
      groups.add(new float[] {row[1]}, batch);
    }
    GroupMetrics.Result result = groups.results().getFirst().orElseThrow();
    assertThat(result.auc().byRows()).isEqualTo(4 / 4.5);
    assertThat(result.order().recall()).isEqualTo(0.25);
  }

  @Test
  void aRowInTwoGroupsAndAColumnThatIsNotThereAreRefused() {
    GroupedRows groups = new GroupedRows(SCHEMA, TASKS, "user", 1);
    groups.add(new float[] {2, 1}, row(1, 1, 7));
    assertThatThrownBy(() -> groups.add(new float[] {2, 1}, row(1, 1, 7, 8)))
        .isInstanceOf(DataException.class)
        .hasMessage(
            "groups: got 2 values of user in row 2, expected one; name a column with one value a"
                + " row");
    assertThatThrownBy(() -> new GroupedRows(SCHEMA, TASKS, "city", 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the column city, expected a column of ids among [ad, user]");
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .batch(100)
        .shuffleRows(0)
        .monitor(Monitor.of(Monitor.Figure.GAUC));
  }

  /** {@code rows} with one slot more, the rows' numbers modulo 50. */
  private static Batch withUsers(Batch rows) {
    Schema own = rows.schema();
    List<Slot> slots = new ArrayList<>(own.slots());
    slots.add(Slot.oneHot("user"));
    Batch wide = new Batch(new Schema(own.labels(), own.dense(), slots), rows.size());
    for (int row = 0; row < rows.size(); row++) {
      wide.setLabel(0, rows.labels()[row]);
      for (int f = 0; f < own.denseDim(); f++) {
        wide.setDense(f, rows.dense()[row * own.denseDim() + f]);
      }
      for (int s = 0; s < own.slotCount(); s++) {
        for (int i = rows.offsets(s)[row]; i < rows.offsets(s)[row + 1]; i++) {
          wide.addId(s, rows.ids(s)[i]);
        }
      }
      wide.addId(own.slotCount(), row % 50);
      wide.endRow();
    }
    return wide;
  }

  @Test
  void trainingEvaluatesGroupsOfAColumnThatTheModelDoesNotRead() {
    Batch train = PlantedRuns.planted(1, 1000);
    Batch held = PlantedRuns.planted(2, 500);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    List<Progress> evaluations = new ArrayList<>();
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(train), model, options().group("user"));
        Trainer plain =
            Trainer.create(
                device,
                PlantedRuns.encoder(train),
                model,
                options().monitor(Monitor.of(Monitor.Figure.AUC)))) {
      trainer.fit(
          Readers.inMemory(train),
          Optional.of(Readers.inMemory(withUsers(held))),
          report -> {
            if (report.split() == Progress.Split.EVAL) {
              evaluations.add(report);
            }
          });
      plain.fit(Readers.inMemory(train));
      TaskMetrics.Result got = evaluations.getFirst().tasks().getFirst();
      GroupMetrics.Result groups = got.groups().orElseThrow();
      assertThat(groups.counts().groups()).isEqualTo(50);
      assertThat(trainer.best()).isEqualTo(groups.auc().byRows()).isBetween(0.5, 1.0);
      assertThat(got.metrics()).isEqualTo(plain.evaluate(Readers.inMemory(held)));
      assertThat(plain.evaluateTasks(Readers.inMemory(held)).getFirst().groups()).isEmpty();
    }
  }

  @Test
  void aRunThatMonitorsGroupsNeedsAColumnThatTheRowsHave() {
    Batch train = PlantedRuns.planted(1, 200);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    try (Device device = Device.cpu(1, 1L << 28)) {
      assertThatThrownBy(() -> Trainer.create(device, PlantedRuns.encoder(train), model, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the monitor GAUC without groups");
      try (Trainer trainer =
          Trainer.create(device, PlantedRuns.encoder(train), model, options().group("user"))) {
        assertThatThrownBy(() ->
                trainer.fit(
                    Readers.inMemory(train),
                    Optional.of(Readers.inMemory(train)),
                    Progress.Listener.none()))
            .hasMessageContaining("groups: got the column user");
        assertThat(trainer.step()).isZero();
      }
    }
  }

  @Test
  void aRunThatMonitorsGroupsGoesOnWithTheSameColumn() {
    Batch train = PlantedRuns.planted(1, 200);
    ModelConfig model = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28)) {
      try (Trainer trainer =
          Trainer.create(device, PlantedRuns.encoder(train), model, options().group("site"))) {
        trainer.fit(Readers.inMemory(train));
        trainer.save(saved);
      }
      Trainer.resume(device, saved, model, options().group("site")).close();
      assertThatThrownBy(() -> Trainer.resume(device, saved, model, options().group("ad")))
          .hasMessageContaining("GAUC by site");
    }
  }
}
