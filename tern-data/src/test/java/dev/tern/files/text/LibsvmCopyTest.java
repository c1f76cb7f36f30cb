package dev.tern.files.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.files.Columns;
import dev.tern.files.DataSplit;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LibsvmCopyTest {
  private static final double[] HALVES = {1, 1};
  private static final LibsvmOptions LIBSVM = LibsvmOptions.libsvm();

  private static final Columns NO_KEY = Columns.ofKey(Optional.empty(), Set.of());

  @TempDir Path temp;
  private List<Path> parts = List.of();

  @BeforeEach
  void nameParts() {
    parts = List.of(temp.resolve("p1.svm"), temp.resolve("p2.svm"));
  }

  private Path file(String name, String text) throws IOException {
    return Files.writeString(temp.resolve(name), text);
  }

  private static Columns key(SparseColumn column) {
    return Columns.ofKey(Optional.of(column), Set.of("NA"));
  }

  private RecordCopy open(Path file, LibsvmOptions options, Columns key, List<Path> to) {
    return LibsvmReader.copy(List.of(file), options, key, ReadPolicy.STRICT, to);
  }

  private List<String> byTime(Path file, LibsvmOptions options, String column) throws IOException {
    Columns key = key(SparseColumn.time(column));
    DataSplit split;
    try (RecordCopy times = open(file, options, key, List.of())) {
      split = DataSplit.byTime(HALVES, times, done -> {});
    }
    try (RecordCopy records = open(file, options, key, parts)) {
      split.copy(records, done -> {});
    }
    return texts();
  }

  private List<String> byKey(Path file, LibsvmOptions options, String column) throws IOException {
    Columns key = key(SparseColumn.text(column));
    try (RecordCopy records = open(file, options, key, parts)) {
      DataSplit.byKey(HALVES, 1, records.schema(), column).copy(records, done -> {});
    }
    return texts();
  }

  private List<String> texts() throws IOException {
    List<String> texts = new ArrayList<>();
    for (Path part : parts) {
      texts.add(Files.readString(part));
    }
    return texts;
  }

  @Test
  void linesKeepWeightsQueriesSpacesAndComments() throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      lines.add(
          switch (i % 4) {
            case 0 -> "+1  qid:" + i + " 3:0.50 7:1e3 # user " + i + "\r\n";
            case 1 -> " -1\t1:1 2:" + i + "\n";
            case 2 -> i + " 18446744073709551615:1.0\n";
            default -> "5 1:x" + i + " y\n";
          });
    }
    Path file = file("a.svm", "first\n" + String.join("", lines));
    TextOptions skipping = TextOptions.DEFAULT.withSkippedLines(1);
    try (RecordCopy records = open(file, LIBSVM.withText(skipping), NO_KEY, parts)) {
      DataSplit.atRandom(HALVES, 1).copy(records, done -> {});
    }
    List<String> texts = texts();
    assertThat(texts).allMatch(text -> text.startsWith("first\n") && text.length() > 1000);
    int[] at = {6, 6};
    for (String line : lines) {
      int part = texts.get(0).startsWith(line, at[0]) ? 0 : 1;
      assertThat(texts.get(part)).startsWith(texts.get(part).substring(0, at[part]) + line);
      at[part] += line.length();
    }
    assertThat(at[0] + at[1]).isEqualTo(texts.get(0).length() + texts.get(1).length());
  }

  @ParameterizedTest
  @CsvSource({
    "qid, 874724711, 874724710",
    "2, 874724710.5, 874724710.25",
    "2, 2026-01-31T08:30:00Z, 2026-01-31T08:29:59.999Z",
  })
  void linesAreSplitByTheTimesOfAQueryOrFeature(String column, String late, String early)
      throws IOException {
    String form = column.equals("qid") ? "1 qid:%s 1:1\n" : "x 1:1 2:%s 3:y # 2:0\n";
    Path file = file("a.svm", form.formatted(late) + form.formatted(early));
    assertThat(byTime(file, LIBSVM, column))
        .containsExactly(form.formatted(early), form.formatted(late));
  }

  @Test
  void linesOfFieldsAreSplitByTheIdOfAFieldOrTheValueOfAFeature() throws IOException {
    Path file = file("a.ffm", "1 0:20:1 3:7:0.5\n0 0:19:1 3:7:0.75\n");
    assertThat(byTime(file, LibsvmOptions.libffm(), "0"))
        .containsExactly("0 0:19:1 3:7:0.75\n", "1 0:20:1 3:7:0.5\n");
    assertThat(byTime(file, LibsvmOptions.libffm().withNames(List.of("a", "b", "c", "d")), "d:7"))
        .containsExactly("1 0:20:1 3:7:0.5\n", "0 0:19:1 3:7:0.75\n");
    assertThat(byTime(file, LibsvmOptions.libffm().withNames(List.of("day")), "day").getFirst())
        .startsWith("0 ");
  }

  @ParameterizedTest
  @CsvSource({"qid", "5", "all"})
  void linesOfOneKeyStayTogether(String column) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 60; i++) {
      int key = i % 6;
      text.append(
          switch (column) {
            case "qid" -> "1 qid:" + key + " 5:" + i + "\n";
            case "5" -> i + " 4:" + i + " 5:" + key + "\n";
            default -> "1 " + key + ":1 9:0\n";
          });
    }
    List<String> texts = byKey(file("a.svm", text.toString()), LIBSVM, column);
    assertThat(texts).noneMatch(String::isEmpty);
    for (int key = 0; key < 6; key++) {
      String shown =
          switch (column) {
            case "qid" -> "qid:" + key;
            case "5" -> " 5:" + key;
            default -> "1 " + key + ":1";
          };
      assertThat(texts.get(0).contains(shown)).isNotEqualTo(texts.get(1).contains(shown));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "2, '1 2:NA', 'a.svm: line 2, byte 4: got 0 values of column 2, by which rows are split'",
    "features, '1 1:0', 'a.svm: line 2, byte 4: got 0 values of column features, by which rows'",
    "qid, '1 1:1', 'a.svm: line 2, byte 6: got 0 values of column qid, by which rows are split'",
    "2, '1 2:soon', 'a.svm: line 2, byte 8, column 2: got \"soon\", expected a number as in the'",
    "qid, '1 qid:x', 'a.svm: line 2, byte 8: got \"qid:x\", expected qid:number or feature:value'",
    "2, '1 1:1 2', 'a.svm: line 2, byte 10: got \"2\", expected feature:value'",
    "2, '', 'a.svm: line 2, byte 5: got an empty line'",
  })
  void aLineWithoutTheTimeIsAnErrorThatNamesIt(String column, String line, String message)
      throws IOException {
    Path file = file("a.svm", "2:1\n" + line + "\n2:3\n");
    if (column.equals("qid")) {
      Files.writeString(file, "qid:1\n" + line + "\n");
    }
    assertThatThrownBy(() -> byTime(file, LIBSVM, column))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(message);
    assertThat(parts).noneMatch(Files::exists);
  }

  @Test
  void aFeatureThatALineLacksHasTheTime0() throws IOException {
    Path file = file("a.svm", "1 2:1.5\n0 1:1 # 2:7\n1 2:-3\n");
    assertThat(byTime(file, LIBSVM, "2")).containsExactly("1 2:-3\n", "1 2:1.5\n0 1:1 # 2:7\n");
    Path fields = file("a.ffm", "1 3:17:5\n0 3:18:1\n");
    assertThat(byTime(fields, LibsvmOptions.libffm(), "3:17"))
        .containsExactly("0 3:18:1\n", "1 3:17:5\n");
    Path days = file("b.svm", "1 2:2026-01-31\n0 1:1\n");
    assertThatThrownBy(() -> byTime(days, LIBSVM, "2"))
        .hasMessage(
            days
                + ": line 2, byte 20, column 2: got no such feature, which is 0, expected a time as"
                + " in the rows before, such as 2026-01-31T08:30:00Z; mend it");
  }

  @ParameterizedTest
  @CsvSource({
    "2:0.5, 2:5e-1 2:.50 2:+0.5 2:0.500000",
    "2:7, 2:7.0 2:+7 2:07 2:0.7e1 2:70e-1",
    "2:0, 1:3 2:-0 2:0.0 3:1 2:0e9",
    "2:NA, 2:NA 2:NA",
    "2:-123456789012, 2:-123456789012.0 2:-1.23456789012e11",
  })
  void aValueIsOneKeyHoweverItIsWrittenAnd0WhereALineLacksIt(String one, String same)
      throws IOException {
    String lines = "1 " + one + "\n1 " + String.join("\n1 ", same.split(" ")) + "\n";
    Path file = file("a.svm", lines);
    for (long seed = 0; seed < 20; seed++) {
      try (RecordCopy records = open(file, LIBSVM, key(SparseColumn.text("2")), parts)) {
        DataSplit.byKey(HALVES, seed, records.schema(), "2").copy(records, done -> {});
      }
      assertThat(texts()).containsExactlyInAnyOrder(lines, "");
    }
  }

  @Test
  void numbersCloseToEachOtherAreKeysOfTheirOwn() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      lines.append("1 2:").append(900_000_000_000_000_000L + i).append('\n');
      lines.append("1 2:874724710.").append(10 + i).append('\n');
    }
    for (String text : byKey(file("a.svm", lines.toString()), LIBSVM, "2")) {
      assertThat(text).contains("2:9000000000000000", "2:874724710.");
    }
  }

  @Test
  void commentsAndEmptyLinesAreLeftOutAndCounted() throws IOException {
    Path file = file("a.svm", "# head\n1 1:1\n\n# more\n0 2:1\n\n");
    SkippedRecords skipped = new SkippedRecords(1);
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(skipped);
    try (RecordCopy records = LibsvmReader.copy(List.of(file), LIBSVM, NO_KEY, policy, parts)) {
      DataSplit.atRandom(HALVES, 1).copy(records, done -> {});
      assertThat(records.notes()).containsExactly("left out 2 lines of comments between records");
    }
    assertThat(skipped.count()).isEqualTo(1);
    assertThat(String.join("", texts())).contains("1 1:1\n", "0 2:1\n").hasSize(12);
  }

  @Test
  void aKeyThatTheNotationCannotHaveIsRefused() throws IOException {
    Path file = file("a.ffm", "1 0:20:1\n");
    assertThatThrownBy(() -> byKey(file, LibsvmOptions.libffm(), "user"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("libffm: got the column user, expected");
  }
}
