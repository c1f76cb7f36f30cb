package dev.tern.cli;

import static dev.tern.cli.MainTest.tern;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.cli.MainTest.Result;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What commands print of users' texts: nothing that a terminal obeys or does not show. */
final class MessagesTest {
  private static final String ODD = "\u001b[2J\u202e\u00a0\ufeff";

  @TempDir Path folder;

  private Path file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  private static Result data(String command, Path file, String... keys) {
    List<String> all = new ArrayList<>(List.of("data", command, file.toString()));
    for (String key : keys) {
      all.addAll(key.startsWith("-") ? List.of(key.split(" ")) : List.of("--set", key));
    }
    return tern(all.toArray(String[]::new));
  }

  private static String[] keys(String label, String dense) {
    return new String[] {"data.label.column=" + label, "data.dense.columns=" + dense};
  }

  /** The lines of a result, each without odd characters and of at most 2 KB. */
  private static String clean(Result result) {
    String all = result.out() + result.err();
    for (String line : all.split("\n")) {
      assertThat(line.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(2048);
      assertThat(line).doesNotContainPattern("[\\p{Cc}\\p{Cf}\\p{Co}\\p{Zl}\\p{Zp}\u00a0]");
    }
    return all;
  }

  @Test
  void oddCharactersOfCellsNamesPathsAndArgumentsStandByTheirCodes() throws IOException {
    Path cells = file("cells.csv", "y,a\n1," + ODD + "\n");
    assertThat(clean(data("verify", cells, keys("y", "a"))))
        .contains("line 2", "\\u001b[2J\\u202e");
    assertThat(clean(data("inspect", cells))).contains("\\u001b[2J\\u202e");
    Path names = file("names.csv", "y," + ODD + "\n1,2\n");
    assertThat(clean(data("verify", names, keys("y", "a")))).contains("\\u001b[2J");
    assertThat(clean(data("inspect", names))).contains("\\u001b[2J");
    assertThat(clean(data("inspect", names, "data.label.column=y", "data.dense.columns=" + ODD)))
        .contains("\\u001b");
    assertThat(clean(data("inspect", cells, "data.format=" + ODD))).contains("\\ufeff");
    assertThat(clean(data("inspect", cells, "data." + ODD + "=1"))).contains("\\ufeff");
    assertThat(clean(tern("data", ODD))).contains("\\u001b");
    Path yaml = file("x.yaml", "data:\n  \u202edata\u00a0: 1\n");
    assertThat(clean(tern("train", yaml.toString()))).contains("\\u202e");
  }

  @Test
  void oddCharactersOfPathsStandByTheirCodes() throws IOException {
    Path odd = file("a\u001b[2J\u00a0.csv", "y,a\n1,2\n0,3\n");
    assertThat(clean(data("verify", odd, keys("y", "b")))).contains("a\\u001b[2J\\u00a0.csv");
    Path out = folder.resolve("out\u001b[2J.csv");
    assertThat(
            clean(
                data(
                    "convert", odd, "data.label.column=y", "data.dense.columns=a", "--out " + out)))
        .contains("out\\u001b[2J.csv");
    Path missing = folder.resolve("none\u202e.csv");
    assertThat(clean(data("verify", missing, keys("y", "a")))).contains("none\\u202e.csv");
  }

  @ParameterizedTest
  @ValueSource(strings = {" x", "x ", "x\u00a0", "x\u001b"})
  void oddPathsStandInQuotesOnBothStreams(String name) throws IOException {
    String[] keys = {"--format csv", "data.label.column=y", "data.dense.columns=a"};
    Path odd = file(name, "y,a\n1,2\n0,b\n1,3\n");
    String shown =
        folder.resolve(name).toString().replace("\u00a0", "\\u00a0").replace("\u001b", "\\u001b");
    assertThat(clean(data("verify", odd, keys))).contains('"' + shown + "\": line 3, byte ");
    Files.delete(odd);
    assertThat(clean(data("verify", odd, keys))).contains('"' + shown + "\": got no such file");
  }

  @Test
  void listsOfFiftyThousandNamesAreShortened() throws IOException {
    String names =
        IntStream.range(0, 50_000).mapToObj(i -> "c" + i).collect(Collectors.joining(","));
    Path wide = file("wide.csv", "y," + names + "\n");
    assertThat(clean(data("verify", wide, keys("y", "a"))))
        .contains("no column a", "c18, and 49,981 more", "check its name");
    assertThat(clean(data("verify", wide))).contains("49,981 more", "name them");
    Path yaml =
        file(
            "x.yaml",
            "data:\n  format: csv\n  train: wide.csv\n  columns: [y, %s]\n".formatted(names)
                + "  label: {column: y}\n  dense: {columns: [elsewhere]}\n");
    assertThat(
            clean(tern("train", yaml.toString(), "--set", "model.type=lr", "--set", "run.dir=r")))
        .contains("elsewhere", "49,981 more");
    Path svm = file("x.svm", "1 1:2\n");
    assertThat(clean(data("verify", svm, "data.columns=" + names, "data.dense.columns=elsewhere")))
        .contains("elsewhere", "49,980 more");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "y\\ta\\n1\\t2 | its first line holds \"\\t\", which the delimiter (data.delimiter) may be",
        "y;a\\n1;2 | its first line holds \";\"",
        "y,A \\n1,2 | did you mean \"A\"?",
        "y,<a\\n1,2 | did you mean \"\\u00a0a\"?",
        "sep=;\\ny;a | a note of Excel",
      })
  void aNameThatIsNotThereComesWithWhatMayHelp(String text, String hint) throws IOException {
    Path file = file("x.csv", text.translateEscapes().replace('<', '\u00a0'));
    assertThat(clean(data("verify", file, keys("y", "a")))).contains(hint);
  }

  @Test
  void linesOfOtherDelimitersGetTheKeysThatHelp() throws IOException {
    Path semicolons = file("x.txt", "y;a\n1;2\n");
    assertThat(clean(data("verify", semicolons, keys("y", "a"))))
        .contains("give --format, and data.delimiter");
    String[] told = {
      "--format csv", "data.label.column=y", "data.dense.columns=a", "data.delimiter=;"
    };
    assertThat(clean(data("verify", semicolons, told))).contains("1 good rows, 0 faults");
    assertThat(clean(data("inspect", file("r.csv", "Report\n\ny,a\n1,2\n"))))
        .contains("one column: data.delimiter", "data.skip_lines");
    assertThat(clean(data("inspect", file("i.csv", ",y\n0,1\n")))).contains("\"\"  ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u22125", "\uff15", "5\u00a0", "\u06f5", "5\u200b", "1\u0435" + "5"})
  void aNumberThatOnlyLooksLikeOneIsShownByCodes(String text) throws IOException {
    Path file = file("x.csv", "y,a\n1," + text + "\n");
    assertThat(clean(data("verify", file, keys("y", "a"))))
        .doesNotContain(text)
        .containsPattern("got \"[5\\\\1]*u[0-9a-f]{4}5?\", expected a number");
  }

  @Test
  void rowsOverSeveralLinesAreCountedAndTheLongestNamed() throws IOException {
    Path file = file("x.csv", "y,a\n1,\"2\n\"\n0,3\n1,\"4\n\n\"\n");
    String[] keys = {"data.label.column=y", "data.sparse.columns=a"};
    assertThat(clean(data("verify", file, keys)))
        .contains("3 good rows, 0 faults")
        .contains("rows over several lines: 2, the longest " + file + " lines 5 to 7");
    assertThat(clean(data("inspect", file, keys)))
        .contains("rows over several lines: 2, the longest " + file + " lines 5 to 7");
    assertThat(clean(data("verify", file("y.csv", "y,a\n1,2\n"), keys)))
        .doesNotContain("several lines");
  }

  @Test
  void bytesThatAreNoUtf8StandByTheirCodes() throws IOException {
    Path file =
        Files.write(
            folder.resolve("x.csv"), "y,a\n1,caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1));
    assertThat(clean(data("verify", file, keys("y", "a")))).contains("got \"caf\\xE9\"");
  }
}
