package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows to score need no label, or may have anything in its place, in every format. */
final class UnlabelledRowsTest {
  private static final int ROWS = 60;

  @TempDir Path temp;

  private static Schema schema(boolean label) {
    return new Schema(label ? List.of("y") : List.of(), List.of("a"), List.of(Slot.oneHot("c")));
  }

  /** Row i is a = i, c = i % 7, with label i % 2 or that given. */
  private static void write(DataWriter writer, float label) {
    Batch batch = new Batch(writer.schema(), ROWS);
    for (int i = 0; i < ROWS; i++) {
      if (writer.schema().labelDim() > 0) {
        batch.setLabel(0, Float.isNaN(label) ? i % 2 : label);
      }
      batch.setDense(0, i);
      batch.addId(0, i % 7);
      batch.endRow();
    }
    try (writer) {
      writer.write(batch);
      writer.finish();
    }
  }

  private void assertScoresAlike(
      String format, BiFunction<Path, Schema, DataWriter> writers, boolean named)
      throws IOException {
    Path labelled = temp.resolve("labelled." + format);
    Path placeholders = temp.resolve("placeholders." + format);
    Path bare = temp.resolve("bare." + format);
    write(writers.apply(labelled, schema(true)), Float.NaN);
    write(writers.apply(placeholders, schema(true)), -1);
    write(writers.apply(bare, schema(false)), 0);
    Path run = temp.resolve("run-" + format + named);
    List<String> command = new ArrayList<>(List.of("train", config().toString()));
    List<String> values = new ArrayList<>(List.of("data.format=" + format));
    values.addAll(List.of("data.train=" + labelled, "run.dir=" + run));
    if (named) {
      values.addAll(List.of("data.dense.columns=a", "data.sparse.columns=c"));
    }
    values.forEach(value -> command.addAll(List.of("--set", value)));
    Result trained = tern(command.toArray(String[]::new));
    assertThat(trained.code()).as(trained.err()).isZero();
    String expected = predict(run, labelled);
    assertThat(expected.lines()).hasSize(1 + ROWS);
    assertThat(predict(run, placeholders)).isEqualTo(expected);
    assertThat(predict(run, bare)).isEqualTo(expected);
    Result evaluated = tern("evaluate", run.toString(), placeholders.toString());
    assertThat(evaluated.code()).isEqualTo(1);
    assertThat(evaluated.err()).contains("got label -1.0");
  }

  private Path config() throws IOException {
    return Files.writeString(
        temp.resolve("train.yaml"),
        """
        data: {format: norm, train: x, label: {column: y}, sparse: {encode: id}}
        model: {type: fm, embedding: 4}
        train: {batch: 16, threads: 1, memory: 64m}
        """);
  }

  private String predict(Path run, Path data) throws IOException {
    Path out = temp.resolve("p-" + run.getFileName() + data.getFileName() + ".csv");
    Result result = tern("predict", run.toString(), data.toString(), "--out", out.toString());
    assertThat(result.code()).as(result.err()).isZero();
    return Files.readString(out);
  }

  @Test
  void normNamedOrNot() throws IOException {
    for (boolean named : new boolean[] {true, false}) {
      assertScoresAlike(
          "norm", (file, s) -> NormWriter.create(file, s, NormCheck.SUM, KeyType.I64), named);
    }
  }

  @Test
  void raw() throws IOException {
    assertScoresAlike("raw", (file, s) -> RawWriter.create(file, RawOptions.floats(s)), true);
  }

  @Test
  void rawOfRatingsThatMayHaveLabelsOrNot() throws IOException {
    raw();
    Path run = temp.resolve("run-rawtrue");
    Path rated = temp.resolve("rated.raw");
    Batch batch = new Batch(schema(true), ROWS);
    for (int i = 0; i < ROWS; i++) {
      batch.setLabel(0, 1 + i % 5);
      batch.setDense(0, i);
      batch.addId(0, i % 7);
      batch.endRow();
    }
    try (DataWriter writer = RawWriter.create(rated, RawOptions.floats(schema(true)))) {
      writer.write(batch);
      writer.finish();
    }
    String out = temp.resolve("rated.csv").toString();
    List<String> predict = List.of("predict", run.toString(), rated.toString(), "--out", out);
    Result refused = tern(predict.toArray(String[]::new));
    assertThat(refused.code()).isEqualTo(1);
    assertThat(refused.err()).contains("rated.raw", "60 samples with labels or 90 without");
    List<String> told = new ArrayList<>(predict);
    told.addAll(List.of("--set", "data.has_labels=yes"));
    Result scored = tern(told.toArray(String[]::new));
    assertThat(scored.code()).as(scored.err()).isZero();
    assertThat(Files.readString(temp.resolve("rated.csv")))
        .isEqualTo(Files.readString(temp.resolve("p-run-rawtruelabelled.raw.csv")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"y,a,c", "a,y,c", "a,c,y"})
  void csvWithoutNamesByTheColumnsThatItHas(String columns) throws IOException {
    Path labelled = Files.writeString(temp.resolve("labelled.csv"), lines(columns));
    Path run = temp.resolve("run-lines");
    List<String> command = new ArrayList<>(List.of("train", config().toString()));
    for (String value :
        List.of(
            "data.format=csv",
            "data.train=" + labelled,
            "data.columns=[" + columns + "]",
            "data.dense.columns=a",
            "data.sparse.columns=c",
            "run.dir=" + run)) {
      command.addAll(List.of("--set", value));
    }
    Result trained = tern(command.toArray(String[]::new));
    assertThat(trained.code()).as(trained.err()).isZero();
    String expected = predict(run, labelled);
    for (String order : List.of("a,c", "c,a")) {
      Path bare = Files.writeString(temp.resolve("bare.csv"), lines(order));
      Path out = temp.resolve(order + ".csv");
      String[] predict = {"predict", run.toString(), bare.toString(), "--out", out.toString()};
      Result unsaid = tern(predict);
      assertThat(unsaid.code()).isEqualTo(1);
      assertThat(unsaid.err())
          .contains("bare.csv: line 1, byte 0: got 2 fields, expected 3 as data.columns lists")
          .contains("as in data.columns=a,b where it has no label");
      assertThat(out).doesNotExist();
      String[] said = Arrays.copyOf(predict, 7);
      said[5] = "--set";
      said[6] = "data.columns=" + order;
      assertThat(tern(said).code()).isZero();
      assertThat(out).hasContent(expected);
      Result evaluated = tern("evaluate", run.toString(), bare.toString(), "--set", said[6]);
      assertThat(evaluated.code()).isEqualTo(1);
      assertThat(evaluated.err()).contains("bare.csv: got no column y, expected it among [");
    }
  }

  /** Row i as {@link #write} has it, its columns in the order of {@code columns}. */
  private static String lines(String columns) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < ROWS; i++) {
      text.append(columns.replace("y", "" + i % 2).replace("a", "" + i).replace("c", "" + i % 7));
      text.append('\n');
    }
    return text.toString();
  }
}
