package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Labels that are all equal, or more than one. */
final class LabelsTest {
  @TempDir Path temp;

  private Result train(Path rows, String... settings) throws IOException {
    String format = rows.toString().replaceAll(".*\\.", "");
    String yaml =
        """
        data: {format: "%s", train: "%s"}
        model: {type: lr}
        train: {batch: 64, epochs: 2, threads: 1, memory: 64m}
        run: {dir: "%s"}
        """
            .formatted(format, rows, temp.resolve("run"));
    List<String> command = new ArrayList<>(List.of("train"));
    command.add(Files.writeString(temp.resolve("c.yaml"), yaml).toString());
    for (String setting : settings) {
      command.addAll(List.of("--set", setting));
    }
    return tern(command.toArray(String[]::new));
  }

  private Path csv(String name, String... labels) throws IOException {
    StringBuilder text = new StringBuilder("y,c\n");
    for (int i = 0; i < 100; i++) {
      text.append(labels[i % labels.length]).append(",c").append(i % 7).append('\n');
    }
    return Files.writeString(temp.resolve(name + ".csv"), text);
  }

  private Result trainOn(Path rows, String... settings) throws IOException {
    List<String> all = new ArrayList<>(List.of("data.label.column=y", "data.sparse.columns=c"));
    all.addAll(List.of(settings));
    return train(rows, all.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[yes]      | none of the 100 training rows (the first has Yes)",
        "[Ye, Yess] | none of the 100 training rows",
        "['Yes ']   | none of the 100 training rows",
        "['1']      | none of the 100 training rows",
        "[No, Yes]  | all 100 training rows"
      })
  void textsThatAreTheLabelOfNoneOrAllAreRefused(String positive, String message)
      throws IOException {
    Result result = trainOn(csv("rows", "Yes", "No"), "data.label.positive=" + positive);
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains("data.label.positive: got [")
        .contains("which is the label of " + message);
    assertThat(temp.resolve("run")).doesNotExist();
  }

  @Test
  void textsThatOneLateRowHasAreTaken() throws IOException {
    Path rows = csv("rows", "No");
    Files.writeString(rows, Files.readString(rows) + "\" Yes\",c1\n");
    Result result = trainOn(rows, "data.label.positive=[\" Yes\"]");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).doesNotContain("warning:");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1"})
  void labelsThatAreAllEqualAreSaid(String label) throws IOException {
    Path rows = csv("rows", label);
    Result trained = trainOn(rows);
    assertThat(trained.code()).as(trained.err()).isZero();
    assertThat(trained.err())
        .contains("warning: all 100 training rows have the label " + label)
        .contains("check data.label.column");
    Result evaluated = tern("evaluate", temp.resolve("run").toString(), rows.toString());
    assertThat(evaluated.code()).isZero();
    assertThat(evaluated.err()).contains("no AUC: all 100 labels are " + label + "; check data");
  }

  @Test
  void evaluationRowsOfOneLabelAreSaidAndRefusedWhereTheyEndTheRun() throws IOException {
    Path rows = csv("rows", "0", "1");
    String eval = "data.eval=" + csv("later", "1");
    Result result = trainOn(rows, eval);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err())
        .contains("warning: all 100 rows of ")
        .contains("later.csv have the label 1, so no AUC can be computed");
    Result stopping = trainOn(rows, eval, "train.early_stop=2", "run.dir=" + temp + "/other");
    assertThat(stopping.code()).isEqualTo(2);
    assertThat(stopping.err()).contains("train.early_stop: all 100 rows of ");
    assertThat(temp.resolve("other")).doesNotExist();
  }

  /** Rows of which the label sale follows from the slot, and click is drawn. */
  private Path twoLabels(String format) {
    Schema schema = new Schema(List.of("click", "sale"), List.of(), List.of(Slot.oneHot("item")));
    Batch batch = new Batch(schema, 400);
    Random random = new Random(1);
    for (int i = 0; i < 400; i++) {
      batch.setLabel(0, random.nextInt(2));
      batch.setLabel(1, i % 4 == 0 ? 1 : 0);
      batch.addId(0, i % 4);
      batch.endRow();
    }
    Path file = temp.resolve("rows." + format);
    try (DataWriter writer =
        format.equals("norm")
            ? NormWriter.create(file, schema, NormCheck.SUM, KeyType.I64)
            : ParquetWriter.create(file, schema, ParquetLayout.DEFAULT.asHugeCtr())) {
      writer.write(batch);
      writer.finish();
    }
    return file;
  }

  @ParameterizedTest
  @CsvSource({"norm, label1, label0", "parquet, sale, click"})
  void oneOfSeveralLabelsIsNamed(String format, String name, String other) throws IOException {
    Path rows = twoLabels(format);
    Result unnamed = train(rows, "data.sparse.encode=id");
    assertThat(unnamed.code()).isEqualTo(2);
    assertThat(unnamed.err())
        .contains("data.label.column: got rows with the labels [" + other + ", " + name + "]");
    Result result =
        train(
            rows,
            "data.sparse.encode=id",
            "data.label.column=" + name,
            "data.eval=" + rows,
            "train.optimizer.lr=0.1",
            "train.epochs=20");
    assertThat(result.code()).as(result.err()).isZero();
    String run = temp.resolve("run").toString();
    assertThat(tern("evaluate", run, rows.toString()).out()).contains("AUC 1.000000");
    String drawn = "data.label.column=" + other;
    assertThat(tern("evaluate", run, rows.toString(), "--set", drawn).out())
        .containsPattern("AUC 0\\.[45]");
    Path scores = temp.resolve("scores.csv");
    Result predicted = tern("predict", run, rows.toString(), "--out", scores.toString());
    assertThat(predicted.code()).as(predicted.err()).isZero();
    assertThat(scores).isNotEmptyFile();
  }
}
