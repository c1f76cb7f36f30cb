package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands on files of LIBSVM and LIBFFM. */
final class LibsvmCommandsTest {
  @TempDir Path temp;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(temp.resolve(name), text);
  }

  private static Result run(List<String> command, String... settings) {
    List<String> all = new ArrayList<>(command);
    for (String setting : settings) {
      all.addAll(List.of("--set", setting));
    }
    return tern(all.toArray(String[]::new));
  }

  private Result convert(Path from, Path to, String... settings) {
    return run(List.of("data", "convert", from + "", "--out", to + "", "--overwrite"), settings);
  }

  /** Rows whose label is that feature 7 is there. */
  private static String rows(int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      boolean positive = i * 7 % 5 < 2;
      text.append(positive ? "+1 1:0.5" : "-1 1:2").append(positive ? " 7:1 " : " 8:1 ");
      text.append(20 + i % 9).append(":1\n");
    }
    return text.toString();
  }

  private Path config(Path train, String data) throws IOException {
    return file(
        "train.yaml",
        """
        data: {format: libsvm, train: "%s", eval: "%s"%s}
        model: {type: fm, embedding: 4}
        train: {batch: 16, epochs: 20, threads: 1, memory: 64m, optimizer: {lr: 0.05}}
        run: {dir: "%s"}
        """
            .formatted(train, train, data, temp.resolve("run")));
  }

  @Test
  void aModelIsTrainedEvaluatedAndUsed() throws IOException {
    Path train = file("train.svm", rows(500));
    for (String data : List.of("", ", dense: {columns: [1]}, sparse: {encode: vocabulary}")) {
      Path config =
          config(
              file("t.svm", data.isEmpty() ? rows(500).replaceAll(" 1:\\S+", "") : rows(500)),
              data);
      Result trained = tern("train", config + "", "--overwrite");
      assertThat(trained.err()).doesNotContain("error");
      assertThat(trained.code()).as(trained.err()).isZero();
      assertThat(trained.out()).contains("best AUC 1.0000");
      Path eval = data.isEmpty() ? temp.resolve("t.svm") : train;
      Result evaluated = tern("evaluate", temp.resolve("run") + "", eval + "");
      assertThat(evaluated.out()).as(evaluated.err()).contains("1.0000");
      Path out = temp.resolve("p.csv");
      Path bare = file("bare.svm", Files.readString(eval).replaceAll("(?m)^\\S+ ", ""));
      Result predicted =
          tern("predict", temp.resolve("run") + "", bare + "", "--out", out + "", "--overwrite");
      assertThat(predicted.code()).as(predicted.err()).isZero();
      List<String> scores = Files.readAllLines(out);
      assertThat(scores).hasSize(501);
      for (int i = 0; i < 500; i++) {
        assertThat(Float.parseFloat(scores.get(i + 1)) > 0.5).isEqualTo(i * 7 % 5 < 2);
      }
    }
  }

  /** Rows whose label is whether the value of feature 1 is above 0. */
  private static String valued(int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      int value = i * 7919 % 13 - 6;
      text.append(value > 0 ? "1" : "-1").append(" 1:").append(value - 0.5).append(' ');
      text.append(20 + i % 9).append(":1\n");
    }
    return text.toString();
  }

  private double auc(Path train, String values) throws IOException {
    Path config = config(train, ", id_values: " + values);
    Result trained = tern("train", config + "", "--overwrite");
    assertThat(trained.code()).as(trained.err()).isZero();
    String said = trained.out();
    int at = said.indexOf("best AUC ") + "best AUC ".length();
    return Double.parseDouble(said.substring(at, at + 6));
  }

  @Test
  void valuesAreWeightsOfTheirFeatures() throws IOException {
    Path train = file("valued.svm", valued(600));
    assertThat(auc(train, "ignore")).isBetween(0.3, 0.7);
    assertThat(auc(train, "weight")).isGreaterThan(0.98);
    Path out = temp.resolve("p.csv");
    Path run = temp.resolve("run");
    Result predicted = tern("predict", run + "", train + "", "--out", out + "", "--overwrite");
    assertThat(predicted.code()).as(predicted.err()).isZero();
    List<String> scores = Files.readAllLines(out);
    int right = 0;
    for (int i = 0; i < 600; i++) {
      right += Float.parseFloat(scores.get(i + 1)) > 0.5 == i * 7919 % 13 - 6 > 0 ? 1 : 0;
    }
    assertThat(right).isGreaterThan(540);
    Result other = tern("evaluate", run + "", train + "", "--set", "data.id_values=ignore");
    assertThat(other.code()).isNotZero();
    assertThat(other.err()).contains("got ids without weights, expected ids with weights");
  }

  @Test
  void weightsAreShownConvertedAndRefusedByName() throws IOException {
    Path svm = file("in.svm", "1 1:0.5 3:1\n0 9:-2\n");
    String weigh = "data.id_values=weight";
    Path back = temp.resolve("back.svm");
    assertThat(convert(svm, back, weigh).code()).isZero();
    assertThat(back).hasSameTextualContentAs(svm);
    for (String name : List.of("out.csv", "out.norm", "out.raw", "out.parquet")) {
      Path out = temp.resolve(name);
      Result refused = convert(svm, out, weigh);
      assertThat(refused.code()).isEqualTo(2);
      assertThat(refused.err())
          .contains(name + ": got values of ids as weights (data.id_values)", "libsvm or libffm");
      assertThat(out).doesNotExist();
    }
    Result shown = run(List.of("data", "inspect", svm + "", "--page", "2"), weigh);
    assertThat(shown.out()).as(shown.err()).contains("features=[1:0.5 3:1]", "features=[9:-2]");
  }

  @Test
  void rowsComeBackFromEveryFormatThatHoldsThem() throws IOException {
    Path csv = file("in.csv", "y,a,c,d\n1,0.5,3,7|7\n0,,12,\n0,2,5,1\n");
    String[] names = {
      "data.label.column=y",
      "data.dense.columns=a",
      "data.sparse.columns=c,d",
      "data.sparse.encode=id",
    };
    String[] separated = {names[0], names[1], names[2], names[3], "data.sparse.separator=|"};
    Path ffm = temp.resolve("rows.ffm.gz");
    assertThat(convert(csv, ffm, separated).out()).contains("rows.ffm.gz: wrote 3 rows");
    Path norm = temp.resolve("rows.norm");
    String[] fields = {names[0], names[1], names[2], "data.columns=a,c,d"};
    assertThat(convert(ffm, norm, fields).code()).isZero();
    Path plain = temp.resolve("rows.libffm");
    assertThat(convert(norm, plain, names[0], names[1], names[2]).code()).isZero();
    assertThat(plain)
        .content()
        .isEqualTo("1 0:0:0.5 1:3:1 2:7:1 2:7:1\n0 0:0:nan 1:12:1\n0 0:0:2 1:5:1 2:1:1\n");
    Path back = temp.resolve("back.csv");
    assertThat(convert(plain, back, fields).code()).isZero();
    assertThat(back).hasSameTextualContentAs(csv);
    String[] numbers = {names[0], "data.dense.columns=0", "data.sparse.columns=1,2"};
    assertThat(convert(plain, back, numbers).code()).isZero();
    assertThat(back).content().startsWith("y,0,1,2\n1,0.5,3,7|7\n");
  }

  @Test
  void featuresWithoutFieldsComeBack() throws IOException {
    Path svm = file("in.svm", "1 1:0.5 3:1 9:1\n0 2:-7 4:1\n");
    String[] columns = {"data.dense.columns=1..2", "data.sparse.columns=ids"};
    Path csv = temp.resolve("rows.csv");
    assertThat(convert(svm, csv, columns).code()).isZero();
    assertThat(csv).content().isEqualTo("label,1,2,ids\n1,0.5,0,3|9\n0,0,-7,4\n");
    Path back = temp.resolve("back.svm");
    Result result =
        convert(
            csv, back, columns[0], columns[1], "data.sparse.separator=|", "data.sparse.encode=id");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(back).hasSameTextualContentAs(svm);
    assertThat(convert(csv, back, "data.dense.columns=1,2").code()).isZero();
    assertThat(back).content().isEqualTo("1 1:0.5\n0 2:-7\n");
  }

  @Test
  void whatANotationCannotHoldIsRefused() throws IOException {
    Path csv = file("in.csv", "y,a,c,d\n1,0.5,1,7\n");
    String[] names = {"data.label.column=y", "data.dense.columns=a", "data.sparse.encode=id"};
    Path out = temp.resolve("out.svm");
    Result slots = convert(csv, out, names[0], names[1], names[2], "data.sparse.columns=c,d");
    assertThat(slots.code()).isEqualTo(2);
    assertThat(slots.err()).contains("out.svm: libsvm: got the slots [c, d]", "use libffm");
    Result taken = convert(csv, out, names[0], names[1], names[2], "data.sparse.columns=c");
    assertThat(taken.code()).isEqualTo(1);
    assertThat(taken.err())
        .contains("out.svm: row 1: got the id 1, the number of the dense column");
    assertThat(out).doesNotExist();
    Path svm = file("in.svm", "1 1:0.5\n");
    Result weight = convert(svm, csv);
    assertThat(weight.err())
        .contains("in.svm: line 1, byte 2: got \"1:0.5\", expected the value 1");
    assertThat(convert(svm, csv, "data.id_values=ignore").code()).isZero();
    assertThat(csv).content().isEqualTo("label,features\n1,1\n");
    assertThat(convert(svm, csv, "data.dense.columns=2").err()).contains("belongs to no column");
    assertThat(convert(svm, csv, "data.dense.columns=2", "data.unnamed=skip").code()).isZero();
    assertThat(csv).content().isEqualTo("label,2\n1,0\n");
    Result name = convert(svm, csv, "data.dense.columns=age");
    assertThat(name.code()).isEqualTo(2);
    assertThat(name.err()).contains("libsvm: got the column age, expected a feature's number");
  }

  @Test
  void inspectAndVerifyLookIntoThem() throws IOException {
    Path svm = file("in.svm", "1 3:1 9:1\n-1 x\n0 9:1\n2 4:1\n");
    Result verified = tern("data", "verify", svm + "");
    assertThat(verified.out()).isEqualTo("2 good rows, 2 faults\n");
    assertThat(verified.err())
        .contains("in.svm: line 2, byte 13: got \"x\", expected feature:value")
        .contains("in.svm: line 4, byte 21: got label \"2\"");
    Files.writeString(svm, "1 3:1 9:1\n-1 9:1\n");
    assertThat(tern("data", "inspect", svm + "").out())
        .contains("libsvm, unknown rows: 1 labels, 0 dense, 1 sparse")
        .containsPattern("features +1.50 +2 +2 +0 +3 +9");
    Path ffm = file("in.ffm", "1 0:0:0.5 2:9:1\n0 2:3:1 1:4:1\n");
    Result listed = tern("data", "inspect", ffm + "");
    assertThat(listed.code()).as(listed.err()).isZero();
    assertThat(listed.out())
        .containsPattern("libffm, 3 columns:\n\ncolumn +first row\n0 +0:0.5\n1 +4:1\n2 +9:1\n");
    Result unnamed = tern("data", "verify", ffm + "");
    assertThat(unnamed.code()).isEqualTo(2);
    assertThat(unnamed.err()).contains("in.ffm: got columns [0, 1, 2] but neither data.dense");
    String[] named = {"data.dense.columns=0", "data.sparse.columns=1..2"};
    assertThat(run(List.of("data", "verify", ffm + ""), named).out())
        .isEqualTo("2 good rows, 0 faults\n");
  }
}
