package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnxruntime.OnnxJavaType;
import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.train.DrawnRun;
import dev.tern.train.TrainOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What ONNX Runtime computes of exported models, beside the predictor of the same checkpoint. */
final class OnnxExportTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DIEN")
  void everyModelHasTheLogitsOfThePredictor(ModelConfig.Type type) {
    ExportedRun run = ExportedRun.of(DrawnRun.of(type, 0), folder.resolve("checkpoint"));
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT);
    run.requireSameLogits(model, run.held());
  }

  @Test
  void aCallMayHaveOneRowOrManyAndBagsMayAllBeEmpty() {
    ExportedRun run =
        ExportedRun.of(DrawnRun.of(ModelConfig.Type.BST, 1), folder.resolve("checkpoint"));
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT);
    run.requireSameLogits(model, ExportedRun.rows(run.held(), 0, 1)); // Row 0 has no ids.
    run.requireSameLogits(model, ExportedRun.rows(run.held(), 3, 1));
    run.requireSameLogits(model, ExportedRun.rows(run.held(), 0, 1000));
  }

  @ParameterizedTest
  @EnumSource(names = {"DEEPFM", "HSTU"})
  void tablesBesideTheModelGiveTheSameLogits(ModelConfig.Type type) throws IOException {
    ExportedRun run = ExportedRun.of(DrawnRun.of(type, 2), folder.resolve("checkpoint"));
    Path inline = folder.resolve("inline.onnx");
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(run.checkpoint(), inline, OnnxOptions.DEFAULT);
    OnnxExport.Summary summary =
        OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT.withInlineBytes(0));
    assertThat(Files.size(folder.resolve("model.onnx.data"))).isEqualTo(summary.externalBytes());
    assertThat(Files.size(model)).isLessThan(Files.size(inline));
    run.requireSameLogits(model, run.held());
  }

  @Test
  void aCallerMayFindTheRowsOfIds() {
    ExportedRun run =
        ExportedRun.of(
            DrawnRun.of(ModelConfig.Type.DIN, 3),
            folder.resolve("checkpoint"),
            new UnknownRow.Hashed(3));
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT.withIds(OnnxOptions.Ids.CALLER));
    run.requireSameLogitsByRows(model, run.held());
  }

  @Test
  void textsAndMissingNumbersGoInAsTheyAre() {
    Schema schema =
        new Schema(
            List.of("click"),
            List.of("age", "income"),
            List.of(Slot.oneHot("city"), Slot.ragged("tags"), Slot.oneHot("device")));
    TextDictionary texts = new TextDictionary();
    List<String> values = List.of("Oslo", "Bergen", "S\u00f8rfold", "Troms\u00f8", "never seen");
    for (String value : values) {
      byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
      texts.saw(TextHash.of(value), utf8, 0, utf8.length);
    }
    Batch train = textRows(schema, values.subList(0, 4), 60);
    IdEncoding vocabulary = IdEncoding.vocabulary();
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(train),
            List.of(NumberEncoding.log1pStandardize(), NumberEncoding.none()),
            List.of(vocabulary, vocabulary, IdEncoding.hashed(7)),
            texts,
            _ -> {});
    Path saved = folder.resolve("checkpoint");
    ModelConfig config = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.05f)).batch(20);
    ExportedRun.save(encoder, config, options, train, saved);
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(Checkpoint.open(saved), model, OnnxOptions.DEFAULT);
    Batch rows = textRows(schema, values, 40);
    try (OrtScores scores =
            new OrtScores(
                model,
                hash -> values.stream().filter(v -> TextHash.of(v) == hash).findAny().orElse(""));
        Predictor predictor = Predictor.open(saved)) {
      assertThat(scores.inputs())
          .containsEntry("city.ids", OnnxJavaType.STRING)
          .containsEntry("tags.ids", OnnxJavaType.STRING)
          .containsEntry("device.ids", OnnxJavaType.INT64);
      Map<String, float[]> outputs = scores.run(rows);
      float[] logits = new float[rows.size()];
      predictor.logits(rows, logits);
      ExportedRun.requireNear(logits, outputs.get("click.logit"), "texts");
      ExportedRun.requireNear(
          predictor.score(rows), outputs.get("click.prediction"), "probabilities");
    }
  }

  private static Batch textRows(Schema schema, List<String> values, int count) {
    Batch rows = new Batch(schema, count);
    for (int row = 0; row < count; row++) {
      rows.setDense(0, row % 5 == 0 ? Float.NaN : row % 7 - 2);
      rows.setDense(1, row % 3 == 0 ? Float.NaN : row);
      for (int slot = 0; slot < 3; slot++) {
        int ids = slot == 1 ? row % 4 : row % 6 == 5 ? 0 : 1;
        for (int i = 0; i < ids; i++) {
          rows.addId(slot, TextHash.of(values.get((row * 7 + i * 3 + slot) % values.size())));
        }
      }
      rows.setLabel(0, row % 2);
      rows.endRow();
    }
    return rows;
  }

  @Test
  void towersGiveTheVectorsWhoseProductIsTheLogit() {
    ExportedRun run =
        ExportedRun.of(DrawnRun.of(ModelConfig.Type.TWOTOWER, 0), folder.resolve("checkpoint"));
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT);
    try (OrtScores scores = new OrtScores(model)) {
      Schema schema = run.checkpoint().encoder().rawSchema();
      Map<String, float[]> outputs = scores.run(run.held(), schema, (_, id) -> id);
      assertThat(outputs).containsOnlyKeys("click.logit", "user.vector", "item.vector");
      float[] logits = outputs.get("click.logit");
      float[] users = outputs.get("user.vector");
      float[] items = outputs.get("item.vector");
      int width = users.length / logits.length;
      float[] products = new float[logits.length];
      for (int i = 0; i < users.length; i++) {
        products[i / width] += users[i] * items[i];
      }
      ExportedRun.requireNear(logits, products, "towers");
    }
  }

  @Test
  void theModelSaysWhatItsInputsAre() {
    ExportedRun run =
        ExportedRun.of(DrawnRun.of(ModelConfig.Type.DLRM, 0), folder.resolve("checkpoint"));
    Path model = folder.resolve("model.onnx");
    OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT);
    try (OrtScores scores = new OrtScores(model)) {
      Map<String, String> metadata = scores.metadata();
      assertThat(metadata)
          .containsKeys("tern.format", "tern.step", "tern.tables", "tern.inputs", "tern.outputs")
          .containsEntry("tern.ids", "GRAPH");
      assertThat(metadata.get("tern.model")).contains("DLRM");
      scores.inputs().keySet().stream()
          .filter(name -> name.endsWith(".ids"))
          .forEach(name -> assertThat(metadata.get("tern.inputs")).contains('"' + name + '"'));
    }
  }

  @Test
  void aCallerCannotFindRowsOfIdsThatReadAsInitialWeights() {
    DrawnRun drawn = DrawnRun.of(ModelConfig.Type.LR, 0);
    Path saved = folder.resolve("checkpoint");
    TrainOptions options = drawn.options().tables(tables -> tables.unknown(UnknownRow.INITIAL));
    ExportedRun.save(drawn.encoder(), drawn.model(), options, drawn.train(), saved);
    Path model = folder.resolve("model.onnx");
    OnnxOptions byCaller = OnnxOptions.DEFAULT.withIds(OnnxOptions.Ids.CALLER);
    assertThatThrownBy(() -> OnnxExport.write(Checkpoint.open(saved), model, byCaller))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("ids found by the graph");
    assertThat(model).doesNotExist();
  }

  @Test
  void aRecurrentUnitIsRefusedAndLeavesNoFile() {
    ExportedRun run =
        ExportedRun.of(DrawnRun.of(ModelConfig.Type.DIEN, 0), folder.resolve("checkpoint"));
    Path model = folder.resolve("model.onnx");
    assertThatThrownBy(() -> OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got a gated recurrent unit")
        .hasMessageContaining("tern serve");
    assertThat(model).doesNotExist();
  }

  @Test
  void nothingIsWrittenOverAndNothingHalfWrittenStays() throws IOException {
    ExportedRun run =
        ExportedRun.of(DrawnRun.of(ModelConfig.Type.DEEPFM, 2), folder.resolve("checkpoint"));
    Path model = folder.resolve("model.onnx");
    Path data = folder.resolve("model.onnx.data");
    Files.writeString(data, "something else");
    OnnxOptions beside = OnnxOptions.DEFAULT.withInlineBytes(0);
    assertThatThrownBy(() -> OnnxExport.write(run.checkpoint(), model, beside))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("model.onnx.data");
    assertThat(Files.readString(data)).isEqualTo("something else");
    assertThat(names()).containsExactlyInAnyOrder("checkpoint", "model.onnx.data");
    Files.delete(data);
    OnnxExport.write(run.checkpoint(), model, beside);
    assertThatThrownBy(() -> OnnxExport.write(run.checkpoint(), model, beside))
        .isInstanceOf(DataException.class);
    assertThat(names()).containsExactlyInAnyOrder("checkpoint", "model.onnx", "model.onnx.data");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  @Test
  void equalCheckpointsGiveEqualBytes() throws IOException {
    ExportedRun run =
        ExportedRun.of(DrawnRun.of(ModelConfig.Type.MMOE, 1), folder.resolve("checkpoint"));
    Path one = folder.resolve("one.onnx");
    Path other = folder.resolve("other.onnx");
    OnnxExport.write(run.checkpoint(), one, OnnxOptions.DEFAULT);
    OnnxExport.write(run.checkpoint(), other, OnnxOptions.DEFAULT);
    assertThat(Files.mismatch(one, other)).isEqualTo(-1);
  }
}
