package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.internal.onnx.ElementType;
import dev.tern.internal.onnx.SavedModel;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tensors beside a model: where they lie, and how they are written. */
final class ModelFileTest {
  private static final int ROWS = 3000;
  private static final Schema SCHEMA =
      new Schema(List.of("click"), List.of(), List.of(Slot.oneHot("item")));

  @TempDir private Path folder;

  private static Constant constant(String name, long... dims) {
    return new Constant(name, ElementType.FLOAT, dims, _ -> {});
  }

  @Test
  void tensorsBeyondTwoGigabytesLieOneBehindTheOther() {
    List<Constant> constants =
        List.of(
            constant("small", 10),
            constant("table.a", 1_000_000_001, 3),
            constant("table.b", 700_000_000, 4),
            constant("table.c", 1000));
    Map<String, ModelFile.Place> places =
        ModelFile.places(constants, "m.onnx.data", OnnxOptions.DEFAULT.inlineBytes());
    assertThat(places)
        .containsOnlyKeys("table.a", "table.b", "table.c")
        .containsEntry("table.a", new ModelFile.Place("m.onnx.data", 0, 12_000_000_012L))
        .containsEntry(
            "table.b", new ModelFile.Place("m.onnx.data", 12_000_002_048L, 11_200_000_000L));
    assertThat(places.get("table.c").offset()).isEqualTo(23_200_002_048L);
    assertThat(places.values()).allMatch(place -> place.offset() % 4096 == 0);
    assertThat(ModelFile.places(constants.subList(0, 1), "m.onnx.data", 40)).isEmpty();
  }

  @Test
  void aModelFileThatIsTooLargeIsRefusedAndNothingIsLeft() throws IOException {
    Graph graph = new Graph();
    graph.floats("table", new long[] {1000}, new float[1000]);
    for (int i = 0; i < 8; i++) {
      graph.floats("layer", new long[] {100}, new float[100]); // Too small to lie elsewhere.
    }
    Path file = folder.resolve("model.onnx");
    new ModelFile(graph, "g", Map.of(), 4096, 4096).write(file, () -> {});
    assertThat(file).isRegularFile();
    assertThatThrownBy(() ->
            new ModelFile(graph, "g", Map.of(), 4096, 3000)
                .write(folder.resolve("other.onnx"), () -> {}))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("expected at most 3000; let fewer bytes of tables lie in it");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("model.onnx", "model.onnx.data");
    }
  }

  /** Every {@code step}-th of some rows, each with an item of its own. */
  private static Batch rows(int step) {
    Batch rows = new Batch(SCHEMA, ROWS);
    for (int row = 0; row < ROWS; row += step) {
      rows.addId(0, 3L * row);
      rows.endRow();
    }
    return rows;
  }

  /** A checkpoint of a model with a table of some rows, whose ids have gaps. */
  private Path saved(IdEncoding encoding, int step) {
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows(1)),
            List.of(),
            List.of(encoding),
            TextDictionary.none(),
            _ -> {});
    Path checkpoint = folder.resolve("checkpoint");
    ModelConfig model = ModelConfig.of(ModelConfig.Type.FM, 8);
    TrainOptions options = TrainOptions.of(Optimizer.sgd(0.1f));
    ExportedRun.save(encoder, model, options, rows(step), checkpoint);
    return checkpoint;
  }

  @Test
  void aTableIsWrittenBlockByBlock() throws IOException {
    Checkpoint checkpoint = Checkpoint.open(saved(IdEncoding.verbatim(), 1));
    List<Integer> written = new ArrayList<>();
    OutputStream sink =
        new OutputStream() {
          @Override
          public void write(int value) {
            written.add(1);
          }

          @Override
          public void write(byte[] bytes, int from, int length) {
            written.add(length);
          }
        };
    try (Device device = Device.cpu(1, 1L << 28);
        Network network = checkpoint.loadLayers(device, checkpoint.requireModel())) {
      ExportedTable table = FeatureGraph.tables(checkpoint, network).get("item");
      table.content().writeTo(sink);
      int row = 4 * table.width();
      assertThat(written.stream().mapToInt(Integer::intValue).sum()).isEqualTo((ROWS + 2) * row);
      assertThat(written).allMatch(bytes -> bytes <= 512 * row);
      written.clear();
      table.idContent().writeTo(sink);
      assertThat(written.stream().mapToInt(Integer::intValue).sum()).isEqualTo(8 * ROWS);
      assertThat(written).allMatch(bytes -> bytes <= 8 * 512);
    }
  }

  @Test
  void idsThatNoNodeReadsLieBesideALargeModelAndComeBack() throws IOException {
    Path saved = saved(new IdEncoding.Vocabulary(false, 1, 10_000), 2);
    Path file = folder.resolve("model.onnx");
    OnnxOptions options = OnnxOptions.DEFAULT.withInlineBytes(4096);
    OnnxExport.write(Checkpoint.open(saved), file, options);
    SavedModel written = SavedModel.read(file);
    assertThat(written.properties()).doesNotContainKey("tern.ids.item");
    assertThat(written.require("ids.item", ElementType.INT64, ROWS / 2).file())
        .hasFileName("model.onnx.data");
    new ExportedRun(saved, Checkpoint.open(saved), rows(1)).requireSameLogits(file, rows(1));
    Path imported = folder.resolve("imported");
    OnnxImport.write(file, imported);
    assertThat(imported.resolve("tables/0.safetensors"))
        .hasSameBinaryContentAs(saved.resolve("tables/0.safetensors"));
  }
}
