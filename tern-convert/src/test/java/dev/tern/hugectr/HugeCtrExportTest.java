package dev.tern.hugectr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.internal.json.Json;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelConfig.Type;
import dev.tern.model.Task;
import dev.tern.model.Variant;
import dev.tern.model.graph.Graph;
import dev.tern.nn.Activation;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tern's own models, exported, score in a plain evaluation as they do in Tern. */
final class HugeCtrExportTest {
  private static final int ROWS = 60;
  private static final int IDS = 12;
  private static final List<String> NUMBERS = List.of("n1", "n2", "n3");

  @TempDir private Path folder;

  private static Schema schema(List<String> numbers) {
    return new Schema(
        List.of("click"),
        numbers,
        List.of(Slot.oneHot("a"), Slot.oneHot("b"), Slot.oneHot("c"), Slot.oneHot("d")));
  }

  private static Batch rows(Schema schema, long seed) {
    Random random = new Random(seed);
    Batch batch = new Batch(schema, ROWS);
    for (int row = 0; row < ROWS; row++) {
      batch.setLabel(0, random.nextInt(2));
      for (int f = 0; f < schema.denseDim(); f++) {
        batch.setDense(f, (float) random.nextGaussian());
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        batch.addId(s, random.nextInt(IDS));
      }
      batch.endRow();
    }
    return batch;
  }

  private static FeatureEncoder encoder(Batch rows, NumberEncoding number, IdEncoding id) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        Collections.nCopies(rows.schema().denseDim(), number),
        Collections.nCopies(rows.schema().slotCount(), id),
        TextDictionary.none(),
        _ -> {});
  }

  private Path trained(ModelConfig model, Schema schema) {
    Batch rows = rows(schema, 3);
    return trained(model, rows, encoder(rows, NumberEncoding.none(), IdEncoding.verbatim()));
  }

  private Path trained(ModelConfig model, Batch rows, FeatureEncoder encoder) {
    Path saved = folder.resolve("trained");
    TrainOptions options = TrainOptions.of(Optimizer.adam(0.02f)).batch(20).epochs(3);
    try (Device device = Device.cpu(1, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(saved);
    }
    return saved;
  }

  static Stream<ModelConfig> models() {
    return Stream.of(
        ModelConfig.of(Type.LR, 4),
        ModelConfig.of(Type.FM, 4),
        ModelConfig.of(Type.WDL, 4, 8, 5),
        ModelConfig.of(Type.WDL, 4, 8, 5).withEmbedding("c", 2).withDropout(0.3f),
        ModelConfig.of(Type.DEEPFM, 4, 8, 5),
        ModelConfig.of(Type.DCN, 4, 8).withCrossLayers(2),
        ModelConfig.of(Type.DCN, 4, 8).withEmbedding("b", 3).withActivation(Activation.RELU, true),
        ModelConfig.of(Type.DCNV2, 4, 8).withCrossLayers(2).withCross(3, 0),
        ModelConfig.of(Type.DLRM, 4, 9, 5).withBottom(6),
        ModelConfig.of(Type.DLRM, 4).withBottom(6));
  }

  @ParameterizedTest
  @MethodSource("models")
  void anExportedModelScoresAsBefore(ModelConfig model) throws IOException {
    requireSameScores(model, schema(NUMBERS));
  }

  @Test
  void aBiasWithoutNumbersIsKept() throws IOException {
    requireSameScores(ModelConfig.of(Type.WDL, 4, 6), schema(List.of()));
  }

  private void requireSameScores(ModelConfig model, Schema schema) throws IOException {
    Path saved = trained(model, schema);
    HugeCtrExport.Report report = HugeCtrImportTest.exported(saved, folder.resolve("files"));
    Batch held = rows(schema, 8);
    float[] expected = new float[ROWS];
    try (Predictor predictor = Predictor.open(saved)) {
      predictor.logits(held, expected);
    }
    // In HugeCTR: a plain evaluation of the files, with keys shifted as its reader shifts them.
    double[][] plain = evaluated(held, report);
    for (int row = 0; row < ROWS; row++) {
      double most = 2e-5 * Math.max(1, Math.abs(expected[row]));
      assertThat(plain[row][0]).isBetween(expected[row] - most, expected[row] + most);
    }
    // And back in Tern.
    Path again = folder.resolve("again");
    HugeCtrImport.Options options =
        HugeCtrImport.Options.DEFAULT
            .withColumns(new Columns(List.of("click"), schema.dense(), schema.slotNames()))
            .withSlotSizes(report.slotSizes());
    int embeddings = (int) embeddings().count();
    HugeCtrImportTest.imported(
        HugeCtrImportTest.exportedFiles(folder.resolve("files"), embeddings), options, again);
    float[] got = new float[ROWS];
    try (Predictor predictor = Predictor.open(again)) {
      predictor.logits(held, got);
    }
    for (int row = 0; row < ROWS; row++) {
      double most = 2e-5 * Math.max(1, Math.abs(expected[row]));
      assertThat((double) got[row]).isBetween(expected[row] - most, expected[row] + most);
    }
  }

  private Json.Obj graph() throws IOException {
    return Json.parseObject(
        Files.readString(folder.resolve("files").resolve(HugeCtrExport.GRAPH)), "graph");
  }

  private Stream<Json.Obj> embeddings() throws IOException {
    return graph().array("layers").stream()
        .map(layer -> layer.asObject("layer"))
        .filter(layer -> layer.text("type").contains("SparseEmbedding"));
  }

  private ByteBuffer file(String first, String... more) throws IOException {
    Path path = folder.resolve("files").resolve(Path.of(first, more));
    return ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static PlainGraph.Rows shifted(Batch held, HugeCtrExport.Report report) {
    Schema schema = held.schema();
    double[][] dense = new double[ROWS][schema.denseDim()];
    long[][][] keys = new long[ROWS][schema.slotCount()][1];
    for (int row = 0; row < ROWS; row++) {
      long shift = 0;
      for (int f = 0; f < schema.denseDim(); f++) {
        dense[row][f] = held.dense()[row * schema.denseDim() + f];
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        keys[row][s][0] = held.ids(s)[row] + shift;
        shift += report.slotSizes().get(s);
      }
    }
    return new PlainGraph.Rows(dense, keys);
  }

  private double[][] evaluated(Batch held, HugeCtrExport.Report report) throws IOException {
    List<Map<Long, float[]>> tables = new ArrayList<>();
    for (Json.Obj layer : embeddings().toList()) {
      int width = (int) layer.object("sparse_embedding_hparam").integer("embedding_vec_size");
      String name = HugeCtrExport.sparse(tables.size());
      ByteBuffer keys = file(name, "key");
      ByteBuffer vectors = file(name, "emb_vector");
      Map<Long, float[]> table = new HashMap<>();
      while (keys.hasRemaining()) {
        float[] row = new float[width];
        for (int i = 0; i < width; i++) {
          row[i] = vectors.getFloat();
        }
        assertThat(table.put(keys.getLong(), row)).isNull();
      }
      assertThat(vectors.hasRemaining()).isFalse();
      tables.add(table);
    }
    PlainGraph.Rows rows = shifted(held, report);
    ByteBuffer weights = file(HugeCtrExport.DENSE);
    Optional<Json.Obj> statistics =
        Files.exists(folder.resolve("files").resolve(HugeCtrExport.DENSE + ".ntp.json"))
            ? Optional.of(
                Json.parseObject(
                    Files.readString(
                        folder.resolve("files").resolve(HugeCtrExport.DENSE + ".ntp.json")),
                    "ntp"))
            : Optional.empty();
    PlainGraph plain =
        new PlainGraph(
            graph(),
            rows,
            tables,
            weights::getFloat,
            (layer, variance, _) ->
                statistics
                    .orElseThrow()
                    .array("layers")
                    .get(layer)
                    .asObject("layer")
                    .array(variance ? "var" : "mean")
                    .stream()
                    .mapToDouble(value -> value.asNumber("v"))
                    .toArray(),
            PlainGraph.rank(graph()).orElse(0));
    double[][] logits = plain.logits();
    assertThat(weights.hasRemaining()).isFalse();
    return logits;
  }

  private void requireRefused(Path saved, String... parts) {
    assertThatThrownBy(() -> HugeCtrImportTest.exported(saved, folder.resolve("files")))
        .isInstanceOf(DataException.class)
        .message()
        .contains(parts);
    assertThat(folder.resolve("files")).doesNotExist();
  }

  @Test
  void modelsThatHugeCtrHasNoLayersForAreRefused() {
    requireRefused(trained(ModelConfig.of(Type.AUTOINT, 4), schema(NUMBERS)), "AUTOINT");
  }

  @Test
  void crossMatricesOfLowRankSayTheirRank() throws IOException {
    ModelConfig model = ModelConfig.of(Type.DCNV2, 4, 8).withCrossLayers(2).withCross(3, 0);
    HugeCtrImportTest.exported(trained(model, schema(NUMBERS)), folder.resolve("files"));
    assertThat(PlainGraph.rank(graph())).hasValue(3);
  }

  @Test
  void aFactorOfASoftmaxWithoutAMaskIsRefused() {
    String layers =
        """
        {"inputs": [{"name": "x", "kind": "numbers"}, {"name": "v", "kind": "vectors"}],
         "layers": [
          {"name": "flat", "op": "reshape", "in": ["v"], "steps": 0, "width": 16},
          {"name": "shares", "op": "softmax", "in": ["flat"], "factor": 2},
          {"name": "both", "op": "concat", "in": ["x", "shares"], "axis": 1},
          {"name": "out", "op": "linear", "in": ["both"], "outputs": 1}],
         "logits": ["out"]}
        """;
    ModelConfig model =
        ModelConfig.of(Type.GRAPH, 4)
            .withVariant(Variant.of(Type.GRAPH).withGraph(Graph.parse(layers, "test")));
    requireRefused(
        trained(model, schema(NUMBERS)),
        "the layer shares (softmax)",
        "the factor 2.0 and no mask");
  }

  @Test
  void fullCrossMatricesAreRefused() {
    requireRefused(
        trained(ModelConfig.of(Type.DCNV2, 4, 8), schema(NUMBERS)),
        "DCNV2",
        "full cross matrices",
        "model.cross_rank");
  }

  @Test
  void activationsWithSlopesAreRefused() {
    ModelConfig model = ModelConfig.of(Type.DCN, 4, 8).withActivation(Activation.PRELU, false);
    requireRefused(trained(model, schema(NUMBERS)), "the activation PRELU");
  }

  @Test
  void numbersThatTernScalesAreRefused() {
    Batch rows = rows(schema(NUMBERS), 3);
    FeatureEncoder encoder = encoder(rows, NumberEncoding.standardize(), IdEncoding.verbatim());
    requireRefused(
        trained(ModelConfig.of(Type.DCN, 4, 8), rows, encoder),
        "the number n1 encoded as Scaled",
        "tern data convert --encode");
  }

  @Test
  void idsOfAVocabularyAreRefused() {
    Batch rows = rows(schema(NUMBERS), 3);
    IdEncoding vocabulary = new IdEncoding.Vocabulary(false, 1, 100);
    FeatureEncoder encoder = encoder(rows, NumberEncoding.none(), vocabulary);
    requireRefused(
        trained(ModelConfig.of(Type.DCN, 4, 8), rows, encoder),
        "the column a encoded as Vocabulary");
  }

  @Test
  void tasksThatGraphsCannotSayAreRefused() {
    ModelConfig model =
        ModelConfig.of(Type.DCN, 4, 8).withTasks(Task.of("click").withPositiveWeight(2));
    requireRefused(trained(model, schema(NUMBERS)), "Task[label=click", "HugeCTR's losses");
  }

  @Test
  void aFolderThatIsThereIsNotWrittenOver() throws IOException {
    Path saved = trained(ModelConfig.of(Type.LR, 4), schema(NUMBERS));
    Files.createDirectories(folder.resolve("files"));
    assertThatThrownBy(() -> HugeCtrImportTest.exported(saved, folder.resolve("files")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("files");
  }
}
