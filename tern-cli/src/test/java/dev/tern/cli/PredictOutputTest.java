package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.KeyType;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code tern predict} reads besides features, and where its scores go. */
final class PredictOutputTest {
  @TempDir private static Path shared;
  private static Path run = Path.of("");
  private static Path rows = Path.of("");
  private static List<String> scores = List.of();

  @TempDir Path temp;

  @BeforeAll
  static void train() throws IOException {
    run = shared.resolve("run");
    rows = Files.writeString(shared.resolve("rows.csv"), text());
    String yaml =
        """
        data: {format: csv, train: "%s", label: {column: y}, dense: {columns: [a]}, sparse: {columns: [c], encode: id}}
        model: {type: fm, embedding: 4}
        train: {batch: 50, epochs: 1, threads: 1, memory: 64m}
        run: {dir: "%s"}
        """;
    Path config = Files.writeString(shared.resolve("c.yaml"), yaml.formatted(rows, run));
    assertThat(tern("train", config.toString()).code()).isZero();
    Path out = shared.resolve("scores.csv");
    assertThat(tern("predict", run.toString(), rows.toString(), "--out", out.toString()).code())
        .isZero();
    scores = Files.readAllLines(out);
    assertThat(scores).hasSize(301).startsWith("prediction");
  }

  private static String text() {
    StringBuilder text = new StringBuilder("row,y,a,user,c\n");
    for (int i = 1; i <= 300; i++) {
      text.append("r-%06d,%d,%s,\"u,\"\"%d\"\"\",%d\n".formatted(i, i % 2, i % 13, i % 9, i % 7));
    }
    return text.toString();
  }

  private Result predict(Path data, Path out, String... more) {
    List<String> command = new ArrayList<>(List.of("predict", run.toString(), data.toString()));
    command.addAll(List.of("--out", out.toString()));
    command.addAll(List.of(more));
    return tern(command.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource({"kept.csv, ','", "kept.tsv, '\t'"})
  void columnsStandBeforeTheScoreAsTheyWere(String name, char delimiter) throws IOException {
    Path out = temp.resolve(name);
    Result result = predict(rows, out, "--keep", "user,row", "--set", "data.trim=true");
    assertThat(result.code()).as(result.err()).isZero();
    List<String> expected = new ArrayList<>();
    expected.add("user%srow%sprediction".formatted(delimiter, delimiter));
    for (int i = 1; i <= 300; i++) {
      String user = "\"u,\"\"%d\"\"\"".formatted(i % 9);
      expected.add(user + delimiter + "r-%06d".formatted(i) + delimiter + scores.get(i));
    }
    assertThat(Files.readAllLines(out)).isEqualTo(expected);
  }

  @Test
  void aColumnOfTheFoldersNameIsKept() throws IOException {
    Path folder = Files.createDirectories(temp.resolve("day=2026-01-31"));
    Path part = Files.copy(rows, folder.resolve("rows.csv"));
    Path out = temp.resolve("kept.csv");
    Result result = predict(part, out, "--keep", "day,row");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Files.readAllLines(out))
        .hasSize(301)
        .startsWith("day,row,prediction", "2026-01-31,r-000001," + scores.get(1))
        .endsWith("2026-01-31,r-000300," + scores.get(300));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "none       | got no column none, expected it among",
        "row,row    | --keep: kept columns: got [row, row], expected distinct names",
        "prediction | got no column prediction"
      })
  void columnsThatCannotBeKeptAreRefused(String keep, String message) {
    Path out = temp.resolve("kept.csv");
    Result result = predict(rows, out, "--keep", keep);
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains(message);
    assertThat(out).doesNotExist();
  }

  @Test
  void aFileWithoutRowsIsSaid() throws IOException {
    Path empty = Files.writeString(temp.resolve("empty.csv"), "row,y,a,user,c\n");
    Path out = temp.resolve("scores.csv");
    Result result = predict(empty, out, "--keep", "row");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err())
        .contains("warning: ", "empty.csv: got no rows, so there are no scores");
    assertThat(Files.readAllLines(out)).containsExactly("row,prediction");
  }

  @Test
  void aColumnNamedAsTheScoresIsRefused() throws IOException {
    Path named = temp.resolve("named.csv");
    Files.writeString(named, text().replaceFirst("row", "prediction"));
    Result result = predict(named, temp.resolve("kept.csv"), "--keep", "prediction");
    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("prediction to keep, which is the name of the scores");
  }

  private static final Schema IDS =
      new Schema(List.of("y"), List.of("a"), List.of(Slot.oneHot("c"), Slot.oneHot("user")));

  private static Batch batch(Schema schema) {
    Batch batch = new Batch(schema, 300);
    for (int i = 1; i <= 300; i++) {
      batch.setLabel(0, i % 2);
      batch.setDense(0, i % 13);
      batch.addId(0, i % 7);
      if (schema.slotCount() > 1) {
        batch.addId(1, -1000L * i);
      }
      batch.endRow();
    }
    return batch;
  }

  @Test
  void columnsOfParquetAreKeptAsTexts() throws IOException {
    Path file = temp.resolve("rows.parquet");
    try (ParquetWriter writer = ParquetWriter.create(file, IDS, ParquetLayout.DEFAULT)) {
      writer.write(batch(IDS));
      writer.finish();
    }
    Path out = temp.resolve("kept.csv");
    Result result = predict(file, out, "--keep", "user,c", "--set", "data.format=parquet");
    assertThat(result.code()).as(result.err()).isZero();
    List<String> lines = Files.readAllLines(out);
    assertThat(lines).hasSize(301).startsWith("user,c,prediction");
    for (int i = 1; i <= 300; i++) {
      assertThat(lines.get(i)).isEqualTo(-1000 * i + "," + i % 7 + "," + scores.get(i));
    }
  }

  @Test
  void filesWithoutColumnsOfTextsKeepNone() {
    Path file = temp.resolve("rows.norm");
    Schema schema = new Schema(IDS.labels(), IDS.dense(), IDS.slots().subList(0, 1));
    try (NormWriter writer = NormWriter.create(file, schema, NormCheck.SUM, KeyType.I64)) {
      writer.write(batch(schema));
      writer.finish();
    }
    Path out = temp.resolve("kept.csv");
    Result result = predict(file, out, "--keep", "c", "--set", "data.format=norm");
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("--keep: got norm files", "expected csv or parquet");
    assertThat(out).doesNotExist();
  }

  private Path pipe(byte[] content) throws IOException, InterruptedException {
    // One of its own for each call: a writer may come late, when its reader has given up.
    Path pipe = Files.createTempDirectory(temp, "p").resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try (OutputStream to = Files.newOutputStream(pipe, StandardOpenOption.WRITE)) {
            to.write(content);
          } catch (IOException _) {
            // Nobody reads to the end.
          }
        });
    return pipe;
  }

  @EnabledOnOs({OS.LINUX, OS.MAC})
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPipeIsScoredAndEvaluated(boolean compressed) throws Exception {
    byte[] content = text().getBytes(StandardCharsets.UTF_8);
    if (compressed) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (OutputStream gzip = new GZIPOutputStream(bytes)) {
        gzip.write(content);
      }
      content = bytes.toByteArray();
    }
    Path out = temp.resolve("scores.csv");
    Result result = predict(pipe(content), out, "--keep", "row");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Files.readAllLines(out)).hasSize(301).endsWith("r-000300," + scores.getLast());
    Result evaluated = tern("evaluate", run.toString(), pipe(content).toString());
    assertThat(evaluated.out())
        .isEqualTo(tern("evaluate", run.toString(), rows.toString()).out())
        .startsWith("rows 300");
  }

  @EnabledOnOs({OS.LINUX, OS.MAC})
  @Test
  void aPipeOfAFormatThatNeedsAFileIsRefused() throws Exception {
    Path out = temp.resolve("scores.csv");
    for (String format : List.of("parquet", "norm", "raw")) {
      Result result = predict(pipe(new byte[0]), out, "--set", "data.format=" + format);
      assertThat(result.code()).as(result.err()).isEqualTo(2);
      assertThat(result.err()).contains("pipe: got a pipe for the format " + format);
      assertThat(out).doesNotExist();
    }
    Result trained =
        tern(
            "train",
            shared.resolve("c.yaml").toString(),
            "--set",
            "data.train=" + pipe(new byte[0]),
            "--set",
            "run.dir=" + temp + "/run");
    assertThat(trained.code()).isEqualTo(1);
    assertThat(trained.err()).contains("got a pipe or device, expected a file that can be read");
  }

  @EnabledOnOs({OS.LINUX, OS.MAC})
  @Test
  void scoresGoFromTheStandardInputToTheStandardOutput() throws Exception {
    Process process =
        MainTest.process("predict", run.toString(), "-", "--out", "-", "--keep", "row")
            .redirectErrorStream(false)
            .redirectInput(rows.toFile())
            .start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(err).isZero();
    assertThat(out.lines())
        .hasSize(301)
        .startsWith("row,prediction")
        .endsWith("r-000300," + scores.getLast());
    assertThat(err).contains("300 predictions");
  }
}
