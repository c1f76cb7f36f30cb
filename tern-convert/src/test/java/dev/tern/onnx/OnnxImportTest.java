package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.model.ModelConfig;
import dev.tern.predict.Predictor;
import dev.tern.train.DrawnRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checkpoints made of exported models, and what becomes of damaged ones. */
final class OnnxImportTest {
  @TempDir private Path folder;
  private Path model = Path.of("");

  @BeforeEach
  void nameFiles() {
    model = folder.resolve("model.onnx");
  }

  private ExportedRun exported(ModelConfig.Type type, long seed, OnnxOptions options) {
    ExportedRun run = ExportedRun.of(DrawnRun.of(type, seed), folder.resolve("checkpoint"));
    OnnxExport.write(run.checkpoint(), model, options);
    return run;
  }

  @ParameterizedTest
  @CsvSource({"DEEPFM,1", "DCNV2,0", "DIN,2", "MMOE,3", "TWOTOWER,1"})
  void aCheckpointOfAnExportHasTheSameScoresToTheBit(ModelConfig.Type type, long seed)
      throws IOException {
    long inline = seed % 2 == 0 ? OnnxOptions.DEFAULT.inlineBytes() : 0;
    ExportedRun run = exported(type, seed, OnnxOptions.DEFAULT.withInlineBytes(inline));
    Path imported = folder.resolve("imported");
    OnnxImport.Summary read = OnnxImport.write(model, imported);
    assertThat(read.parameters()).isPositive();
    assertThat(scores(imported, run.held())).isEqualTo(scores(run.saved(), run.held()));
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).noneMatch(file -> file.toString().endsWith(".importing"));
    }
  }

  private static float[] scores(Path checkpoint, Batch rows) {
    try (Predictor predictor = Predictor.open(checkpoint)) {
      float[] logits = new float[rows.size() * predictor.tasks().size()];
      predictor.logits(rows, logits);
      return logits;
    }
  }

  @Test
  void aModelWhoseCallerFindsRowsIsRefused() {
    ExportedRun run =
        ExportedRun.of(
            DrawnRun.of(ModelConfig.Type.FM, 0), folder.resolve("checkpoint"), UnknownRow.ZEROS);
    OnnxExport.write(run.checkpoint(), model, OnnxOptions.DEFAULT.withIds(OnnxOptions.Ids.CALLER));
    assertRefused("caller finds the rows");
  }

  @Test
  void filesThatAreNoExportAreRefusedByNameAndByte() throws IOException {
    Files.write(model, new byte[0]);
    assertRefused("got the end of a model without a graph at byte 0");
    Files.writeString(model, "no model at all");
    assertRefused("at byte 0");
    Files.write(model, new Message().message(7, new Message()).toByteArray());
    assertRefused("without the property tern.recipe");
    Files.write(model, new Message().length(7, Long.MAX_VALUE).toByteArray());
    assertRefused("got a graph of 9223372036854775807 bytes at byte 1, expected 0 at most");
    Files.write(model, new byte[] {0x08, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1});
    assertRefused("an integer of more than 10 bytes at byte 1");
  }

  @Test
  void externalDataMustLieInAFileBesideTheModel() throws IOException {
    for (String location : new String[] {"../secret", "/etc/hostname", "a\\b", "", "..", "gone"}) {
      Message tensor =
          new Message()
              .number(1, 1)
              .number(2, 1)
              .text(8, "w")
              .message(13, new Message().text(1, "location").text(2, location))
              .message(13, new Message().text(1, "length").text(2, "4"));
      Files.write(model, new Message().message(7, new Message().message(5, tensor)).toByteArray());
      assertRefused("expected the name of a file beside it");
    }
  }

  private void assertRefused(String message) {
    assertThatThrownBy(() -> OnnxImport.write(model, folder.resolve("imported")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("model.onnx")
        .hasMessageContaining(message);
    assertThat(folder.resolve("imported")).doesNotExist();
  }

  @Test
  void aTruncatedModelIsRefusedWhereverItEnds() throws IOException {
    exported(ModelConfig.Type.FM, 0, OnnxOptions.DEFAULT);
    byte[] whole = Files.readAllBytes(model);
    for (int length = 1; length < whole.length; length += 1 + whole.length / 30) {
      Files.write(model, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> OnnxImport.write(model, folder.resolve("imported")))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("model.onnx");
    }
    assertThat(folder.resolve("imported")).doesNotExist();
  }

  @Test
  void aTruncatedFileOfTablesIsRefused() throws IOException {
    exported(ModelConfig.Type.DEEPFM, 2, OnnxOptions.DEFAULT.withInlineBytes(0));
    Path data = folder.resolve("model.onnx.data");
    byte[] whole = Files.readAllBytes(data);
    Files.write(data, Arrays.copyOf(whole, whole.length - 1));
    assertRefused("model.onnx.data");
  }

  @Test
  void twoImportsMayHaveOneTarget() throws Exception {
    exported(ModelConfig.Type.LR, 0, OnnxOptions.DEFAULT);
    Path imported = folder.resolve("imported");
    List<Callable<Boolean>> both = Collections.nCopies(2, () -> isWritten(imported));
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      List<Boolean> written = new ArrayList<>();
      for (Future<Boolean> each : threads.invokeAll(both)) {
        written.add(each.get());
      }
      assertThat(written).containsExactlyInAnyOrder(true, false);
    }
    Checkpoint.open(imported);
    assertNothingIsLeft();
  }

  private boolean isWritten(Path target) {
    try {
      OnnxImport.write(model, target);
      return true;
    } catch (DataException e) {
      assertThat(e).hasMessageContaining("where something is");
      return false;
    }
  }

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("checkpoint", "imported", "model.onnx");
    }
  }
}
