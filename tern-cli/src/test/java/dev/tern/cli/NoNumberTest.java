package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows whose scores are no numbers, and runs whose weights are none. */
final class NoNumberTest {
  @TempDir private static Path shared;
  private static Path config = Path.of("");
  private static Path run = Path.of("");

  @TempDir Path temp;

  @BeforeAll
  static void train() throws IOException {
    run = shared.resolve("run");
    Path data = Files.writeString(shared.resolve("train.csv"), rows(64, 0));
    String yaml =
        """
        data: {format: csv, train: "%s", label: {column: y}, dense: {columns: [price, a], transform: standardize}, sparse: {columns: [c]}}
        model: {type: dcnv2, embedding: 4, hidden: [8]}
        train: {batch: 64, epochs: 1, threads: 1, memory: 64m}
        run: {dir: "%s"}
        """;
    config = Files.writeString(shared.resolve("c.yaml"), yaml.formatted(data, run));
    Result result = tern("train", config.toString());
    assertThat(result.code()).as(result.err()).isZero();
  }

  /** Rows of which one, if any, has a price beyond what the model computes. */
  private static String rows(int count, int huge) {
    StringBuilder text = new StringBuilder("y,price,a,c\n");
    for (int i = 1; i <= count; i++) {
      String price = i == huge ? "1e30" : String.valueOf(i % 11);
      text.append("%d,%s,%d,c%d\n".formatted(i * 7 % 3 % 2, price, i % 13, i % 7));
    }
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource({"1, stored, s.csv", "257, stored, s.csv.gz", "300, stored, s.csv", "2, int8, s.csv"})
  void theRowIsNamedAndNoFileIsLeft(int huge, String tables, String out) throws IOException {
    Path rows = Files.writeString(temp.resolve("rows.csv"), rows(300, huge));
    Path scores = temp.resolve(out);
    String[] predict = {
      "predict", run.toString(), rows.toString(), "--out", scores.toString(), "--tables", tables
    };
    Result predicted = tern(predict);
    Result evaluated = tern("evaluate", run.toString(), rows.toString(), "--tables", tables);
    for (Result result : new Result[] {predicted, evaluated}) {
      assertThat(result.code()).isEqualTo(1);
      assertThat(result.err())
          .contains("rows.csv: row " + huge + ": got a score that is no number, expected one")
          .contains("price is 1.0E30, which the model reads as ", "leave it empty");
    }
    assertThat(scores).doesNotExist();
    assertThat(temp).isDirectoryNotContaining(file -> !file.equals(rows));
  }

  @Test
  void aRunThatDivergesInItsLastStepLeavesNoCheckpoint() throws IOException {
    Path dir = temp.resolve("run");
    Result result =
        tern(
            "train",
            config.toString(),
            "--set",
            "run.dir=" + dir,
            "--set",
            "train.optimizer.type=rmsprop",
            "--set",
            "train.optimizer.lr=1e38");
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .contains("train: got ", "expected finite weights", "training diverged")
        .doesNotContain("keeps what was trained");
    assertThat(dir).doesNotExist();
  }
}
