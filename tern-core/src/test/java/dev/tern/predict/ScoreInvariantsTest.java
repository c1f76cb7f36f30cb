package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.ir.Pointwise;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.DrawnRun;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a score does not depend on, for each model, of columns and sizes drawn at random. */
final class ScoreInvariantsTest {
  /** Of each type; {@code -Dtest.flags="-Ddrawn.runs=50"} looks longer. */
  private static final int RUNS = Integer.getInteger("drawn.runs", 1);

  @TempDir private static Path folder;

  /** Models of each type, which all tests read. */
  private static final Map<ModelConfig.Type, List<Saved>> SAVED =
      new EnumMap<>(ModelConfig.Type.class);

  /** A saved model, and its logits of the held rows by the trainer's own scorer. */
  private record Saved(DrawnRun run, Path checkpoint, float[] logits) {
    int tasks() {
      return logits.length / run.held().size();
    }

    float[] ofRow(int row) {
      return Arrays.copyOfRange(logits, row * tasks(), (row + 1) * tasks());
    }
  }

  private static List<Saved> saved(ModelConfig.Type type) {
    return SAVED.computeIfAbsent(
        type,
        _ ->
            IntStream.range(0, RUNS + (type.takesWidths() && !type.readsSequences() ? 1 : 0))
                .mapToObj(seed -> saved(DrawnRun.of(type, seed), folder.resolve(type + "-" + seed)))
                .toList());
  }

  private static Saved saved(DrawnRun run, Path target) {
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, run.encoder(), run.model(), run.options())) {
      for (Batch batch : trainer.batches(Readers.inMemory(run.train()))) {
        trainer.step(batch);
      }
      trainer.save(target);
      return new Saved(run, target, logits(trainer, run.held(), run.held().size()));
    }
  }

  private static float[] logits(Trainer trainer, Batch rows, int capacity) {
    float[] logits = new float[rows.size() * trainer.network().tasks().count()];
    Batch encoded = new Batch(trainer.encoder().schema(), capacity);
    try (Scorer scorer = new Scorer(trainer.network(), capacity)) {
      for (int from = 0; from < rows.size(); from += capacity) {
        trainer.encoder().apply(rows, from, Math.min(rows.size(), from + capacity), encoded);
        scorer.logits(encoded, logits, from);
      }
    }
    return logits;
  }

  private static Batch picked(Batch rows, int... numbers) {
    Batch some = new Batch(rows.schema(), Math.max(1, numbers.length));
    some.gatherRows(rows, numbers, 0, numbers.length);
    return some;
  }

  private static int[] shuffled(int count, Random random) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, count).boxed().toList());
    Collections.shuffle(order, random);
    return order.stream().mapToInt(Integer::intValue).toArray();
  }

  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void aScoreDependsOnNothingButItsRow(ModelConfig.Type type) {
    for (Saved saved : saved(type)) {
      for (int threads = 1; threads <= 3; threads++) {
        ScoreOptions options = ScoreOptions.DEFAULT.withThreads(threads);
        try (Predictor predictor = Predictor.open(saved.checkpoint, options)) {
          Batch held = saved.run.held();
          int[] order = shuffled(held.size(), new Random(threads));
          for (int from = 0, size = threads; from < order.length; from += size, size += 5) {
            int end = Math.min(order.length, from + size);
            int[] some = Arrays.copyOfRange(order, from, end);
            requireSame(saved, predictor, picked(held, some), some);
          }
          int[] often = IntStream.range(0, 700).map(i -> order[i % 7]).toArray();
          requireSame(saved, predictor, picked(held, often), often);
        }
      }
    }
  }

  private static void requireSame(Saved saved, Predictor predictor, Batch rows, int[] numbers) {
    int tasks = saved.tasks();
    float[] logits = new float[rows.size() * tasks];
    predictor.logits(rows, logits);
    for (int i = 0; i < numbers.length; i++) {
      assertThat(Arrays.copyOfRange(logits, i * tasks, (i + 1) * tasks))
          .as("row %d, %d of %d, of %s", numbers[i], i, numbers.length, saved.run)
          .isEqualTo(saved.ofRow(numbers[i]));
    }
  }

  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void aRowOfNamedValuesHasTheScoreOfTheSameRowInABatch(ModelConfig.Type type) {
    for (Saved saved : saved(type)) {
      try (Predictor predictor = Predictor.open(saved.checkpoint)) {
        for (int row = 0; row < saved.run.held().size(); row++) {
          float[] expected = saved.ofRow(row);
          for (int k = 0; k < expected.length; k++) {
            expected[k] = type.hasOwnLoss() ? expected[k] : Pointwise.sigmoid(expected[k]);
          }
          assertThat(predictor.scores(DrawnRun.asMap(saved.run.held(), row)))
              .as("row %d of %s", row, saved.run)
              .isEqualTo(expected);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void whatASequenceDropsHasNoEffect(ModelConfig.Type type) {
    for (Saved saved : saved(type)) {
      Schema encoded = saved.run.encoder().schema();
      Batch held = saved.run.held();
      Batch cut = new Batch(held.schema(), held.size());
      for (int row = 0; row < held.size(); row++) {
        copyRow(held, row, encoded, cut);
      }
      try (Predictor predictor = Predictor.open(saved.checkpoint)) {
        int[] all = IntStream.range(0, held.size()).toArray();
        requireSame(saved, predictor, cut, all);
      }
    }
  }

  /** Copies a row without the ids that its sequences drop. */
  private static void copyRow(Batch rows, int row, Schema encoded, Batch to) {
    int numbers = rows.schema().denseDim();
    for (int f = 0; f < numbers; f++) {
      to.setDense(f, rows.dense()[row * numbers + f]);
    }
    for (int s = 0; s < rows.schema().slotCount(); s++) {
      Slot slot = encoded.slots().get(s);
      int first = rows.offsets(s)[row];
      int count = rows.idCount(s, row);
      Optional<Sequence> sequence = slot.sequence();
      int from = first + sequence.map(q -> q.firstKept(count)).orElse(0);
      int end = from + sequence.map(q -> q.kept(count)).orElse(count);
      for (int i = from; i < end; i++) {
        if (slot.weighted()) {
          to.addId(s, rows.ids(s)[i], rows.weights(s)[i]);
        } else {
          to.addId(s, rows.ids(s)[i]);
        }
      }
    }
    to.endRow();
  }

  /** Models whose layers read thousands of numbers, as products of many terms have other forms. */
  @ParameterizedTest
  @EnumSource(ModelConfig.Type.class)
  void aScoreFromManyInputsDependsOnNothingButItsRow(ModelConfig.Type type) {
    boolean pair = type.isOfPairs();
    List<Slot> slots = new ArrayList<>(List.of(Slot.oneHot("user"), Slot.oneHot("item")));
    for (int s = 0; s < 34 && !pair; s++) {
      slots.add(Slot.oneHot("slot" + s));
    }
    if (type.readsSequences()) {
      slots.add(Slot.ragged("items").withTable("item").in(Sequence.last("seen", 3)));
    }
    List<String> labels =
        type == ModelConfig.Type.ESMM ? List.of("click", "buy") : List.of("click");
    Schema schema = new Schema(labels, List.of(), slots);
    ModelConfig model =
        ModelConfig.of(type, pair ? 1100 : 64, 20)
            .withBottom(5)
            .withCrossLayers(1)
            .withMatching(Matching.of("item"));
    TableOptions tables = TableOptions.of(Optimizer.sgd(1)).unknown(UnknownRow.INITIAL);
    Batch rows = new Batch(schema, 40);
    for (int row = 0; row < 40; row++) {
      for (int s = 0; s < slots.size(); s++) {
        int count = slots.get(s).hotness() == 1 ? 1 : row % 4;
        for (int i = 0; i < count; i++) {
          rows.addId(s, 31L * row + s + i);
        }
      }
      labels.forEach(label -> rows.setLabel(labels.indexOf(label), 0));
      rows.endRow();
    }
    try (Device device = Device.cpu(2, 1L << 29);
        Network network = Network.create(device, schema, model, tables.initRange(0.3f), 1)) {
      float[] expected = logits(new Scorer(network, 1), rows, 1);
      for (int capacity : new int[] {2, 5, 40, 700}) {
        assertThat(logits(new Scorer(network, capacity), rows, capacity)).isEqualTo(expected);
        assertThat(logits(Scorer.ofConstant(network, capacity), rows, capacity))
            .isEqualTo(expected);
      }
    }
  }

  private static float[] logits(Scorer scorer, Batch rows, int capacity) {
    float[] logits = new float[2 * rows.size()];
    try (scorer) {
      for (int from = 0; from < rows.size(); from += capacity) {
        int end = Math.min(rows.size(), from + capacity);
        scorer.logits(picked(rows, IntStream.range(from, end).toArray()), logits, from);
      }
    }
    return logits;
  }
}
