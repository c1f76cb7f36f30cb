package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code model.tables.init}. */
final class VectorsCommandTest {
  @TempDir Path folder;

  private Path config;
  private Path vectors;

  @BeforeEach
  void write() throws IOException {
    StringBuilder rows = new StringBuilder("click,age,site\n");
    Random random = new Random(1);
    for (int i = 0; i < 400; i++) {
      int site = random.nextInt(6);
      rows.append(random.nextInt(8) < site ? 1 : 0).append(',');
      rows.append(random.nextInt(80)).append(",s").append(site).append('\n');
    }
    Files.writeString(folder.resolve("rows.csv"), rows);
    vectors =
        Files.writeString(
            folder.resolve("vectors.txt"), "s1\t1 2 3 4\ns2\t5 6 7 8\nother\t0 0 0 0\n");
    config = folder.resolve("run.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/rows.csv
          label: {column: click}
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model:
          type: dcn
          embedding: 4
          hidden: [8]
          tables: [{columns: [site], init: %1$s/vectors.txt}]
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 1, optimizer: {type: adam, lr: 0.01}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  private Result train(String... more) {
    List<String> all = new ArrayList<>(List.of("train", config.toString()));
    all.addAll(Arrays.asList(more));
    return tern(all.toArray(String[]::new));
  }

  /** The rows of the table after a run: ids and weights. */
  private List<String> rows(String run) throws IOException {
    Path out = Files.createTempDirectory(folder, "rows").resolve("rows.txt");
    Result exported =
        tern(
            "table",
            "export",
            folder.resolve(run).toString(),
            "--table",
            "site",
            "--latest",
            "--out",
            out.toString());
    assertThat(exported.code()).as(exported.err()).isZero();
    return Files.readAllLines(out);
  }

  @ParameterizedTest
  @ValueSource(strings = {"adam", "sgd", "adagrad"})
  void rowsOfAFrozenTableAreTheVectorsOfTheFile(String optimizer) throws IOException {
    Result result =
        train(
            "--set", "model.tables.trainable=false", "--set", "train.optimizer.type=" + optimizer);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err())
        .contains("table site begins with 2 vectors of " + vectors)
        .contains("left out as of values that the data do not have: 1")
        .contains("values without one: 4, which read as model.unknown says");
    List<String> rows = rows("run");
    assertThat(rows).hasSize(2);
    assertThat(rows).anyMatch(row -> row.endsWith("\t1.0\t2.0\t3.0\t4.0"));
    assertThat(rows).anyMatch(row -> row.endsWith("\t5.0\t6.0\t7.0\t8.0"));
    Files.delete(vectors);
    Result resumed =
        train(
            "--resume",
            "--set",
            "train.epochs=2",
            "--set",
            "model.tables.trainable=false",
            "--set",
            "train.optimizer.type=" + optimizer);
    assertThat(resumed.code()).as(resumed.err()).isZero();
    assertThat(resumed.err()).doesNotContain("vectors");
    assertThat(rows("run")).isEqualTo(rows);
  }

  @Test
  void othersTrainOnFromTheirVectors() throws IOException {
    Result result = train("--set", "train.optimizer.lr=0.0001");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("values without one: 4, which begin as usual");
    List<String> rows = rows("run");
    assertThat(rows).hasSize(6);
    assertThat(rows).anyMatch(row -> isNear(row, 1, 2, 3, 4)).anyMatch(r -> isNear(r, 5, 6, 7, 8));
    assertThat(rows).noneMatch(row -> row.endsWith("\t1.0\t2.0\t3.0\t4.0"));
    Result next =
        train(
            "--from",
            folder.resolve("run").toString(),
            "--set",
            "run.dir=" + folder.resolve("next"));
    assertThat(next.code()).as(next.err()).isZero();
    assertThat(next.err())
        .contains("table site has its rows from the earlier run, so " + vectors + " is not read");
  }

  @Test
  void aFileThatDoesNotFitEndsTheRunBeforeItBegins() throws IOException {
    Files.writeString(vectors, "s1\t1 2 3\n");
    Result result = train();
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("line 1, byte 0: got 3 numbers for \"s1\", expected 4");
    assertThat(folder.resolve("run")).doesNotExist();
    Files.delete(vectors);
    Result none = train();
    assertThat(none.code()).isNotZero();
    assertThat(none.err()).contains(vectors.toString());
  }

  private static boolean isNear(String row, float... vector) {
    String[] fields = row.split("\t");
    boolean near = fields.length == vector.length + 1;
    for (int j = 0; j < vector.length && near; j++) {
      near = Math.abs(Float.parseFloat(fields[j + 1]) - vector[j]) < 0.01;
    }
    return near;
  }
}
