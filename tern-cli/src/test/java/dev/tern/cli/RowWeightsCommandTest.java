package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands on rows with weights. */
final class RowWeightsCommandTest {
  @TempDir Path folder;

  private Path config;

  @BeforeEach
  void write() throws IOException {
    write("1.csv", 1);
    write("2.csv", 2);
    config = folder.resolve("weights.yaml");
    Files.writeString(
        config,
        """
        data:
          format: csv
          train: %1$s/1.csv
          eval: %1$s/2.csv
          label: {column: click}
          weight: times
          dense: {columns: [age]}
          sparse: {columns: [site]}
        model: {type: deepfm, embedding: 4, hidden: [8]}
        run: {dir: %1$s/run}
        train: {batch: 50, epochs: 2, optimizer: {type: adam, lr: 0.01}, memory: 256m, threads: 1}
        """
            .formatted(folder));
  }

  /** Rows without a click stand for three. */
  private void write(String name, long seed) throws IOException {
    StringBuilder rows = new StringBuilder("click,times,age,site\n");
    Random random = new Random(seed);
    for (int i = 0; i < 600; i++) {
      int site = random.nextInt(6);
      boolean click = random.nextInt(6) < site;
      rows.append(click ? "1,1," : "0,3,").append(random.nextInt(80));
      rows.append(",s").append(site).append('\n');
    }
    Files.writeString(folder.resolve(name), rows);
  }

  /** Trains with settings, of which those with an equals sign are keys. */
  private Result train(String... settings) {
    List<String> all = new ArrayList<>(List.of("train", config.toString()));
    for (String setting : settings) {
      if (setting.contains("=")) {
        all.add("--set");
      }
      all.add(setting);
    }
    return tern(all.toArray(String[]::new));
  }

  @Test
  void evaluationsCountThemAndScoringNeedsNone() throws IOException {
    Result trained = train();
    assertThat(trained.code()).as(trained.err()).isZero();
    Result evaluated = tern("evaluate", folder + "/run", folder + "/2.csv");
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    assertThat(evaluated.out())
        .contains("rows 600")
        .containsPattern("AUC 0\\.\\d{6}")
        .containsPattern("95% of samples 0\\.\\d{4} to 0");
    Result plain = tern("evaluate", folder + "/run", folder + "/2.csv", "--set", "data.weight=");
    assertThat(plain.code()).as(plain.err()).isZero();
    assertThat(plain.out()).contains("95%");
    assertThat(calibration(plain)).isLessThan(0.75 * calibration(evaluated));
    Path bare = folder.resolve("bare.csv");
    Files.writeString(bare, "site,age\ns1,20\ns5,70\n");
    Path out = folder.resolve("scores.csv");
    Result predicted = tern("predict", folder + "/run", bare.toString(), "--out", out.toString());
    assertThat(predicted.code()).as(predicted.err()).isZero();
    assertThat(Files.readAllLines(out)).hasSize(3);
  }

  private static double calibration(Result evaluated) {
    return Double.parseDouble(evaluated.out().split("calibration ")[1].split("\n")[0]);
  }

  @Test
  void aModelTrainedWithoutThemIsEvaluatedWithThem() {
    Result trained = train("data.weight=");
    assertThat(trained.code()).as(trained.err()).isZero();
    Result plain = tern("evaluate", folder + "/run", folder + "/2.csv");
    Result weighted =
        tern("evaluate", folder + "/run", folder + "/2.csv", "--set", "data.weight=times");
    assertThat(weighted.code()).as(weighted.err()).isZero();
    assertThat(calibration(weighted)).isGreaterThan(1.3 * calibration(plain));
  }

  /** The rows of a file, each as often as its weight says. */
  private Path repeated(String name) throws IOException {
    StringBuilder rows = new StringBuilder();
    for (String line : Files.readAllLines(folder.resolve(name))) {
      rows.append((line + "\n").repeat(line.startsWith("0,3,") ? 3 : 1));
    }
    return Files.writeString(folder.resolve("repeated.csv"), rows);
  }

  @Test
  void figuresByGroupAreThoseOfRowsThatStandSoOften() throws IOException {
    assertThat(train().code()).isZero();
    String[] weighted = {"evaluate", folder + "/run", folder + "/2.csv", "--group", "site"};
    String[] plain = weighted.clone();
    plain[2] = repeated("2.csv").toString();
    plain =
        Stream.concat(Stream.of(plain), Stream.of("--set", "data.weight=")).toArray(String[]::new);
    Map<String, Double> got = figures(tern(weighted).out());
    Map<String, Double> expected = figures(tern(plain).out());
    for (String name :
        List.of(
            "GAUC by rows",
            "GAUC by positive rows",
            "GAUC by groups",
            "NDCG@10",
            "recall@10",
            "hit rate@10",
            "MRR")) {
      assertThat(got.get(name)).as(name).isCloseTo(expected.get(name), within(2e-6));
    }
    Map<String, Double> without =
        figures(
            tern(
                    "evaluate",
                    folder + "/run",
                    folder + "/2.csv",
                    "--group",
                    "site",
                    "--set",
                    "data.weight=")
                .out());
    assertThat(got.get("MRR")).isLessThan(without.get("MRR"));
  }

  private static Map<String, Double> figures(String out) {
    Map<String, Double> figures = new HashMap<>();
    for (String line : out.split("\n")) {
      if (line.matches(".* [-+]?\\d+\\.\\d+")) {
        int space = line.lastIndexOf(' ');
        figures.put(line.substring(0, space), Double.valueOf(line.substring(space + 1)));
      }
    }
    return figures;
  }

  @Test
  void twoModelsAreComparedWithThem() throws IOException {
    assertThat(train().code()).isZero();
    assertThat(train("model.type=lr", "run.dir=" + folder + "/lr").code()).isZero();
    String rows = folder + "/2.csv";
    Result both = tern("evaluate", folder + "/run", rows, "--against", folder + "/lr");
    assertThat(both.code()).as(both.err()).isZero();
    Map<String, Double> got = figures(both.out());
    Map<String, Double> first = figures(tern("evaluate", folder + "/run", rows).out());
    Map<String, Double> second = figures(tern("evaluate", folder + "/lr", rows).out());
    for (String name : List.of("AUC", "log loss")) {
      assertThat(got.get(name + " of the other")).isCloseTo(second.get(name), within(2e-6));
      assertThat(got.get(name + " difference (first - other)"))
          .isCloseTo(first.get(name) - second.get(name), within(3e-6));
      assertThat(both.out()).contains(name + " difference by chance p ");
    }
  }

  @Test
  void aRunBeginsWithTheWeightsOfOneWithoutThem() {
    assertThat(train("data.weight=", "run.dir=" + folder + "/first").code()).isZero();
    Result next = train("--from", folder + "/first");
    assertThat(next.code()).as(next.err()).isZero();
    Result days = train("run.dir=" + folder + "/days", "--days", folder + "/?.csv");
    assertThat(days.code()).as(days.err()).isZero();
    assertThat(days.err()).contains("tested on 2");
  }

  @Test
  void interruptedRunsGoOnWithThem() throws IOException {
    assertThat(train().code()).isZero();
    byte[] weights = Files.readAllBytes(checkpoint("run"));
    String[] half = {"run.dir=" + folder + "/half", "train.epochs=1"};
    assertThat(train(half).code()).isZero();
    Result resumed = train("run.dir=" + folder + "/half", "--resume");
    assertThat(resumed.code()).as(resumed.err()).isZero();
    assertThat(Files.readAllBytes(checkpoint("half"))).isEqualTo(weights);
  }

  private Path checkpoint(String run) {
    return folder.resolve(run + "/checkpoints/step-24/dense.safetensors");
  }

  @ParameterizedTest
  @ValueSource(strings = {"parquet", "norm", "raw"})
  void otherFormatsHaveThemToo(String format) {
    for (int file = 1; file <= 2; file++) {
      Result converted =
          tern(
              "data",
              "convert",
              folder + "/" + file + ".csv",
              "--config",
              config.toString(),
              "--encode",
              "--to",
              format,
              "--out",
              folder + "/" + file + "." + format);
      assertThat(converted.code()).as(converted.err()).isZero();
    }
    Result trained =
        train(
            "data.format=" + format,
            "data.train=" + folder + "/1." + format,
            "data.eval=" + folder + "/2." + format,
            "data.sparse[0].encode=id",
            format.equals("raw") ? "data.key_type=i64" : "data.threads=1");
    assertThat(trained.code()).as(trained.err()).isZero();
    Result evaluated = tern("evaluate", folder + "/run", folder + "/2." + format);
    assertThat(evaluated.code()).as(evaluated.err()).isZero();
    // The entropy of the rate of clicks by weight: of all rows alike it is near log 2.
    Map<String, Double> figures = figures(evaluated.out());
    assertThat(figures.get("log loss") / figures.get("normalized entropy")).isLessThan(0.6);
    Result plain =
        tern(
            "evaluate",
            folder + "/run",
            folder + "/2." + format,
            "--set",
            format.equals("parquet") ? "data.weight=" : "data.threads=2");
    assertThat(plain.code()).as(plain.err()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "data.weight=age|data.dense.columns: got the column age, which data.weight has too",
        "data.weight=click|data.weight: got the column click, which is the only label",
        "data.weight=gone|gone",
      })
  void contradictionsAreRefused(String setting, String message) {
    Result refused = train(setting);
    assertThat(refused.code()).isNotZero();
    assertThat(refused.err()).contains(message);
  }
}
