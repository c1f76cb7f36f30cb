package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OnnxCommandsTest {
  private static final String CONFIG =
      """
      data: {format: criteo-synthetic, rows: 300, eval_rows: 100, seed: 1, scale: 0.001, sparse: {encode: id}}
      model: {type: deepfm, embedding: 4, hidden: [8], unknown: mean}
      train: {batch: 100, optimizer: {type: adam, lazy: true}, seed: 1, memory: 256m}
      """;

  @TempDir private Path folder;
  private String run = "";

  @BeforeEach
  void train() throws IOException {
    Path file = folder.resolve("config.yaml");
    Files.writeString(file, CONFIG);
    run = path("run");
    ok("train", file.toString(), "--set", "run.dir=" + run);
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private static String ok(String... arguments) {
    MainTest.Result result = tern(arguments);
    assertThat(result.code()).as(result.err()).isZero();
    return result.out();
  }

  @Test
  void aModelGoesToOnnxAndBackWithAllItsRows() throws IOException {
    String model = path("model.onnx");
    assertThat(ok("export", "onnx", run, "--out", model, "--inline-bytes", "10000"))
        .contains(" operators and ", " rows in ", " of tables in ", "model.onnx.data");
    assertThat(Files.size(folder.resolve("model.onnx"))).isPositive();
    String again = path("again");
    assertThat(ok("import", "onnx", model, "--out", again)).contains(" parameters and ", " rows");
    for (String line : ok("table", "diff", run, again).lines().toList()) {
      assertThat(line).contains(": 0 added, 0 removed, 0 changed, ");
    }
    assertThat(tern("import", "onnx", model, "--out", again).err()).contains("something is");
  }

  @Test
  void wrongUsageSaysWhatIsExpected() throws IOException {
    assertThat(tern("export", "onnx", run).err()).contains("--out");
    assertThat(tern("export", "onnx", run, "--out", path("x"), "--ids", "nobody").code())
        .isEqualTo(2);
    Path text = folder.resolve("text.onnx");
    Files.writeString(text, "no model");
    MainTest.Result result = tern("import", "onnx", text.toString(), "--out", path("y"));
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("text.onnx: got ", " at byte 0");
    assertThat(List.of("x", "y")).noneMatch(name -> Files.exists(folder.resolve(name)));
  }
}
