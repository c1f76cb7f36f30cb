package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.cli.MainTest.Result;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.predict.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers with embeddings, from a configuration to scores. */
final class NumberVectorsCommandTest {
  /** The default, beside which boundaries may stand. */
  private static final String EDGES = "data.dense[0].bins=16";

  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void write() throws IOException {
    StringBuilder rows = new StringBuilder("click,price,age,site\n");
    Random random = new Random(1);
    for (int i = 0; i < 800; i++) {
      double price = random.nextDouble() * 6 - 3;
      boolean click = random.nextDouble() < 1 / (1 + Math.exp(4 * Math.abs(price) - 4));
      rows.append(click ? "1," : "0,").append(i % 20 == 0 ? "" : "%.3f".formatted(price));
      rows.append(',').append(random.nextInt(80)).append(",s").append(random.nextInt(3));
      rows.append('\n');
    }
    Files.writeString(folder.resolve("rows.csv"), rows);
    config = folder.resolve("numbers.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/rows.csv
          eval: %1$s/rows.csv
          label: {column: click}
          dense:
            - {columns: [price], vector: piecewise, bins: 8}
            - {columns: [age]}
          sparse: {columns: [site]}
        model: {type: lr}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 8, optimizer: {type: adam, lr: 0.05}, memory: 256m}
        """
            .formatted(folder));
  }

  private Result train(String... settings) {
    List<String> all = new ArrayList<>(List.of("train", config.toString(), "--overwrite"));
    for (String setting : settings) {
      all.add("--set");
      all.add(setting);
    }
    return tern(all.toArray(String[]::new));
  }

  private static double auc(Result trained) {
    assertThat(trained.code()).as(trained.err()).isZero();
    return Double.parseDouble(
        (trained.out() + trained.err()).replaceAll("(?s).*best AUC ([0-9.]+).*", "$1"));
  }

  @Test
  void aLinearModelLearnsACurveFromPiecesAndBuckets() {
    assertThat(auc(train("data.dense[0].vector=none"))).isLessThan(0.7);
    assertThat(auc(train("data.dense[0].vector=field"))).isLessThan(0.7);
    assertThat(auc(train())).isGreaterThan(0.85);
    assertThat(auc(train("data.dense[0].vector=buckets"))).isGreaterThan(0.85);
    assertThat(auc(train(EDGES, "data.dense[0].boundaries=-1,0,1", "data.dense[0].beside=true")))
        .isGreaterThan(0.8);
  }

  @ParameterizedTest
  @ValueSource(strings = {"field", "buckets", "piecewise"})
  void rowsOfFilesAndOfNamedValuesHaveTheSameScores(String vector) throws IOException {
    auc(
        train(
            "data.dense[0].vector=" + vector,
            "data.dense[0].beside=true",
            "data.dense[0].embedding=3",
            "model.type=wdl",
            "model.hidden=8",
            "model.embedding=5",
            "train.epochs=2"));
    Path out = folder.resolve("scores.csv");
    Result predicted =
        tern("predict", folder + "/run", folder + "/rows.csv", "--out", out.toString());
    assertThat(predicted.code()).as(predicted.err()).isZero();
    assertThat(predicted.err()).contains("missing values: price 40 of 800");
    List<String> scores = Files.readAllLines(out);
    List<String> rows = Files.readAllLines(folder.resolve("rows.csv"));
    try (Predictor predictor = Predictor.open(folder.resolve("run/checkpoints/best"))) {
      for (int row = 1; row <= 100; row++) {
        String[] fields = rows.get(row).split(",", -1);
        Map<String, Object> columns = new HashMap<>();
        columns.put("age", Float.parseFloat(fields[2]));
        columns.put("site", fields[3]);
        if (!fields[1].isEmpty()) {
          columns.put("price", Float.parseFloat(fields[1]));
        }
        assertThat(predictor.scores(columns)[0]).isEqualTo(Float.parseFloat(scores.get(row)));
      }
    }
  }

  @Test
  void aRunFromItsOwnConfigurationIsTheSame() throws IOException {
    auc(train(EDGES, "data.dense[0].boundaries=-2,-1,1.5", "train.epochs=1"));
    String first = evaluation();
    Path own = folder.resolve("own.yaml");
    Files.copy(folder.resolve("run/config.yaml"), own);
    config = own;
    auc(train());
    assertThat(evaluation()).isEqualTo(first);
  }

  private String evaluation() throws IOException {
    return Files.readAllLines(folder.resolve("run/metrics.jsonl")).stream()
        .filter(line -> line.contains("\"eval\""))
        .map(line -> line.replaceAll(".*(\"auc\":[0-9.]+).*", "$1"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void encodedRowsOfWeightedNumbersAreNotWrittenInSilence() {
    Result refused =
        tern(
            "data",
            "convert",
            folder + "/rows.csv",
            "--config",
            config.toString(),
            "--encode",
            "--out",
            folder + "/rows.parquet");
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains("weights");
  }

  private static NumberEncoding encoding(String dense) {
    String yaml =
        "data: {format: csv, train: r.csv, dense: {columns: [x], %s}}\n".formatted(dense)
            + "model: {type: fm}\nrun: {dir: x}\n";
    return Config.parse(yaml, "c.yaml", List.of()).data().dense().getFirst().encoding("x");
  }

  @Test
  void keysBecomeEncodings() {
    NumberEncoding auto = NumberEncoding.auto();
    assertThat(encoding("vector: none")).isEqualTo(auto);
    assertThat(encoding("vector: field")).isEqualTo(new NumberEncoding.Field(auto));
    assertThat(encoding("vector: field, transform: log1p"))
        .isEqualTo(new NumberEncoding.Field(NumberEncoding.log1p()));
    assertThat(encoding("vector: buckets")).isEqualTo(NumberEncoding.quantiles(16));
    assertThat(encoding("vector: buckets, bins: 4")).isEqualTo(NumberEncoding.quantiles(4));
    assertThat(encoding("vector: buckets, boundaries: 7")).isEqualTo(NumberEncoding.boundaries(7));
    assertThat(encoding("vector: piecewise, bins: 5")).isEqualTo(NumberEncoding.pieces(5));
    assertThat(encoding("vector: piecewise, boundaries: [-1e3, 0.5, 2]"))
        .isEqualTo(new NumberEncoding.PiecesBetween(List.of(-1000f, 0.5f, 2f)));
    assertThat(encoding("vector: piecewise, beside: true, missing: 3"))
        .isEqualTo(
            new NumberEncoding.Beside(new NumberEncoding.Auto(3), NumberEncoding.pieces(16)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "vector: both|data.dense.vector: got both, expected one of none, field, buckets",
        "bins: 4|got data.dense.bins, expected it only where data.dense.vector is buckets or",
        "vector: field, bins: 4|got data.dense.bins, expected it only where data.dense.vector is",
        "vector: piecewise, bins: 1|data.dense.bins: got 1, expected a whole number from 2",
        "vector: piecewise, boundaries: [1]|edges: got 1 of them, expected 2 to 1025",
        "vector: buckets, boundaries: [2, 1]|boundaries: got 1.0 after 2.0, expected ascending",
        "vector: buckets, boundaries: [a]|data.dense.boundaries: got the list [a], expected a list",
        "vector: buckets, boundaries: [1e39]|data.dense.boundaries",
        "vector: buckets, boundaries: [1, 2], bins: 4|data.dense.bins: got 4 beside",
        "vector: field, transform: bucketize|got field beside data.dense.transform: bucketize",
        "vector: piecewise, transform: log1p|data.dense.transform: got log1p for numbers of which",
        "vector: field, missing: 3|data.dense.missing: got 3.0 for numbers that have a vector",
        "vector: piecewise, embedding: 3|data.dense.embedding: got 3 for x beside model.embedding",
      })
  void whatDoesNotGoTogetherIsRefused(String dense, String message) {
    assertThatThrownBy(() -> encoding(dense))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void tablesOfNumbersHaveOptionsOfTheirOwn() {
    String settings = "model.tables.columns=price";
    assertThat(auc(train(settings, "model.tables.l2=0.001"))).isGreaterThan(0.8);
    Result other = train("model.tables.columns=age", "model.tables.l2=0.001");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("model.tables.columns: got the column age, expected one of");
  }
}
