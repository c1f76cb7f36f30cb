package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs of models that read sequences: what they learn, and what their bits depend on. */
final class SequenceTrainingTest {
  private static final int LONGEST = 12;
  private static final int CATEGORIES = 30;
  private static final Schema SCHEMA =
      new Schema(
          List.of("click"),
          List.of(),
          List.of(
              Slot.oneHot("user"),
              Slot.oneHot("category"),
              Slot.ragged("categories"),
              Slot.ragged("kinds")));
  private static final Batch TRAIN = rows(1, 6000);
  private static final Batch HELD = rows(2, 1500);

  /** For runs of which many are compared. */
  private static final Batch FEW = rows(3, 2000);

  @TempDir Path folder;

  /**
   * A click depends on whether the row's category is among the last ones seen; 0.85 is the best
   * AUC.
   */
  private static Batch rows(long seed, int count) {
    Batch batch = new Batch(SCHEMA, count);
    Random random = new Random(seed);
    for (int row = 0; row < count; row++) {
      int length = random.nextInt(8) == 0 ? 0 : 6 + random.nextInt(LONGEST);
      int shown = random.nextInt(CATEGORIES);
      boolean seen = length > 0 && random.nextBoolean();
      for (int i = 0; i < length; i++) {
        int other = (shown + 1 + random.nextInt(CATEGORIES - 1)) % CATEGORIES;
        batch.addId(2, seen && i >= length - 6 && i % 2 == 0 ? shown : other);
        batch.addId(3, random.nextInt(3));
      }
      batch.addId(0, random.nextInt(50));
      batch.addId(1, shown);
      batch.setLabel(0, random.nextDouble() < (seen ? 0.9 : 0.1) ? 1 : 0);
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(ModelConfig.Type type) {
    Sequence seen = Sequence.last("seen", LONGEST);
    Map<String, Sequence> sequences = new HashMap<>(Map.of("categories", seen));
    if (type == ModelConfig.Type.DIN) {
      sequences.put("kinds", seen);
    }
    return FeatureEncoder.fit(
            Readers.inMemory(TRAIN),
            List.of(),
            Collections.nCopies(4, IdEncoding.verbatim()),
            Map.of("categories", "category"),
            TextDictionary.none(),
            read -> {})
        .withSequences(sequences);
  }

  private static ModelConfig model(ModelConfig.Type type) {
    ModelConfig model = ModelConfig.of(type, 4, 16).withDropout(0.1f);
    return type == ModelConfig.Type.BST
        ? model.withAttention(16, 16).withHeads(2)
        : model.withAttention(16);
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(128).epochs(4).shuffleRows(1000);
  }

  private static Trainer trained(Device device, ModelConfig.Type type, TrainOptions options) {
    return trained(device, type, options, TRAIN);
  }

  private static Trainer trained(
      Device device, ModelConfig.Type type, TrainOptions options, Batch rows) {
    Trainer trainer = Trainer.create(device, encoder(type), model(type), options);
    trainer.fit(Readers.inMemory(rows));
    return trainer;
  }

  @Test
  void dinLearnsWhatASumOfVectorsHardlyTells() {
    ModelConfig.Type din = ModelConfig.Type.DIN;
    ModelConfig.Type pooled = ModelConfig.Type.WDL;
    assertThat(auc(model(din), options().epochs(8))).isGreaterThan(0.86);
    assertThat(auc(ModelConfig.of(pooled, 4, 16), options().epochs(8))).isLessThan(0.84);
  }

  @Test
  void bstLearnsWhatWasSeen() {
    ModelConfig.Type bst = ModelConfig.Type.BST;
    ModelConfig one = ModelConfig.of(bst, 4, 16).withAttention(16).withHeads(2);
    assertThat(auc(one, options().epochs(10))).isGreaterThan(0.75);
  }

  private static double auc(ModelConfig model, TrainOptions options) {
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder(model.type()), model, options)) {
      trainer.fit(Readers.inMemory(TRAIN));
      double auc = trainer.evaluate(Readers.inMemory(HELD)).auc();
      return auc;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"DIN", "DIEN", "BST", "SASREC", "HSTU"})
  void threadsAStopAndASmallBudgetChangeNoBit(ModelConfig.Type type) throws IOException {
    TrainOptions two = options().epochs(2);
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = trained(device, type, two, FEW)) {
      trainer.save(folder.resolve("one"));
    }
    byte[] expected = PlantedRuns.contents(folder.resolve("one"));
    try (Device device = Device.cpu(3, 1L << 28);
        Trainer trainer = trained(device, type, two, FEW)) {
      trainer.save(folder.resolve("three"));
    }
    assertThat(PlantedRuns.contents(folder.resolve("three"))).isEqualTo(expected);
    try (Device device = Device.cpu(2, 1L << 28)) {
      try (Trainer first = Trainer.create(device, encoder(type), model(type), two)) {
        first.fit(Readers.inMemory(FEW), Optional.empty(), report -> first.requestStop());
        first.save(folder.resolve("stopped"));
      }
      try (Trainer second = Trainer.resume(device, folder.resolve("stopped"), model(type), two)) {
        assertThat(second.step()).isPositive().isLessThan(32);
        second.fit(Readers.inMemory(FEW));
        second.save(folder.resolve("resumed"));
      }
    }
    assertThat(PlantedRuns.contents(folder.resolve("resumed"))).isEqualTo(expected);
    assertThat(inLeastMemory(type, two)).isEqualTo(expected);
  }

  /** The bytes of a run on the smallest budget that it takes, in steps of a quarter. */
  private byte[] inLeastMemory(ModelConfig.Type type, TrainOptions options) throws IOException {
    byte[] least = {};
    for (long budget = 1L << 24; ; budget = budget * 3 / 4) {
      try (Device device = Device.cpu(2, budget);
          Trainer trainer = trained(device, type, options, FEW)) {
        Path target = folder.resolve("in-" + budget);
        trainer.save(target);
        least = PlantedRuns.contents(target);
      } catch (OutOfBudgetException e) {
        assertThat(least).as("a run in 16 MiB").isNotEmpty();
        return least;
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"DIN", "DIEN", "BST", "SASREC", "HSTU"})
  void aScoreDependsOnNothingButItsRow(ModelConfig.Type type) {
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = trained(device, type, options().epochs(1))) {
      trainer.save(saved);
    }
    try (Predictor predictor = Predictor.open(saved)) {
      float[] expected = predictor.score(HELD);
      int[] order = IntStream.range(0, HELD.size()).toArray();
      shuffle(order, new Random(3));
      for (int from = 0, size = 1; from < order.length; from += size, size = size % 300 + 7) {
        int count = Math.min(size, order.length - from);
        Batch some = new Batch(SCHEMA, count);
        for (int i = 0; i < count; i++) {
          some.appendRows(HELD, order[from + i], order[from + i] + 1);
        }
        float[] scores = predictor.score(some);
        for (int i = 0; i < count; i++) {
          assertThat(scores[i]).as("of %d", count).isEqualTo(expected[order[from + i]]);
        }
      }
      for (int i = 0; i < 60; i++) {
        assertThat(predictor.score(row(i))).as("row %d", i).isEqualTo(expected[i]);
      }
      assertThat(predictor.score(Map.of("user", 1, "category", 2))).isBetween(0f, 1f);
    }
  }

  private static void shuffle(int[] order, Random random) {
    for (int i = order.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int moved = order[i];
      order[i] = order[other];
      order[other] = moved;
    }
  }

  private static Map<String, Object> row(int index) {
    Map<String, Object> row = new HashMap<>();
    for (int slot = 0; slot < SCHEMA.slotCount(); slot++) {
      int[] offsets = HELD.offsets(slot);
      List<Long> ids =
          Arrays.stream(HELD.ids(slot), offsets[index], offsets[index + 1]).boxed().toList();
      row.put(SCHEMA.slotNames().get(slot), slot < 2 ? ids.getFirst() : ids);
    }
    return row;
  }

  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      names = {"DIN", "DIEN", "BST", "SASREC", "HSTU"})
  void batchesOfOneRowAndOfEmptySequencesAreTrainedOn(ModelConfig.Type type) {
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder(type), model(type), options())) {
      List<Float> losses = new ArrayList<>();
      for (int size : new int[] {1, 5, 64}) {
        for (int length : new int[] {0, 1, LONGEST + 3}) {
          Batch raw = new Batch(SCHEMA, size);
          for (int row = 0; row < size; row++) {
            raw.setLabel(0, row % 2);
            raw.addId(0, row);
            raw.addId(1, 3);
            for (int i = 0; i < length; i++) {
              raw.addId(2, i);
              raw.addId(3, 0);
            }
            raw.endRow();
          }
          Batch encoded = new Batch(trainer.encoder().schema(), size);
          trainer.encoder().apply(raw, encoded);
          losses.add(trainer.step(encoded).loss());
        }
      }
      assertThat(losses).hasSize(9).allSatisfy(loss -> assertThat(loss).isFinite());
    }
  }

  @Test
  void aRowWhoseColumnsHaveDifferentLengthsIsAnError() {
    Batch raw = new Batch(SCHEMA, 1);
    raw.setLabel(0, 1);
    raw.addId(0, 1);
    raw.addId(1, 1);
    raw.addId(2, 1);
    raw.endRow();
    try (Device device = Device.cpu(1, 1L << 26);
        Trainer trainer =
            Trainer.create(
                device, encoder(ModelConfig.Type.DIN), model(ModelConfig.Type.DIN), options())) {
      assertThatThrownBy(() -> trainer.fit(Readers.inMemory(raw)))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("slot kinds: got 0 ids in row 1 of this batch, expected 1");
    }
  }

  @Test
  void anEarlierRunOfOtherSequencesIsNoneToBeginWith() {
    ModelConfig.Type din = ModelConfig.Type.DIN;
    Path saved = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 28)) {
      try (Trainer trainer = trained(device, din, options().epochs(1))) {
        trainer.save(saved);
      }
      FeatureEncoder same = encoder(din);
      Checkpoint from = Checkpoint.open(saved);
      try (Trainer warm = Trainer.warmStart(device, from, same, model(din), options())) {
        assertThat(warm.fresh()).isEmpty();
      }
      Sequence first = new Sequence("seen", LONGEST, Sequence.Keep.FIRST);
      List<Map<String, Sequence>> others =
          List.of(
              Map.of("categories", first, "kinds", first),
              Map.of("categories", Sequence.last("seen", LONGEST)));
      for (Map<String, Sequence> sequences : others) {
        FeatureEncoder other = same.withSequences(sequences);
        assertThatThrownBy(
                () -> Trainer.warmStart(device, from, other, model(din), options()).close())
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("weights would meet other columns");
        assertThat(other.encodesIdsAs(same)).isTrue();
      }
    }
  }

  @Test
  void anEvaluationFindsMemoryBesideASmallBudget() {
    ModelConfig.Type din = ModelConfig.Type.DIN;
    double expected = Double.NaN;
    for (long budget = 1L << 25; budget > 1L << 19; budget = budget * 5 / 6) {
      TrainOptions one = options().epochs(1);
      try (Device device = Device.cpu(1, budget);
          Trainer trainer = Trainer.create(device, encoder(din), model(din), one)) {
        trainer.fit(Readers.inMemory(FEW), Optional.of(Readers.inMemory(HELD)), report -> {});
        double auc = trainer.evaluate(Readers.inMemory(HELD)).auc();
        assertThat(auc).isEqualTo(Double.isNaN(expected) ? auc : expected);
        expected = auc;
      } catch (OutOfBudgetException e) {
        break;
      }
    }
    assertThat(expected).isPositive();
  }
}
