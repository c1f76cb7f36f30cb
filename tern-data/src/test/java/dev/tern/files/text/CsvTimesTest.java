package dev.tern.files.text;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns of times, and what is named by a part of them. */
final class CsvTimesTest {
  @TempDir Path folder;

  private List<Rows.Row> read(Columns columns, String... texts) throws IOException {
    List<Path> files = new ArrayList<>();
    for (String text : texts) {
      files.add(Files.writeString(folder.resolve("t" + files.size() + ".csv"), text));
    }
    try (DataReader reader = CsvReader.open(files, CsvOptions.csv(), columns)) {
      return Rows.read(reader);
    }
  }

  private static Columns columns(List<String> dense, SparseColumn... sparse) {
    return new Columns(List.of("y"), Set.of(), dense, List.of(sparse));
  }

  private static Columns order() {
    return columns(List.of(), SparseColumn.time("t"));
  }

  private List<Long> order(String... texts) throws IOException {
    return read(order(), texts).stream().map(row -> row.ids().getFirst().getFirst()).toList();
  }

  @Test
  void partsOfTimesAreNumbersAndIds() throws IOException {
    Columns columns =
        columns(
            List.of("x", "t@days", "t@year"),
            SparseColumn.id("t@hour"),
            SparseColumn.id("i"),
            SparseColumn.text("t@weekday"));
    assertThat(
            read(
                columns,
                """
                y,t,i,x
                1,1970-01-02T18:30:00Z,7,0.5
                0,"1970-01-03 01:00:00+01:00",8,1.5
                0,,9,2.5
                """))
        .containsExactly(
            row(
                1,
                List.of(0.5f, (86_400 + 18.5f * 3_600) / 86_400, 1970f),
                List.of(List.of(18L), List.of(7L), List.of(TextHash.of("5")))),
            row(
                0,
                List.of(1.5f, 2f, 1970f),
                List.of(List.of(0L), List.of(8L), List.of(TextHash.of("6")))),
            row(
                0,
                List.of(2.5f, Float.NaN, Float.NaN),
                List.of(List.of(), List.of(9L), List.of(TextHash.EMPTY))));
  }

  @Test
  void aColumnOfTheVeryNameIsNoPart() throws IOException {
    Columns columns = columns(List.of("t@days"), SparseColumn.id("t@hour"));
    assertThat(read(columns, "y,t,t@hour,t@days\n1,2026-01-31,77,0.5\n"))
        .containsExactly(row(1, List.of(0.5f), List.of(List.of(77L))));
  }

  @Test
  void theDictionaryKnowsTheTextsOfParts() throws IOException {
    TextDictionary dictionary = new TextDictionary();
    Columns columns = columns(List.of(), SparseColumn.text("t@hour"));
    Path file = Files.writeString(folder.resolve("t.csv"), "y,t\n1,2026-01-31T08:30\n0,\n");
    try (DataReader reader =
        CsvReader.open(List.of(file), CsvOptions.csv(), columns, ReadPolicy.STRICT, dictionary)) {
      Rows.read(reader);
    }
    assertThat(dictionary.text(TextHash.of("8"))).contains("8");
    assertThat(dictionary.text(TextHash.EMPTY)).contains("");
  }

  @ParameterizedTest
  @ValueSource(strings = {"yesterday", "2026-02-30", "2026-01-31T25:00", "20261301"})
  void whatIsNoTimeIsAFaultThatNamesThePlace(String text) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(columns(List.of("t@days")), "y,t\n1,2026-01-31\n0," + text + "\n"))
        .withMessageContainingAll(
            "t0.csv: line 3, byte", "column t@days: got \"" + text + "\", expected a time such as");
  }

  @Test
  void aTimeInThePlaceOfANumberSaysHowToNameIt() {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(columns(List.of("t")), "y,t\n1,2026-01-31\n"))
        .withMessageContaining("it is a time: name the column t@days, or t@hour and t@weekday");
  }

  @Test
  void aPartOfAColumnThatIsNotThereNamesTheColumn() {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(columns(List.of("when@days")), "y,t\n1,2026-01-31\n"))
        .withMessageContaining("got no column when");
  }

  @Test
  void orderIsThatOfTheNumbers() throws IOException {
    assertThat(order("y,t\n0,-1e300\n0,-5\n0,-0.5\n0,0\n0,1e-300\n0,7\n0,7.5\n", "y,t\n0,1e19\n"))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(order("y,t\n0,-0.0\n0,0\n0,+0\n")).containsOnly(0L);
  }

  @Test
  void numbersAMillisecondApartDiffer() throws IOException {
    assertThat(order("y,t\n0,1769848200123\n0,1769848200124\n0,1769848200124.5\n"))
        .isSorted()
        .doesNotHaveDuplicates();
  }

  @Test
  void orderOfTimesIsThatOfTheirInstants() throws IOException {
    assertThat(
            order(
                """
                y,t
                0,2026-01-31T01:00:00+02:00
                0,2026-01-30T23:00:00.000001Z
                0,"2026-01-30 23:00:01"
                0,2026-01-31
                """))
        .isSorted()
        .doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(strings = {"2026-01-31", "soon", "nan", "inf"})
  void whatDoesNotCompareWithNumbersIsAFault(String text) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> order("y,t\n0,5\n", "y,t\n0," + text + "\n"))
        .withMessageContaining("t1.csv: line 2")
        .withMessageContaining("got \"" + text + "\", expected a number as in the rows before");
  }

  @Test
  void aNumberAmongTimesIsAFault() {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> order("y,t\n0,2026-01-31\n0,5\n"))
        .withMessageContaining("got \"5\", expected a time as in the rows before");
  }

  private static Columns instants() {
    return columns(List.of(), SparseColumn.instant("t"));
  }

  @Test
  void instantsAreMicroseconds() throws IOException {
    String rows =
        """
        y,t
        0,1970-01-01T00:00:01.5Z
        0,2026-01-31
        0,1769817600
        0,1769817600123
        0,1969-12-31T23:59:59.999999
        """;
    assertThat(read(instants(), rows).stream().map(row -> row.ids().getFirst().getFirst()))
        .containsExactly(
            1_500_000L,
            1_769_817_600_000_000L,
            1_769_817_600_000_000L,
            1_769_817_600_123_000L,
            -1L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\"\"", "NA", "yesterday", "2026-02-30", "nan", "1e40"})
  void aRowWithoutAnInstantIsAFaultThatNamesThePlace(String text) {
    Columns marked =
        new Columns(
            List.of("y"), Set.of(), List.of(), List.of(SparseColumn.instant("t")), Set.of("NA"));
    for (Columns columns : List.of(instants(), marked)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> read(columns, "y,t\n1,2026-01-31\n0," + text + "\n"))
          .withMessageContainingAll(
              "t0.csv: line 3, byte", "column t@microseconds: got \"", "expected a time such as");
    }
  }
}
