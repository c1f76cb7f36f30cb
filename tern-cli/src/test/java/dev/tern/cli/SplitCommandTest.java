package dev.tern.cli;

import static dev.tern.cli.DataCommandTest.arguments;
import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code tern data split}. */
final class SplitCommandTest {
  private static final String LABEL = "data.label.column=y";
  private static final String DENSE = "data.dense.columns=a";
  private static final String SPARSE = "data.sparse.columns=c";

  @TempDir Path temp;
  private Path csv = Path.of("");

  @BeforeEach
  void writeRows() throws IOException {
    csv = temp.resolve("rows.csv");
    Files.writeString(csv, "y,a,c\n1,0.5,red\n0,,blue\n0,2,red\n");
  }

  private Result convert(Path from, Path to, String... more) {
    return tern(arguments("convert", from, more, "--out", to.toString()));
  }

  private Result split(String... more) {
    return tern(arguments("split", csv, more));
  }

  private String[] parts(String... more) {
    List<String> all = new ArrayList<>();
    all.addAll(List.of("--part", temp.resolve("train.csv") + "=2"));
    all.addAll(List.of("--part", temp.resolve("eval.csv") + "=1"));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  @Test
  void splitByTimePutsLaterRowsIntoTheLastPart() throws IOException {
    Files.writeString(csv, "y,a,c\n1,30,red\n0,10,blue\n0,20,red\n");
    Result result = split(parts("--by", "time", "--column", "a"));
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("train.csv: wrote 2 rows\n", "eval.csv: wrote 1 rows\n");
    assertThat(Files.readAllLines(temp.resolve("train.csv"))).hasSize(3);
    assertThat(Files.readAllLines(temp.resolve("eval.csv")).get(1)).startsWith("1,30,");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-01-30T23:59:59Z, 2026-01-31T00:59:59+01:00, 2026-01-31",
    "1769848200001, 1769848200000, 1769848200002",
    "20260130, 20260129, 20260131"
  })
  void aSplitByTimeTellsMillisecondsOfAnyColumnApart(String one, String two, String last)
      throws IOException {
    Files.writeString(
        csv, "y,a,c,t\n1,30,red,%s\n0,10,blue,%s\n0,20,red,%s\n".formatted(last, one, two));
    Result result = split(parts("--by", "time", "--column", "t"));
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Files.readAllLines(temp.resolve("train.csv"))).hasSize(3);
    assertThat(Files.readAllLines(temp.resolve("eval.csv")).get(0)).isEqualTo("y,a,c,t");
    assertThat(Files.readAllLines(temp.resolve("eval.csv")).get(1)).startsWith("1,30,");
  }

  @Test
  void aFieldThatMeansNoValueHasNoTimeAndStopsTheSplitWhateverIsSkipped() throws IOException {
    Files.writeString(csv, "y,a,c,t\n1,3,red,5\n0,1,blue,NA\n0,2,red,7\n");
    String[] skipping = {
      "--by",
      "time",
      "--column",
      "t",
      "--set",
      "data.missing_values=NA",
      "--set",
      "data.bad_records=skip"
    };
    Result result = split(parts(skipping));
    assertThat(result.code()).isNotZero();
    assertThat(result.err())
        .contains("line 3", "got 0 values of column t, by which rows are split, expected one");
    assertThat(temp.resolve("train.csv")).doesNotExist();
  }

  @Test
  void splitByKeyKeepsTheRowsOfAKeyTogether() throws IOException {
    StringBuilder rows = new StringBuilder("y,a,c\n");
    for (int i = 0; i < 300; i++) {
      rows.append("0,").append(i).append(",k").append(i % 30).append('\n');
    }
    Files.writeString(csv, rows);
    Result result = split(parts("--by", "key", "--column", "c"));
    assertThat(result.code()).as(result.err()).isZero();
    List<String> train = Files.readAllLines(temp.resolve("train.csv"));
    List<String> eval = Files.readAllLines(temp.resolve("eval.csv"));
    assertThat(train.size() + eval.size()).isEqualTo(302);
    List<String> keys = train.stream().map(line -> line.substring(line.lastIndexOf(','))).toList();
    assertThat(eval.subList(1, eval.size()))
        .isNotEmpty()
        .noneMatch(line -> keys.contains(line.substring(line.lastIndexOf(','))));
  }

  @Test
  void splitCopiesLinesOfAnyFileWithoutAConfiguration() throws IOException {
    Files.writeString(csv, "rating,who,note\r\n5,u1,\"a, \"\"b\"\"\"\r\n4.50,,# no comment\r\n");
    String one = temp.resolve("1.csv").toString();
    String two = temp.resolve("2.csv.gz").toString();
    String[] all = {"data", "split", csv.toString(), "--part", one + "=1", "--part", two + "=1"};
    Result result = tern(all);
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.err()).isEmpty();
    String[] last = {"data", "split", two, "--part", temp.resolve("3.csv") + "=1"};
    assertThat(tern(last).code()).isZero();
    String head = "rating,who,note\r\n";
    String rows = Files.readString(Path.of(one)) + Files.readString(temp.resolve("3.csv"));
    assertThat(rows.replace(head, "")).hasSize(Files.readString(csv).length() - head.length());
    assertThat(rows).contains("5,u1,\"a, \"\"b\"\"\"\r\n", "4.50,,# no comment\r\n");
  }

  @Test
  void partsNamedForAnotherDelimiterAreConverted() throws IOException {
    String part = temp.resolve("part.tsv").toString();
    assertThat(split("--part", part + "=1").code()).isZero();
    assertThat(Files.readString(Path.of(part))).startsWith("y\ta\tc\n1\t0.5\t");
    Path tabs = temp.resolve("rows.txt");
    Files.writeString(tabs, "y\ta\tc\nyes\t1.0\t\n");
    String csvPart = temp.resolve("part.csv").toString();
    Result copied =
        tern(
            "data",
            "split",
            tabs.toString(),
            "--part",
            csvPart + "=1",
            "--format",
            "csv",
            "--set",
            "data.delimiter=tab");
    assertThat(copied.code()).as(copied.err()).isZero();
    assertThat(Files.readString(Path.of(csvPart))).isEqualTo("y\ta\tc\nyes\t1.0\t\n");
  }

  @ParameterizedTest
  @CsvSource({
    "norm, random, C, '--keys u32 --check none', 64, 'data.train='",
    "norm, key, slot0, '--keys u32', 69, 'data.train='",
    "raw, key, c, '--keys u32', 0, 'data.key_type=u32'",
    "raw, time, a, '--keys i64', 0, 'data.key_type=i64'",
    "libsvm, time, 1, '', 0, 'data.id_values=weight'",
    "libffm, key, 1, '', 0, 'data.train='"
  })
  void splitsOfEveryFormatHaveTheBytesOfTheirInput(
      String format, String by, String column, String form, int head, String read)
      throws IOException {
    Files.writeString(csv, "y,a,c\n1,30,7\n0,10,8\n0,20,7\n1,40,9\n");
    Path whole = temp.resolve("rows." + format);
    List<String> options = new ArrayList<>(List.of("--set", "data.sparse.encode=id"));
    options.addAll(form.isEmpty() ? List.of() : List.of(form.split(" ")));
    Result converted = convert(csv, whole, options.toArray(String[]::new));
    assertThat(converted.code()).as(converted.err()).isZero();
    List<String> all = new ArrayList<>(List.of("data", "split", whole.toString(), "--by", by));
    all.addAll(by.equals("random") ? List.of() : List.of("--column", column));
    Path one = temp.resolve("one." + format);
    Path two = temp.resolve("two." + format);
    all.addAll(List.of("--part", one + "=1", "--part", two + "=1"));
    if (format.equals("raw")) {
      all.addAll(List.of("--set", LABEL, "--set", DENSE, "--set", SPARSE));
    }
    if (!read.endsWith("train=")) {
      all.addAll(List.of("--set", read));
    }
    Result result = tern(all.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Files.size(one) + Files.size(two)).isEqualTo(Files.size(whole) + head);
  }

  @ParameterizedTest
  @CsvSource({"no, 12", "yes, 16"})
  void rawFilesWithoutLabelsAreSplitByTheirOwnSamples(String labelled, int sample)
      throws IOException {
    Path raw = temp.resolve("rows.raw");
    // Samples of 12 bytes, or with a label of 16: a number and an id of 8 bytes.
    byte[] bytes = new byte[48];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    Files.write(raw, bytes);
    String one = temp.resolve("one.raw").toString();
    String two = temp.resolve("two.raw").toString();
    Result result =
        tern(
            "data",
            "split",
            raw.toString(),
            "--part",
            one + "=1",
            "--part",
            two + "=1",
            "--set",
            LABEL,
            "--set",
            DENSE,
            "--set",
            SPARSE,
            "--set",
            "data.key_type=i64",
            "--set",
            "data.has_labels=" + labelled,
            "--seed",
            "3");
    assertThat(result.code()).as(result.err()).isZero();
    long first = Files.size(Path.of(one));
    assertThat(first % sample).isZero();
    assertThat(first + Files.size(Path.of(two))).isEqualTo(48);
    assertThat(
            result
                .out()
                .lines()
                .mapToLong(line -> Long.parseLong(line.replaceAll(".*wrote (\\d+) rows", "$1")))
                .sum())
        .isEqualTo(48 / sample);
  }

  @Test
  void theConfigurationOfTheInputReadsThePartsWhateverTheirNames() throws IOException {
    Path tabs = temp.resolve("rows.tsv");
    Files.writeString(tabs, "y\ta\tc\nyes\t1.0\t\n");
    Path config = temp.resolve("rows.yaml");
    Files.writeString(
        config, "data: {format: csv, delimiter: tab, label: {column: y, positive: [yes]}}\n");
    String part = temp.resolve("part.csv").toString();
    Result result =
        tern(
            "data", "split", tabs.toString(), "--config", config.toString(), "--part", part + "=1");
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(Files.readString(Path.of(part))).isEqualTo("y\ta\tc\nyes\t1.0\t\n");
  }

  @Test
  void splitKeepsAllColumnsOfParquet() throws IOException {
    Files.writeString(csv, "y,a,c\n1,30,7\n0,10,8\n0,20,7\n1,40,9\n");
    Path whole = temp.resolve("rows.parquet");
    assertThat(convert(csv, whole, "--set", "data.sparse.encode=id").code()).isZero();
    String one = temp.resolve("one.parquet").toString();
    String two = temp.resolve("two.parquet").toString();
    String[] time = {"--by", "time", "--column", "a", "--part", one + "=1", "--part", two + "=1"};
    List<String> all = new ArrayList<>(List.of("data", "split", whole.toString()));
    all.addAll(List.of(time));
    Result result = tern(all.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    Path back = temp.resolve("back.csv");
    assertThat(convert(Path.of(two), back, "--set", "data.sparse.encode=id").code()).isZero();
    assertThat(Files.readString(back)).isEqualTo("y,a,c\n1,30,7\n1,40,9\n");
    Result converted =
        tern(
            "data",
            "split",
            whole.toString(),
            "--part",
            one + "=1",
            "--keys",
            "u32",
            "--overwrite");
    assertThat(converted.err()).contains("got columns [y, a, c] but neither data.dense.columns");
  }

  @Test
  void aPatternIsSplitWithoutItsEmptyFilesAndEachFileOnce() throws IOException {
    Path folder = Files.createDirectories(temp.resolve("days/one")).getParent();
    Files.writeString(folder.resolve("0.csv"), "");
    Files.writeString(folder.resolve("1.csv"), "y,a,c\n1,2,red\n");
    Files.writeString(folder.resolve("one/2.csv"), "y,a,c\n0,3,blue\n");
    for (String pattern : List.of("*.csv", "**/*")) {
      String part = temp.resolve(pattern.length() + ".csv").toString();
      Result result =
          tern("data", "split", folder.resolve(pattern).toString(), "--part", part + "=1");
      assertThat(result.code()).as(result.err()).isZero();
      assertThat(result.out()).contains("wrote " + (pattern.equals("*.csv") ? 1 : 2) + " rows\n");
    }
  }

  @Test
  void splitNamesTheOptionThatConvertsNormFilesWithAndWithoutChecksums() throws IOException {
    Files.writeString(csv, "y,a,c\n1,2,red\n0,3,blue\n");
    Path folder = Files.createDirectories(temp.resolve("norms"));
    for (String check : List.of("none", "sum")) {
      Path norm = folder.resolve(check + ".norm");
      assertThat(convert(csv, norm, "--check", check).code()).isZero();
    }
    List<String> all = new ArrayList<>(List.of("data", "split", folder.resolve("*.norm") + ""));
    all.addAll(List.of("--part", temp.resolve("all.norm") + "=1"));
    assertThat(tern(all.toArray(String[]::new)).err())
        .contains("convert them by --check sum or none and --keys i64 or u32, or split them apart");
    all.addAll(List.of("--check", "sum", "--keys", "i64"));
    Result result = tern(all.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("all.norm: wrote 4 rows");
  }

  @Test
  void splitTellsOfCommentsThatItLeavesOut() throws IOException {
    Files.writeString(csv, "y,a,c\n# one\n1,2,\n# two\n");
    String part = temp.resolve("part.csv").toString();
    Result result = split("--part", part + "=1", "--set", "data.comment=#");
    assertThat(result.err()).isEqualTo("left out 2 lines of comments between records\n");
    assertThat(Files.readString(Path.of(part))).isEqualTo("y,a,c\n1,2,\n");
  }

  @Test
  void aFailedSplitLeavesNoFile() throws IOException {
    Files.writeString(csv, "y,a,c\n1,3,red\n1,x\n");
    Result result = split(parts());
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains(csv.toString()).doesNotContain("\tat ");
    try (Stream<Path> files = Files.list(temp)) {
      assertThat(files).containsExactly(csv);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "train.csv, '--part: got train.csv, expected a file and its share'",
    "train.csv=0, '--part: got train.csv=0, expected a file and its share'",
    "train.csv=many, '--part: got train.csv=many, expected a file and its share'",
    "train=1, 'train: got a name that tells no format'",
    "a.txt=1, '.raw or .parquet; give the format by --to'"
  })
  void aPartWithoutAShareIsRefused(String part, String message) {
    Result result = split("--part", part);
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains(message);
  }

  @Test
  void aColumnThatLibffmCannotHaveIsRefusedByItsOption() throws IOException {
    Path rows = Files.writeString(temp.resolve("x.libffm"), "1 0:1:1 3:17:0.5\n0 0:2:1\n");
    for (String way : List.of("key", "time")) {
      List<String> all = new ArrayList<>(List.of("data", "split", rows.toString(), "--by", way));
      all.addAll(List.of("--part", temp.resolve("one.libffm") + "=1", "--column"));
      for (String column : List.of("foo", "3:", "foo:17", ":17")) {
        all.add(column);
        Result result = tern(all.toArray(String[]::new));
        all.removeLast();
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err())
            .contains(
                "--column: got "
                    + column
                    + ", expected a field's number or name (data.columns), or a feature such as"
                    + " 3:17; give one");
      }
      all.add("3:17");
      assertThat(tern(all.toArray(String[]::new)).code()).isZero();
      Files.delete(temp.resolve("one.libffm"));
    }
  }

  @Test
  void theHelpOfSplitBreaksLinesWhereTheyAreFull() {
    List<String> lines = tern("data", "split", "--help").out().lines().toList();
    List<String> about =
        lines.stream()
            .dropWhile(line -> !line.startsWith("Rows are copied"))
            .takeWhile(line -> !line.startsWith("      DATA..."))
            .toList();
    assertThat(about).hasSizeGreaterThan(3);
    assertThat(about.subList(0, about.size() - 1)).allMatch(line -> line.length() > 60);
    assertThat(lines).noneMatch(line -> line.startsWith(" ".repeat(26) + "rows are converted"));
  }

  @Test
  void wrongWaysToSplitAreRefused() {
    String file = temp.resolve("train.csv").toString();
    assertThat(split("--part", file + "=1", "--part", file + "=2").err())
        .contains("--part: got a file twice");
    assertThat(split("--part", csv + "=1", "--overwrite").err())
        .contains("got a file to write that is an input");
    assertThat(split(parts("--by", "luck")).err())
        .contains("--by: got luck, expected random, key or time");
    assertThat(split(parts("--column", "c")).err()).contains("--column: got one with --by random");
    assertThat(split(parts("--by", "time", "--column", "c")).err())
        .contains("column c: got \"red\", expected a number or a time such as 2026-01-31T08:30");
    assertThat(split(parts("--to", "word")).err())
        .contains("got the format word, expected csv, libsvm");
    assertThat(split(parts("--to", "parquet", "--hugectr")).err())
        .contains("--part: got files of one folder with --hugectr");
    assertThat(split(parts("--by", "key")).err()).contains("--by: got key without a column");
    assertThat(split(parts("--by", "key", "--column", "a", "--to", "norm")).err())
        .contains("split: got the column a, expected one of the slots [c]");
  }

  @Test
  void splittingSaysHowManyBadRecordsWereLeftOut() throws IOException {
    Files.writeString(csv, "y,a,c\n1,3,red,4\n0,1,blue\n7,\n0,3,red\nno label,4,\n");
    String note = "left out 2 rows for 2 faults, the first: " + csv + ": line 2";
    for (String by : List.of("random", "time")) {
      String[] column = by.equals("time") ? new String[] {"--column", "a"} : new String[0];
      List<String> more = new ArrayList<>(List.of("--by", by, "--overwrite"));
      more.addAll(List.of("--set", "data.bad_records=skip"));
      more.addAll(List.of(column));
      Result result = split(parts(more.toArray(String[]::new)));
      assertThat(result.code()).as(result.err()).isZero();
      assertThat(result.err()).containsOnlyOnce("left out").contains(note);
      String all =
          Files.readString(temp.resolve("train.csv")) + Files.readString(temp.resolve("eval.csv"));
      assertThat(all).contains("0,1,blue\n", "0,3,red\n", "no label,4,\n").hasSize(12 + 29);
    }
  }
}
