package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.MainTest.Result;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.MetricsLog;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.NumberEncoding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What runs and scores say about columns. */
final class ColumnNotesTest {
  @TempDir Path folder;

  private Path file(String name, String header, int rows, IntFunction<String> row)
      throws IOException {
    List<String> lines = new ArrayList<>(List.of(header));
    IntStream.range(0, rows).mapToObj(row).forEach(lines::add);
    return Files.write(folder.resolve(name), lines);
  }

  /** Trains a small model; {@code data} is the rest of the section. */
  private Result train(String data, String... more) throws IOException {
    String yaml =
        """
        data: {format: csv, train: "%s", label: {column: y}, %s}
        model: {type: fm, embedding: 2}
        train: {batch: 50, epochs: 1, threads: 1, memory: 64m}
        run: {dir: "%s"}
        """;
    Path config =
        Files.writeString(
            folder.resolve("c.yaml"),
            yaml.formatted(folder.resolve("train.csv"), data, folder.resolve("run")));
    List<String> command = new ArrayList<>(List.of("train", config.toString()));
    command.addAll(Arrays.asList(more));
    Result result = tern(command.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    return result;
  }

  private Path scores(String name) {
    return folder.resolve(name);
  }

  @Test
  void aStoreWrittenInAnotherWayIsNamedByAllWhoScoreIt() throws IOException {
    file("train.csv", "y,store,n", 200, i -> i % 2 + "," + (i % 8 < 2 ? 16 : i % 8) + "," + i);
    Path other = file("other.csv", "y,store,n", 50, i -> i % 2 + "," + i % 8 + ".0,");
    String warning =
        "warning: store: 100% of 50 values are unknown to the model; check that they are written as"
            + " in training, such as \"16\" in training";
    Result trained =
        train("eval: \"" + other + "\", dense: {columns: [n]}, sparse: {columns: [store]}");
    String run = folder.resolve("run").toString();
    Result evaluated = tern("evaluate", run, other.toString());
    Result predicted = tern("predict", run, other.toString(), "--out", scores("s.csv").toString());
    for (Result result : List.of(trained, evaluated, predicted)) {
      assertThat(result.err())
          .contains("missing values: n 50 of 50", "unknown values: store 50 of 50", warning)
          .contains("warning: n: 100% of 50 rows have no value, in training 0.00% had none");
    }
    List<MetricsLine> lines = MetricsLog.read(folder.resolve("run/metrics.jsonl"));
    assertThat(lines.getLast().columns())
        .containsExactly(
            new ColumnCounts.Column("n", 50, 50, 0, 0),
            new ColumnCounts.Column("store", 50, 0, 50, 50));
    assertThat(folder.resolve("run/report.html"))
        .content()
        .contains("Missing and unknown values in evaluation", "<td>store</td><td>50</td>");
  }

  @Test
  void aFewUnseenValuesAreCountedWithoutAWarning() throws IOException {
    file("train.csv", "y,store", 200, i -> i % 2 + "," + i % 8);
    Path other = file("other.csv", "y,store", 50, i -> i % 2 + "," + (i < 5 ? "new" : i % 8));
    train("sparse: {columns: [store]}");
    Result result = tern("evaluate", folder.resolve("run").toString(), other.toString());
    assertThat(result.err())
        .contains("unknown values: store 5 of 50")
        .doesNotContain("warning:", "missing values");
    Result same =
        tern("evaluate", folder.resolve("run").toString(), folder.resolve("train.csv").toString());
    assertThat(same.err()).doesNotContain("unknown values", "warning:");
  }

  @Test
  void columnsThatTeachNothingAreNamed() throws IOException {
    file(
        "train.csv",
        "y,price,age,rare,city,shop,some,n",
        100,
        i -> "%d,,7,v%d,,s1,%s,%d".formatted(i % 2, i, i % 3 == 0 ? "x" : "", i));
    Result result =
        train(
            "dense: {columns: [price, age, n]}, sparse: [{columns: [city, shop, some]}, {columns:"
                + " [rare], min_count: 2}]");
    assertThat(result.err())
        .contains(
            "warning: price has no value in any of the 100 training rows",
            "warning: age is 7 in all 100 training rows, so it teaches nothing",
            "warning: city has no value in any of the 100 training rows",
            "warning: shop is s1 in all 100 training rows, so it teaches nothing",
            "warning: rare has no value that occurs data.sparse.min_count times in training")
        .doesNotContain("warning: some", "warning: n ");
  }

  @Test
  void atMostTenColumnsThatTeachNothingAreListed() throws IOException {
    String names = String.join(",", IntStream.range(0, 25).mapToObj(i -> "c" + i).toList());
    file("train.csv", "y,n," + names, 60, i -> i % 2 + "," + i + ",1".repeat(25));
    Result result = train("dense: {columns: [n]}, sparse: {columns: [" + names + "]}");
    assertThat(result.err().lines().filter(line -> line.startsWith("warning: "))).hasSize(11);
    assertThat(result.err()).contains("warning: 15 more columns are like that");
  }

  @Test
  void theRunKeepsWhichLogarithmsWereTaken() throws IOException {
    IntFunction<String> row =
        i -> i % 2 + "," + i % 9 + "," + (i % 20 == 0 ? 5000 + i : 0) + "," + (i % 5 - 2);
    file("train.csv", "y,age,gain,change", 200, row);
    Result result = train("dense: {columns: [age, gain, change]}");
    assertThat(result.err())
        .contains("numbers standardized (data.dense.transform: auto): age, change")
        .contains(
            "numbers standardized after log(1 + x), as they are skewed (data.dense.log1p): gain");
    Path config = folder.resolve("run/config.yaml");
    assertThat(config).content().contains("transform: auto", "log1p: [gain]");

    // With other rows, a run of that configuration takes the same logarithms.
    file("train.csv", "y,age,gain,change", 200, i -> i % 2 + ",0," + i % 7 + "," + i);
    Path again = folder.resolve("again");
    Result second = tern("train", config.toString(), "--set", "run.dir=" + again);
    assertThat(second.code()).as(second.err()).isZero();
    assertThat(Checkpoint.openLatest(again).encoder().dense())
        .containsExactly(
            NumberEncoding.standardize(),
            NumberEncoding.log1pStandardize(),
            NumberEncoding.standardize());
    Result resumed = train("dense: {columns: [age, gain, change]}", "--overwrite");
    assertThat(resumed.err()).contains("numbers standardized (data.dense.transform: auto): age");
    Result more =
        train("dense: {columns: [age, gain, change]}", "--resume", "--set", "train.epochs=2");
    assertThat(more.err()).doesNotContain("numbers standardized");
  }

  @Test
  void statedTransformsAreNotSpokenOf() throws IOException {
    file("train.csv", "y,age", 100, i -> i % 2 + "," + i % 9);
    for (String transform : List.of("none", "log1p", "standardize", "log1p+standardize")) {
      Result result = train("dense: {columns: [age], transform: " + transform + "}", "--overwrite");
      assertThat(result.err()).as(transform).doesNotContain("numbers standardized");
      assertThat(folder.resolve("run/config.yaml")).content().doesNotContain("log1p: ");
    }
  }

  @Test
  void theExampleReadsTheCensusAsItIsPublished() throws IOException {
    String row =
        "%d, Private, 77516, Bachelors, 13, Single, Sales, Wife, White, Male, %d, 0, 40, ?, %s";
    Path train =
        file(
            "adult.data",
            row.formatted(20, 0, "<=50K"),
            99,
            i -> row.formatted(i % 60, i % 30 == 0 ? 9000 : 0, i % 4 == 0 ? ">50K" : "<=50K"));
    Path test =
        file(
            "adult.test",
            "|1x3 Cross validator",
            20,
            i -> row.formatted(i, 0, i % 4 == 0 ? ">50K." : "<=50K."));
    Path root = Path.of("").toAbsolutePath();
    while (!Files.exists(root.resolve("examples/census.yaml"))) {
      root = root.getParent();
    }
    Result result =
        tern(
            "train",
            root.resolve("examples/census.yaml").toString(),
            "--set",
            "data.train=" + train,
            "--set",
            "data.eval=" + test,
            "--set",
            "run.dir=" + folder.resolve("run"),
            "--set",
            "train.epochs=1");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).contains("(data.dense.log1p): capital-gain");
  }
}
