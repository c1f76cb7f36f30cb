package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.cli.MainTest.Result;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.MetricsLog;
import dev.tern.embedding.config.TableStatistics;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code tern predict} and {@code tern evaluate} on a model so sure that it is often wrong. */
final class ScoringCommandsTest {
  @TempDir private static Path shared;
  private static Path run = Path.of("");

  @TempDir Path temp;
  private Path rows = Path.of("");

  @BeforeAll
  static void train() throws IOException {
    run = shared.resolve("run");
    Path data = Files.writeString(shared.resolve("rows.csv"), text());
    String yaml =
        """
        data: {format: csv, train: "%s", eval: "%s", label: {column: y}, dense: {columns: [a], transform: none}, sparse: {columns: [c]}}
        model: {type: fm, embedding: 4}
        train: {batch: 16, epochs: 2, threads: 1, memory: 64m, optimizer: {type: sgd, lr: 30}}
        run: {dir: "%s"}
        """;
    Path config = Files.writeString(shared.resolve("c.yaml"), yaml.formatted(data, data, run));
    Result result = tern("train", config.toString());
    assertThat(result.code()).as(result.err()).isZero();
  }

  @BeforeEach
  void writeRows() throws IOException {
    rows = Files.writeString(temp.resolve("rows.csv"), text());
  }

  private static String text() {
    StringBuilder text = new StringBuilder("y,a,c\n");
    for (int i = 1; i <= 300; i++) {
      text.append("%d,%s,c%d\n".formatted(i * 7 % 3 % 2, i % 13, i % 7));
    }
    return text.toString();
  }

  private Result predict(Path out, String... more) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("predict", run.toString(), rows.toString(), "--out", out.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  @Test
  void evaluatePrintsTheLossThatTrainingLogged() {
    List<MetricsLine> evaluations =
        MetricsLog.read(run.resolve("metrics.jsonl")).stream()
            .filter(line -> line.split() == MetricsLine.Split.EVAL)
            .toList();
    MetricsLine last = evaluations.getLast();
    assertThat(last.loss()).isGreaterThan(20); // beyond what a rounded probability tells
    Path checkpoint = run.resolve("checkpoints/step-" + last.step());
    Result result = tern("evaluate", checkpoint.toString(), rows.toString());
    assertThat(result.out())
        .startsWith("rows 300%nAUC %.6f%nAUC in 95%% of samples 0.".formatted(last.auc()))
        .contains("%nlog loss %.6f%nnormalized entropy ".formatted(last.loss()))
        .contains("%ncalibration %.4f%n".formatted(last.calibration()))
        .contains("%nECE in 15 bins %.6f%ntables ".formatted(last.calibrationError()));
  }

  @Test
  void theErrorOfCalibrationIsTakenOverAsManyBinsAsAsked() {
    String one = tern("evaluate", run.toString(), rows.toString(), "--bins", "1").out();
    String many = tern("evaluate", run.toString(), rows.toString(), "--bins", "100").out();
    // Over all rows at once it is the distance of the mean prediction from the rate, 100 of 300.
    double calibration = Double.parseDouble(figure(one, "calibration"));
    assertThat(Double.parseDouble(figure(one, "ECE in 1 bins")))
        .isCloseTo(Math.abs(calibration - 1) / 3, within(1e-4));
    assertThat(Double.parseDouble(figure(many, "ECE in 100 bins")))
        .isGreaterThan(Double.parseDouble(figure(one, "ECE in 1 bins")));
    Result none = tern("evaluate", run.toString(), rows.toString(), "--bins", "0");
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.err()).contains("--bins: got 0, expected 1 to 10000; 15 are usual");
  }

  private static String figure(String out, String name) {
    return out.lines()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> line.substring(name.length() + 1))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void tablesOf8BitsEvaluateAndPredict() throws IOException {
    String exact = tern("evaluate", run.toString(), rows.toString()).out();
    Result narrow = tern("evaluate", run.toString(), rows.toString(), "--tables", "int8");
    assertThat(narrow.code()).as(narrow.err()).isZero();
    assertThat(narrow.out()).startsWith("rows 300");
    assertThat(narrow.out().lines().toList().getLast())
        .startsWith("tables ")
        .isNotEqualTo(exact.lines().toList().getLast());
    Path scores = temp.resolve("scores.csv");
    assertThat(predict(scores, "--tables", "int8").code()).isZero();
    assertThat(Files.readAllLines(scores)).hasSize(301);
    assertThat(predict(temp.resolve("other.csv"), "--tables", "int4").code()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "bf16"})
  void tablesOfHalfWidthAreTrainedResumedAndScored(String storage) throws IOException {
    Path half = temp.resolve(storage);
    Path config = shared.resolve("c.yaml");
    String dir = "run.dir=" + half;
    String set = "model.table_storage=" + storage;
    Result trained = tern("train", config.toString(), "--set", dir, "--set", set);
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(tern("evaluate", half.toString(), rows.toString()).out()).contains("rows 300");
    String[] more = {"train", config.toString(), "--resume", "--set", dir, "--set", set};
    assertThat(tern(more).code()).isZero();
    Result other = tern("train", config.toString(), "--resume", "--set", dir);
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("model.table_storage");
  }

  /** More ids than fit, each in several batches. */
  private Path manyIds() throws IOException {
    StringBuilder text = new StringBuilder("y,a,c\n");
    for (int i = 0; i < 30_000; i++) {
      text.append("%d,%s,c%d\n".formatted(i * 7 % 3 % 2, i % 13, i * 17 % 15_013));
    }
    return Files.writeString(temp.resolve("many.csv"), text);
  }

  @Test
  void tablesInAShareOfTheMemoryAreTrainedToTheSameBytes() throws IOException {
    Path data = manyIds();
    List<byte[]> weights = new ArrayList<>();
    for (String memory : List.of("0", "400k")) {
      Path run = temp.resolve("memory-" + memory);
      Result trained =
          tern(
              "train",
              shared.resolve("c.yaml").toString(),
              "--set",
              "run.dir=" + run,
              "--set",
              "data.train=" + data,
              "--set",
              "train.batch=500",
              "--set",
              "train.optimizer.lr=0.1",
              "--set",
              "train.table_memory=" + memory);
      assertThat(trained.code()).as(trained.err()).isZero();
      List<TableStatistics> tables =
          MetricsLog.read(run.resolve("metrics.jsonl")).getLast().tables();
      assertThat(tables).isNotEmpty();
      for (TableStatistics table : tables) {
        assertThat(table.rows()).isEqualTo(15_013);
        assertThat(table.file().spilled() > 0).as("%s", table).isEqualTo(!memory.equals("0"));
        assertThat(table.file().fetched() > 0).as("%s", table).isEqualTo(!memory.equals("0"));
      }
      try (Stream<Path> files = Files.walk(run.resolve("checkpoints"))) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          weights.add(Files.readAllBytes(file));
        }
      }
      try (Stream<Path> files = Files.list(run)) {
        assertThat(files.filter(f -> f.toString().endsWith(".scratch"))).isEmpty();
      }
    }
    assertThat(weights.size()).isPositive().isEven();
    for (int i = 0; i < weights.size() / 2; i++) {
      assertThat(weights.get(weights.size() / 2 + i)).isEqualTo(weights.get(i));
    }
  }

  @Test
  void tablesThatAdmitAndEvictAreTrainedResumedAndScored() throws IOException {
    Path counted = temp.resolve("counted");
    List<String> command = new ArrayList<>(List.of("train", shared.resolve("c.yaml").toString()));
    for (String set :
        List.of(
            "run.dir=" + counted,
            "train.log_every=1",
            "model.admission.type=count",
            "model.admission.count=3",
            "model.admission.expected=100",
            "model.eviction.type=least-recent",
            "model.max_rows=4",
            "model.when_full=unknown")) {
      command.addAll(List.of("--set", set));
    }
    Result trained = tern(command.toArray(String[]::new));
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.out()).contains("rows in ", ", admitted ", ", rejected ", ", evicted ");
    List<MetricsLine> lines = MetricsLog.read(counted.resolve("metrics.jsonl"));
    assertThat(lines.getLast().tables()).isNotEmpty();
    for (TableStatistics table : lines.getLast().tables()) {
      assertThat(table.rows()).isBetween(1L, 4L).isEqualTo(table.admitted() - table.evicted());
      assertThat(table.rejected()).isPositive();
      assertThat(table.filterBytes()).isPositive();
    }
    assertThat(MetricsLine.parse(lines.getLast().toJson(), "test")).isEqualTo(lines.getLast());
    String report = Files.readString(counted.resolve("report.html"));
    assertThat(cells(report, "th"))
        .containsSequence("table", "rows", "memory")
        .containsSequence("misses", "admitted", "rejected", "evicted");
    for (TableStatistics table : lines.getLast().tables()) {
      assertThat(table.evicted()).isPositive();
      assertThat(table.hits()).isNotEqualTo(table.misses());
      assertThat(cells(report, "td"))
          .containsSequence(table.table(), number(table.rows()), Format.bytes(table.bytes()))
          .containsSequence(
              number(table.misses()),
              number(table.admitted()),
              number(table.rejected()),
              number(table.evicted()));
    }
    assertThat(tern("evaluate", counted.toString(), rows.toString()).out()).contains("rows 300");
    command.add("--resume");
    Result resumed = tern(command.toArray(String[]::new));
    assertThat(resumed.code()).as(resumed.err()).isZero();
    Result other = tern("train", command.get(1), "--resume", "--set", "run.dir=" + counted);
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("model.admission");
  }

  /** What stands in the cells of a report's tables, in order. */
  private static List<String> cells(String report, String tag) {
    return Pattern.compile("<%s>([^<]*)</%s>".formatted(tag, tag))
        .matcher(report)
        .results()
        .map(cell -> cell.group(1))
        .toList();
  }

  private static String number(long value) {
    return value < 1000 ? Long.toString(value) : value / 1000 + ",%03d".formatted(value % 1000);
  }

  @Test
  void evaluatingNoRowsIsAnErrorThatNamesTheFile() throws IOException {
    Files.writeString(rows, "y,a,c\n");
    Result result = tern("evaluate", run.toString(), rows.toString());
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).contains("rows.csv: got no rows, expected some to evaluate on");
  }

  @Test
  void aFileThatIsThereIsReplacedOnlyWhereAsked() throws IOException {
    Path out = Files.writeString(temp.resolve("out.csv"), "mine");
    Result refused = predict(out);
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains("out.csv: got a file that is there already", "--overwrite");
    assertThat(out).hasContent("mine");
    assertThat(predict(out, "--overwrite").code()).isZero();
    assertThat(Files.readAllLines(out)).hasSize(301).startsWith("prediction");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rows.csv", "link.csv", "sub/../rows.csv", "hard.csv"})
  void anInputIsNeverWrittenOnto(String name) throws IOException {
    String before = Files.readString(rows);
    Files.createDirectories(temp.resolve("sub"));
    Files.createSymbolicLink(temp.resolve("link.csv"), rows);
    Files.createLink(temp.resolve("hard.csv"), rows);
    Result result = predict(temp.resolve(name), "--overwrite");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("got a file to write that is an input, expected another");
    assertThat(rows).hasContent(before);
    Result converted =
        tern(
            "data",
            "convert",
            rows.toString(),
            "--overwrite",
            "--set",
            "data.label.column=y",
            "--set",
            "data.dense.columns=a",
            "--out",
            temp.resolve(name).toString());
    assertThat(converted.code()).isEqualTo(2);
    assertThat(rows).hasContent(before);
  }

  @ParameterizedTest
  @ValueSource(strings = {"p.csv.gz", "p.TSV", "p.txt"})
  void theNameSaysHowPredictionsAreWritten(String name) throws IOException {
    Path out = temp.resolve(name);
    assertThat(predict(temp.resolve("plain.csv")).code()).isZero();
    assertThat(predict(out).code()).isZero();
    try (InputStream in =
        name.endsWith("gz")
            ? new GZIPInputStream(Files.newInputStream(out))
            : Files.newInputStream(out)) {
      assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
          .isEqualTo(Files.readString(temp.resolve("plain.csv")));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"p.parquet", "p.norm", "p", ".csv", "p.gz"})
  void namesOfOtherFormatsAreRefused(String name) {
    Result result = predict(temp.resolve(name));
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains(name + ": got a name that does not end like the name of a text");
    assertThat(temp.resolve(name)).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "data.dense.transform=log1p | data.dense.transform",
        "data.sparse.encode=hash    | data.sparse.encode",
        "model.type=lr              | model.type",
        "train.batch=3              | train.batch",
        "data.eval=x.csv            | data.eval"
      })
  void settingsWithoutEffectAreRefused(String setting, String key) {
    for (Result result :
        List.of(
            predict(temp.resolve("p.csv"), "--set", setting),
            tern("evaluate", run.toString(), rows.toString(), "--set", setting))) {
      assertThat(result.code()).isEqualTo(2);
      assertThat(result.err())
          .contains("--set " + setting + ": got " + key + ", which has no effect")
          .contains("(data.format, data.threads, ", "data.columns, data.delimiter");
    }
    assertThat(temp.resolve("p.csv")).doesNotExist();
  }

  @Test
  void settingsThatSayHowFilesAreReadHaveEffect() throws IOException {
    assertThat(predict(temp.resolve("plain.csv")).code()).isZero();
    Files.writeString(rows, text().replace(",", "\t"));
    Result result = predict(temp.resolve("p.csv"), "--set", "data.delimiter=tab");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(temp.resolve("p.csv")).hasSameTextualContentAs(temp.resolve("plain.csv"));
    assertThat(predict(temp.resolve("q.csv"), "--set", "data.label.positive=1").code())
        .as("no label is read")
        .isEqualTo(2);
  }
}
