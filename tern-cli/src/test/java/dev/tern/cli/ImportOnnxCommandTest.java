package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tern import onnx} of a model of another tool, and what follows it. */
final class ImportOnnxCommandTest {
  private static final byte[] NONE = {};
  private static final int FLOAT = 1;
  private static final int INT64 = 7;

  @TempDir private Path temp;

  private static byte[] all(byte[]... parts) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }

  /** An integer of a protocol buffer's field; below 16384. */
  private static byte[] number(int field, int value) {
    byte[] digits =
        value < 128
            ? new byte[] {(byte) value}
            : new byte[] {(byte) (value & 0x7F | 0x80), (byte) (value >> 7)};
    return all(new byte[] {(byte) (field << 3)}, digits);
  }

  private static byte[] bytes(int field, byte[]... content) {
    byte[] joined = all(content);
    byte[] length = number(0, joined.length);
    length[0] = (byte) (field << 3 | 2);
    return all(length, joined);
  }

  private static byte[] text(int field, String text) {
    return bytes(field, text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] tensor(String name, int rows, int columns, float... values) {
    ByteBuffer raw = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    raw.asFloatBuffer().put(values);
    byte[] dims = columns == 0 ? number(1, rows) : all(number(1, rows), number(1, columns));
    return bytes(5, dims, number(2, FLOAT), text(8, name), bytes(9, raw.array()));
  }

  private static byte[] node(String op, List<String> inputs, String output, byte[] attribute) {
    byte[] node = all(inputs.stream().map(input -> text(1, input)).toArray(byte[][]::new));
    return bytes(1, node, text(2, output), text(3, "/" + output), text(4, op), attribute);
  }

  /** An input or output of a row's one number. */
  private static byte[] value(int field, String name, int type) {
    byte[] shape = bytes(2, bytes(1, text(2, "rows")));
    return bytes(field, text(1, name), bytes(2, bytes(1, number(1, type), shape)));
  }

  /**
   * Row k of the embedding is (k, 1), and the logit half of the first less the second, plus 1/4.
   */
  private Path model(String activation) throws IOException {
    byte[] turned = bytes(5, text(1, "transB"), number(3, 1));
    byte[] graph =
        bytes(
            7,
            node("Gather", List.of("e.weight", "id"), "vector", NONE),
            node("Gemm", List.of("vector", "fc.weight", "fc.bias"), "logit", turned),
            node(activation, List.of("logit"), "y", NONE),
            tensor("e.weight", 3, 2, 0, 1, 1, 1, 2, 1),
            tensor("fc.weight", 1, 2, 0.5f, -1),
            tensor("fc.bias", 1, 0, 0.25f),
            value(11, "id", INT64),
            value(12, "y", FLOAT));
    Path file = temp.resolve("model.onnx");
    return Files.write(file, all(number(1, 8), graph, bytes(8, number(2, 18))));
  }

  @Test
  void aModelOfAnotherToolScoresAndIsTrainedOn() throws IOException {
    Path rows = temp.resolve("rows.csv");
    Files.writeString(rows, "click,item\n1,0\n0,1\n1,2\n0,7\n");
    Path run = temp.resolve("run");
    Result made =
        tern(
            "import",
            "onnx",
            model("Sigmoid").toString(),
            "--out",
            run.toString(),
            "--set",
            "data.label.column=click",
            "--set",
            "data.sparse.columns=item");
    assertThat(made.code()).as(made.err()).isZero();
    assertThat(made.out())
        .contains(" layers, 3 dense weights and 3 rows of embeddings", "train on: tern");
    assertThat(made.out()).doesNotContain("note:");

    Path scores = temp.resolve("scores.csv");
    Result predicted = tern("predict", run + "", rows + "", "--out", scores + "");
    assertThat(predicted.code()).as(predicted.err()).isZero();
    List<String> lines = Files.readAllLines(scores);
    double[] logits = {-0.75, -0.25, 0.25, 0.25}; // An id without a row reads as zeros.
    for (int i = 0; i < logits.length; i++) {
      double probability = 1 / (1 + Math.exp(-logits[i]));
      assertThat(Double.parseDouble(lines.get(i + 1)))
          .isBetween(probability - 1e-6, probability + 1e-6);
    }
    Result trained = tern("train", run.resolve("train.yaml") + "", "--set", "data.train=" + rows);
    assertThat(trained.code()).as(trained.err()).isZero();
  }

  @Test
  void anOperatorThatNoLayerHasIsNamedAndNothingIsLeft() throws IOException {
    Path run = temp.resolve("run");
    Result refused = tern("import", "onnx", model("Tanh").toString(), "--out", run.toString());
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err()).contains("model.onnx: node /y (Tanh): got an operator");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files.map(file -> file.getFileName().toString())).containsExactly("model.onnx");
    }
  }
}
