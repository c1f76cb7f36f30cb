package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProfileCommandTest {
  private static final String CONFIG =
      """
      data: {format: criteo-synthetic, rows: 2000, eval_rows: 100, seed: 1, scale: 0.001, sparse: {encode: id}}
      model: {type: deepcrossing, embedding: 4, hidden: [64, 64, 64, 64, 64, 64]}
      run: {dir: run}
      train: {batch: 256, optimizer: {type: adam}, seed: 1, memory: 256m}
      """;

  @TempDir private Path folder;

  private MainTest.Result profile(String... more) throws IOException {
    Path file = folder.resolve("config.yaml");
    Files.writeString(file, CONFIG);
    String[] arguments = {"profile", file.toString(), "--out", folder.toString(), "--steps", "3"};
    String[] all = new String[arguments.length + more.length];
    System.arraycopy(arguments, 0, all, 0, arguments.length);
    System.arraycopy(more, 0, all, arguments.length, more.length);
    return tern(all);
  }

  @Test
  void aPictureAndATraceOfOneStepAreWritten() throws IOException {
    MainTest.Result result = profile();
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("computed again: 0 steps");
    assertThat(Files.readString(folder.resolve("memory.html")))
        .contains("\"what\":\"matmul 256x")
        .doesNotContain("/*DATA*/");
    Json.Obj trace = Json.parseObject(Files.readString(folder.resolve("trace.json")), "trace.json");
    assertThat(trace.array("traceEvents")).hasSizeGreaterThan(20);
    Json.Obj memory =
        Json.parseObject(Files.readString(folder.resolve("memory.json")), "memory.json");
    assertThat(memory.array("segments")).isNotEmpty();
    assertThat(memory.array("device_traces")).hasSize(1);
    assertThat(memory.toString()).contains("\"name\":\"activations\"", "\"action\":\"alloc\"");
    assertThat(folder.resolve("run")).doesNotExist();
  }

  @Test
  void eachStepNamesTheLinesOfItsModelAndLayers() throws IOException {
    assertThat(profile().code()).isZero();
    String chain = "\\[\"Linear\\.java:\\d+\",\"DeepCrossing\\.java:\\d+\"[^]]*]";
    assertThat(Files.readString(folder.resolve("memory.html")))
        .containsPattern("\"ops\":\"matmul\",\"lines\":" + chain + ",\"gradient\":false")
        .containsPattern("\"ops\":\"matmul\",\"lines\":" + chain + ",\"gradient\":true");
    assertThat(Files.readString(folder.resolve("trace.json")))
        .containsPattern("\"source 1\":\"DeepCrossing\\.java:\\d+ > ")
        .containsPattern("DenseOptimizer\\.java:\\d+");
  }

  @Test
  void whatLittleMemoryHasComputedAgainIsShown() throws IOException {
    MainTest.Result result = profile("--set", "train.activation_memory=1200k");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).doesNotContain("computed again: 0 steps");
    assertThat(Files.readString(folder.resolve("memory.html"))).contains("\"again\":true");
  }

  @Test
  void tooLittleMemoryNamesTheOpAndTheLargestHolders() throws IOException {
    MainTest.Result result = profile("--set", "train.activation_memory=500k");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .contains("lacks a place for", "the largest that stay", "train.activation_memory");
    assertThat(folder.resolve("memory.html")).doesNotExist();
  }
}
