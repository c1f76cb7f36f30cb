package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelConfig.Type;
import dev.tern.model.WideDeep;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Columns that only one part of wide and deep reads. */
final class WideDeepPartsTest {
  private static final int D = 3;
  private static final int HIDDEN = 5;

  @TempDir Path folder;

  private static Batch rows(long seed) {
    Schema schema =
        new Schema(
            List.of("y"),
            List.of("n", "m"),
            List.of(Slot.oneHot("a"), Slot.oneHot("b"), Slot.oneHot("c")));
    Batch rows = new Batch(schema, 500);
    SplittableRandom random = new SplittableRandom(seed);
    for (int row = 0; row < 500; row++) {
      rows.setDense(0, (float) random.nextDouble(-1, 1));
      rows.setDense(1, (float) random.nextDouble(-1, 1));
      for (int slot = 0; slot < 3; slot++) {
        rows.addId(slot, random.nextInt(4));
      }
      rows.setLabel(0, random.nextInt(2));
      rows.endRow();
    }
    return rows;
  }

  private static FeatureEncoder encoder(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.none(), NumberEncoding.none()),
        List.of(IdEncoding.verbatim(), IdEncoding.verbatim(), IdEncoding.verbatim()),
        TextDictionary.none(),
        read -> {});
  }

  private static ModelConfig model(List<String> wideOnly, List<String> deepOnly) {
    return ModelConfig.of(Type.WDL, D, HIDDEN).withParts(new WideDeep(wideOnly, deepOnly));
  }

  private static Trainer trainer(Device device, ModelConfig model) {
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.05f)).batch(50).epochs(2);
    return Trainer.create(device, encoder(rows(1)), model, options);
  }

  /** The weights of the rows of a table by id. */
  private static Map<Long, float[]> weights(EmbeddingTable table) {
    Map<Long, float[]> rows = new HashMap<>();
    int width = table.config().width();
    int floats = table.config().rowFloats();
    table.exportTo((ids, values, count) -> {
      for (int i = 0; i < count; i++) {
        float[] row = new float[width];
        for (int j = 0; j < width; j++) {
          row[j] = values.getAtIndex(ValueLayout.JAVA_FLOAT, (long) i * floats + j);
        }
        rows.put(ids[i], row);
      }
    });
    return rows;
  }

  private static float[] linear(Map<String, float[]> parameters, String name, float[] x) {
    float[] weight = parameters.get(name + ".weight");
    float[] y = parameters.get(name + ".bias").clone();
    for (int i = 0; i < x.length; i++) {
      for (int j = 0; j < y.length; j++) {
        y[j] += x[i] * weight[i * y.length + j];
      }
    }
    return y;
  }

  @Test
  void eachPartReadsItsColumnsAndThoseOfBoth() {
    Path saved = folder.resolve("saved");
    Map<String, float[]> parameters = new HashMap<>();
    Map<Long, float[]> a;
    Map<Long, float[]> b;
    Map<Long, float[]> c;
    try (Device device = Device.cpu(2, 1L << 27);
        Trainer trainer = trainer(device, model(List.of("a", "m"), List.of("b")))) {
      trainer.fit(Readers.inMemory(rows(1)));
      trainer.save(saved);
      List<EmbeddingTable> tables = trainer.network().tables().tables();
      assertThat(tables.stream().map(table -> table.config().width()))
          .as("a has a linear weight and, as no row is without, one float behind it")
          .containsExactly(2, 1 + D, 1 + D);
      a = weights(tables.get(0));
      b = weights(tables.get(1));
      c = weights(tables.get(2));
      for (Variable parameter : trainer.network().parameters()) {
        parameters.put(parameter.name(), parameter.toArray());
      }
    }
    assertThat(parameters.get("wide.weight")).as("of n and m").hasSize(2);
    assertThat(parameters.get("deep.0.weight")).as("of b, c and n").hasSize((2 * D + 1) * HIDDEN);
    try (Predictor predictor = Predictor.open(saved)) {
      Batch held = rows(2);
      float[] logits = new float[held.size()];
      predictor.logits(held, logits);
      for (int row = 0; row < held.size(); row++) {
        float n = held.dense()[2 * row];
        float m = held.dense()[2 * row + 1];
        float[] rowB = b.get(held.ids(1)[row]);
        float[] rowC = c.get(held.ids(2)[row]);
        float[] inputs = new float[2 * D + 1];
        System.arraycopy(rowB, 1, inputs, 0, D);
        System.arraycopy(rowC, 1, inputs, D, D);
        inputs[2 * D] = n;
        float[] hidden = linear(parameters, "deep.0", inputs);
        for (int i = 0; i < HIDDEN; i++) {
          hidden[i] = Math.max(0, hidden[i]);
        }
        float wide = linear(parameters, "wide", new float[] {n, m})[0];
        float expected =
            a.get(held.ids(0)[row])[0] + rowC[0] + wide + linear(parameters, "out", hidden)[0];
        assertThat(logits[row]).as("row %d", row).isCloseTo(expected, within(1e-4f));
      }
    }
  }

  @Test
  void aPartMayHaveSlotsAloneOrNumbersAlone() {
    try (Device device = Device.cpu(1, 1L << 27)) {
      for (ModelConfig model :
          List.of(
              model(List.of(), List.of("n", "m")),
              model(List.of(), List.of("a", "b", "c")),
              model(List.of("n", "m"), List.of()),
              model(List.of("a", "b", "c"), List.of()),
              model(List.of("a", "b", "c"), List.of("n", "m")),
              model(List.of("n", "m"), List.of("a", "b", "c")))) {
        try (Trainer trainer = trainer(device, model)) {
          trainer.fit(Readers.inMemory(rows(1)));
          assertThat(trainer.evaluate(Readers.inMemory(rows(1))).logLoss()).isLessThan(0.75);
        }
      }
    }
  }

  @Test
  void partsThatNameNoColumnOrLeaveNoneAreRefused() {
    try (Device device = Device.cpu(1, 1L << 27)) {
      requireRefused(
          device, model(List.of("gone"), List.of()), "got [gone] as the columns of the wide");
      requireRefused(
          device, model(List.of(), List.of("b", "b")), "expected distinct ones of [a, b, c]");
      requireRefused(
          device,
          model(List.of("a", "b", "c", "n", "m"), List.of()),
          "and others left for the deep part");
      requireRefused(
          device,
          model(List.of(), List.of("a", "b", "c", "n", "m")),
          "and others left for the wide part");
    }
    assertThatThrownBy(() -> new WideDeep(List.of("a"), List.of("b", "a")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the column a for the wide part alone and for the deep part");
    assertThatThrownBy(
            () -> ModelConfig.of(Type.DEEPFM, 4).withParts(new WideDeep(List.of("a"), List.of())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got columns of one part alone for DEEPFM, expected WDL");
  }

  private static void requireRefused(Device device, ModelConfig model, String message) {
    assertThatThrownBy(() -> trainer(device, model).close())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
