package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.readers.Readers;
import dev.tern.model.ModelConfig;
import dev.tern.optim.LearningRate;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training loops of one's own: the steps of {@link Trainer#fit}, and what goes wrong in them. */
final class TrainingLoopTest {
  private static final int EPOCHS = 2;
  private static final Batch ROWS = PlantedRuns.planted(1, 1000);
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);

  @TempDir Path folder;

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f))
        .batch(64)
        .epochs(EPOCHS)
        .shuffleRows(300)
        .schedule(LearningRate.warmup(0.02f, 10));
  }

  private static Trainer trainer(Device device) {
    return Trainer.create(device, PlantedRuns.encoder(ROWS), MODEL, options());
  }

  private static Device device() {
    return Device.cpu(2, 1L << 28);
  }

  private static DataReader rows() {
    return Readers.inMemory(ROWS);
  }

  private byte[] saved(Trainer trainer, String name) throws IOException {
    trainer.save(folder.resolve(name));
    return PlantedRuns.contents(folder.resolve(name));
  }

  private byte[] fitted() throws IOException {
    try (Device device = device();
        Trainer trainer = trainer(device)) {
      trainer.fit(rows());
      return saved(trainer, "fit");
    }
  }

  /** The loop of the documents. */
  private static List<StepResult> loop(Trainer trainer) {
    List<StepResult> results = new ArrayList<>();
    try (TrainingBatches batches = trainer.batches(rows())) {
      while (trainer.epoch() < EPOCHS) {
        for (Batch batch : batches) {
          results.add(trainer.step(batch));
        }
      }
    }
    return results;
  }

  @Test
  void aLoopOfOnesOwnEndsWithTheBytesOfFit() throws IOException {
    byte[] fitted = fitted();
    try (Device device = device();
        Trainer trainer = trainer(device)) {
      List<StepResult> results = loop(trainer);
      assertThat(saved(trainer, "loop")).isEqualTo(fitted);
      assertThat(results).extracting(StepResult::step).last().isEqualTo(32L);
      assertThat(results).extracting(StepResult::rows).contains(64, 40);
      assertThat(results.get(0).learningRate()).isEqualTo(options().schedule().at(1));
      assertThat(results.get(9).learningRate()).isEqualTo(0.02f);
      assertThat(results.getLast().loss()).isLessThan(results.getFirst().loss());
      assertThat(results).allSatisfy(result -> assertThat(result.nanos()).isPositive());
    }
  }

  @Test
  void soDoesALoopThatReadsWithoutAThread() throws IOException {
    byte[] fitted = fitted();
    try (Device device = device();
        Trainer trainer = trainer(device);
        DataReader encoded =
            Readers.encoded(
                Readers.batched(Readers.shuffled(rows(), 300, 1), 64, false), trainer.encoder())) {
      while (trainer.epoch() < EPOCHS) {
        encoded.start(trainer.epoch());
        for (Optional<Batch> next = encoded.next(); next.isPresent(); next = encoded.next()) {
          try (Batch batch = next.get()) {
            trainer.step(batch);
          }
        }
        trainer.endEpoch();
      }
      assertThat(saved(trainer, "loop")).isEqualTo(fitted);
    }
  }

  @Test
  void aLoopThatWasLeftGoesOnAfterTheStepsDone() throws IOException {
    byte[] fitted = fitted();
    try (Device device = device();
        Trainer trainer = trainer(device);
        TrainingBatches batches = trainer.batches(rows())) {
      int loops = 0;
      while (trainer.epoch() < EPOCHS) {
        loops++;
        int left = 5;
        for (Batch batch : batches) {
          if (left-- == 0) {
            break;
          }
          trainer.step(batch);
        }
      }
      assertThat(loops).isEqualTo(8);
      assertThat(saved(trainer, "left")).isEqualTo(fitted);
    }
  }

  @Test
  void evaluationsAndCheckpointsBetweenStepsChangeNoBitAndARunIsResumedFromAny()
      throws IOException {
    byte[] fitted = fitted();
    try (Device device = device();
        Trainer trainer = trainer(device);
        TrainingBatches batches = trainer.batches(rows())) {
      for (Batch batch : batches) {
        trainer.step(batch);
        if (trainer.step() == 7) {
          assertThat(trainer.rows()).isEqualTo(7 * 64);
          assertThat(trainer.evaluate(Readers.inMemory(ROWS)).rows()).isEqualTo(1000);
          trainer.save(folder.resolve("run/step-7"));
        }
      }
      assertThat(trainer.epoch()).isEqualTo(1);
      assertThat(trainer.rows()).isZero();
    }
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), MODEL, options())) {
      assertThat(trainer.step()).isEqualTo(7);
      loop(trainer);
      assertThat(saved(trainer, "resumed")).isEqualTo(fitted);
    }
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.resume(device, folder.resolve("run"), MODEL, options())) {
      trainer.fit(rows());
      assertThat(saved(trainer, "by-fit")).isEqualTo(fitted);
    }
  }

  private static void requireRefused(Trainer trainer, Batch batch, String message) {
    assertThatThrownBy(() -> trainer.step(batch))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
    assertThat(trainer.step()).isZero();
  }

  private static Batch encoded(FeatureEncoder encoder, Batch rows) {
    Batch batch = new Batch(encoder.schema(), rows.size());
    encoder.apply(rows, batch);
    return batch;
  }

  @Test
  void batchesThatCannotBeTrainedOnAreRefused() {
    String encode =
        ", expected one encoded by trainer.encoder(); take batches from trainer.batches(reader), or"
            + " encode them";
    try (Device device = device();
        Trainer trainer = trainer(device)) {
      requireRefused(trainer, ROWS, "train: got a batch of raw rows" + encode);
      Batch other = encoded(PlantedRuns.encoder(ROWS), ROWS);
      requireRefused(trainer, other, "train: got a batch of raw rows" + encode);
      Batch columns = new Batch(new Schema(List.of("y"), List.of("x"), List.of()), 1);
      requireRefused(trainer, columns, "train: got a batch of other columns" + encode);
      Batch batch = encoded(trainer.encoder(), ROWS);
      batch.labels()[3] = Float.NaN;
      requireRefused(
          trainer,
          batch,
          "train: got no label click in row 3 of a batch, expected 0 or 1 in each; train on rows"
              + " with labels");
      batch.close();
      requireRefused(
          trainer,
          batch,
          "train: got a batch that is closed, expected rows; train on a batch before it is closed");
      batch.clear();
      requireRefused(
          trainer,
          batch,
          "train: got a batch that is empty, expected rows; train on a batch before it is closed");
    }
  }

  @Test
  void rowsWithoutALabelAreRefusedBeforeTheFirstStep() {
    Schema raw = ROWS.schema();
    Batch unlabelled = new Batch(new Schema(List.of(), raw.dense(), raw.slots()), 1);
    try (Device device = device();
        Trainer trainer = trainer(device)) {
      assertThatThrownBy(() -> trainer.batches(Readers.inMemory(unlabelled)))
          .isInstanceOf(DataException.class)
          .hasMessageStartingWith("train: got rows without a label");
    }
  }

  @Test
  void aBatchIsTrainedOnOnce() {
    try (Device device = device();
        Trainer trainer = trainer(device);
        TrainingBatches batches = trainer.batches(rows())) {
      Iterator<Batch> epoch = batches.iterator();
      epoch.next();
      assertThatThrownBy(epoch::hasNext)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith(
              "training batches: got 0 rows trained on in this epoch, expected 64");
      Iterator<Batch> again = batches.iterator();
      assertThatThrownBy(epoch::hasNext).hasMessageContaining("that another one, or close, has");
      Batch first = again.next();
      trainer.step(first);
      trainer.step(first);
      assertThatThrownBy(again::hasNext).hasMessageContaining("got 128 rows");
    }
  }

  @Test
  void callsOutOfOrderAreRefused() {
    try (Device device = device()) {
      Trainer trainer = trainer(device);
      assertThatThrownBy(trainer::endEpoch).isInstanceOf(DataException.class);
      TrainingBatches batches = trainer.batches(rows());
      assertThatThrownBy(() -> trainer.batches(rows()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("one at a time; close the first");
      Batch last = encoded(trainer.encoder(), ROWS);
      Iterator<Batch> epoch = batches.iterator();
      while (epoch.hasNext()) {
        trainer.step(epoch.next());
      }
      assertThatThrownBy(epoch::next).isInstanceOf(NoSuchElementException.class);
      batches.close();
      trainer.batches(rows()).close();
      trainer.close();
      assertThatThrownBy(() -> trainer.step(last)).hasMessageContaining("got a call after close");
      assertThatThrownBy(() -> trainer.batches(rows())).hasMessageContaining("after close");
      assertThatThrownBy(() -> trainer.save(folder.resolve("late"))).hasMessageContaining("close");
    }
  }

  @Test
  void fewerRowsThanWereTrainedOnAreNotTheDataOfTheRun() {
    try (Device device = device();
        Trainer trainer = trainer(device)) {
      try (TrainingBatches batches = trainer.batches(rows())) {
        Iterator<Batch> epoch = batches.iterator();
        trainer.step(epoch.next());
        trainer.step(epoch.next());
      }
      DataReader few = Readers.take(rows(), 100);
      try (TrainingBatches batches = trainer.batches(few)) {
        assertThatThrownBy(batches::iterator)
            .isInstanceOf(IllegalStateException.class)
            .hasMessage(
                "resume: got 100 rows, expected at least 128 in an epoch; give the data that the"
                    + " checkpoint was trained on");
      }
    }
  }
}
