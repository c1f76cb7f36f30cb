package dev.tern.hugectr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.convert.ImportReport;
import dev.tern.data.Schema;
import dev.tern.internal.json.Json;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Imported models score as a plain evaluation of their graphs does, and come back the same. */
final class HugeCtrImportTest {
  @TempDir private Path folder;

  static void requireLogits(Path checkpoint, MadeModel model) {
    requireLogits(checkpoint, model.rows, model.logits);
  }

  static void requireLogits(Path checkpoint, PlainGraph.Rows rows, double[][] expected) {
    try (Predictor predictor = Predictor.open(checkpoint)) {
      Schema schema = predictor.encoder().rawSchema();
      int tasks = expected[0].length;
      float[] logits = new float[expected.length * tasks];
      predictor.logits(MadeModel.batch(schema, rows), logits);
      for (int b = 0; b < expected.length; b++) {
        for (int k = 0; k < tasks; k++) {
          assertThat((double) logits[b * tasks + k])
              .as("row %d, task %d", b, k)
              .isCloseTo(expected[b][k], within(1e-5 * Math.max(1, Math.abs(expected[b][k]))));
        }
      }
    }
  }

  static ImportReport imported(MadeModel model, Path target) {
    return imported(model.sources(), HugeCtrImport.Options.DEFAULT, target);
  }

  static ImportReport imported(
      HugeCtrImport.Sources sources, HugeCtrImport.Options options, Path target) {
    try (Device device = Device.cpu(1, 1L << 28)) {
      return HugeCtrImport.write(sources, options, device, target);
    }
  }

  static HugeCtrExport.Report exported(Path checkpoint, Path target) {
    try (Device device = Device.cpu(1, 1L << 28)) {
      return HugeCtrExport.write(Checkpoint.open(checkpoint), device, target);
    }
  }

  /** The files that an export wrote. */
  static HugeCtrImport.Sources exportedFiles(Path folder, int embeddings) {
    List<Path> sparse = new ArrayList<>();
    for (int e = 0; e < embeddings; e++) {
      sparse.add(folder.resolve(HugeCtrExport.sparse(e)));
    }
    return new HugeCtrImport.Sources(
        folder.resolve(HugeCtrExport.GRAPH),
        folder.resolve(HugeCtrExport.DENSE),
        Optional.empty(),
        sparse);
  }

  static void requireSameModel(Path one, Path other) throws IOException {
    assertThat(other.resolve("dense.safetensors"))
        .hasSameBinaryContentAs(one.resolve("dense.safetensors"));
    for (String name : one.resolve("tables").toFile().list()) {
      assertThat(other.resolve("tables").resolve(name))
          .hasSameBinaryContentAs(one.resolve("tables").resolve(name));
    }
    assertThat(other.resolve("encoders.json")).hasSameBinaryContentAs(one.resolve("encoders.json"));
    assertThat(Checkpoint.open(other).requireModel())
        .isEqualTo(Checkpoint.open(one).requireModel());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wdl",
        "deepfm",
        "dcn",
        "dlrm",
        "mmoe",
        "neumf",
        "din",
        "bst",
        "attention",
        "norms"
      })
  void aSampleScoresAsItsGraphSaysAndComesBackTheSame(String name) throws IOException {
    MadeModel model = MadeModel.of(folder.resolve("made"), name);
    Path first = folder.resolve("first");
    ImportReport report = imported(model, first);
    assertThat(report.parameters()).isEqualTo(model.dense.length);
    assertThat(report.rows()).isEqualTo((long) MadeModel.KEYS * model.tables.size());
    requireLogits(first, model);

    Path files = folder.resolve("files");
    exported(first, files);
    Path second = folder.resolve("second");
    imported(
        exportedFiles(files, model.tables.size()),
        HugeCtrImport.Options.DEFAULT.withColumns(
            new Columns(report.made().schema().labels(), List.of(), List.of())),
        second);
    requireSameModel(first, second);
    if (!name.equals("dlrm")) { // It has a bias that HugeCTR stores and never uses.
      assertThat(files.resolve(HugeCtrExport.DENSE)).hasBinaryContent(MadeModel.bytes(model.dense));
    }
  }

  @Test
  void aGraphFileIsWrittenAsHugeCtrWritesIt() throws IOException {
    MadeModel model = MadeModel.of(folder.resolve("made"), "wdl");
    imported(model, folder.resolve("run"));
    exported(folder.resolve("run"), folder.resolve("files"));
    String text = Files.readString(folder.resolve("files").resolve(HugeCtrExport.GRAPH));
    assertThat(text)
        .startsWith("{\n  \"layers\": [\n    {\n      \"dense\": {\n        \"dense_dim\": 4,\n")
        .contains("\"epsilon\": 1.0000000116860974e-07\n")
        .contains("      \"top\": \"fc1\",\n      \"type\": \"InnerProduct\"\n")
        .endsWith("\n  ]\n}");
    Json.Obj layer = Json.parseObject(text, "g").array("layers").getLast().asObject("l");
    assertThat(layer.text("type")).isEqualTo("BinaryCrossEntropyLoss");
  }

  @Test
  void slotsWithSizesHaveTablesOfTheirOwnWhoseIdsAreTheData() throws IOException {
    MadeModel model = MadeModel.of(folder.resolve("made"), "dcn");
    Path run = folder.resolve("run");
    HugeCtrImport.Options sized =
        HugeCtrImport.Options.DEFAULT.withSlotSizes(List.of(10L, 20L, 5L, 9L));
    imported(model.sources(), sized, run);
    assertThat(Checkpoint.open(run).tables()).containsExactly("slot0", "slot1", "slot2", "slot3");
    // The same rows as HugeCTR's reader shifts them, and as they stand in the data.
    long[][][] shifted = new long[9][4][1];
    long[][][] plain = new long[9][4][1];
    long[] begins = {0, 10, 30, 35};
    long[] sizes = {10, 20, 5, 9};
    for (int b = 0; b < 9; b++) {
      for (int s = 0; s < 4; s++) {
        plain[b][s][0] = (7L * b + s) % sizes[s];
        shifted[b][s][0] = plain[b][s][0] + begins[s];
      }
    }
    double[][] dense = Arrays.copyOf(model.rows.dense(), 9);
    int[] at = {0};
    PlainGraph graph =
        new PlainGraph(
            model.graph,
            new PlainGraph.Rows(dense, shifted),
            model.tables,
            () -> model.dense[at[0]++],
            (_, _, _) -> new double[0],
            0);
    requireLogits(run, new PlainGraph.Rows(dense, plain), graph.logits());

    HugeCtrExport.Report report = exported(run, folder.resolve("files"));
    assertThat(report.slotSizes())
        .containsExactly(10L, 20L, 5L, 5L); // 40 keys: the last are 35 on.
    Path graphFile = folder.resolve("files").resolve(HugeCtrExport.GRAPH);
    assertThat(HugeCtrImport.slotSizes(graphFile)).isEqualTo(report.slotSizes());
    HugeCtrImport.Options again = HugeCtrImport.Options.DEFAULT.withSlotSizes(report.slotSizes());
    imported(exportedFiles(folder.resolve("files"), 1), again, folder.resolve("second"));
    requireSameModel(run, folder.resolve("second"));
  }
}
