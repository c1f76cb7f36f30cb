package dev.tern.files.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of CSV that hold the names of columns where a row should be, labels that are none. */
final class CsvNamesTest {
  private static final CsvOptions CSV = CsvOptions.csv();
  private static final Columns NUMBERS =
      new Columns(List.of("y"), Set.of(), List.of("x"), List.of(SparseColumn.text("c")));
  private static final Columns TEXTS =
      new Columns(List.of("y"), Set.of("yes"), List.of(), List.of(SparseColumn.text("c")));

  @TempDir Path folder;

  private DataReader open(String text, CsvOptions options, Columns columns, ReadPolicy policy) {
    try {
      Path file = Files.writeString(folder.resolve("in.csv"), text);
      return CsvReader.open(List.of(file), options, columns, policy);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private List<Rows.Row> read(String text, CsvOptions options, Columns columns) {
    try (DataReader reader = open(text, options, columns, ReadPolicy.STRICT)) {
      return Rows.read(reader);
    }
  }

  private void assertFault(String text, CsvOptions options, Columns columns, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(text, options, columns))
        .satisfies(e -> assertThat(e.getMessage()).contains("in.csv").contains(parts));
  }

  @Test
  void aLineOfNamesBesideAListOfThemIsAFaultThatNamesTheKeys() {
    CsvOptions listed = CSV.withHeader(List.of("y", "x", "c"));
    assertFault(
        "y,x,c\n1,2,a\n",
        listed,
        NUMBERS,
        "line 1",
        "names of the columns",
        "data.columns",
        "data.skip_lines: 1");
    assertFault("Y,X,C\n1,2,a\n", listed, NUMBERS, "line 1", "got the names of the columns,");
    CsvOptions skipping = listed.withText(TextOptions.DEFAULT.withSkippedLines(2));
    assertFault("#\n#\ny,x,c\n1,2,a\n", skipping, NUMBERS, "line 3", "data.skip_lines: 3");
    assertFault(
        "label,count,city\n1,2,a\n",
        listed,
        NUMBERS,
        "line 1",
        "got label \"label\"",
        "if the line holds names of columns",
        "data.skip_lines: 1");
    assertFault("1,2,a\nz,2,a\n", listed, NUMBERS, "line 2", "got label \"z\"");
    assertThat(read("1,2,a\n", listed, NUMBERS)).hasSize(1);
  }

  @Test
  void aLineOfNamesIsNoRowWhereLabelsAreTexts() {
    CsvOptions listed = CSV.withHeader(List.of("y", "c"));
    assertFault("y,c\nyes,a\n", listed, TEXTS, "line 1", "the names of the columns,");
    assertFault("y,c\nyes,a\ny,c\nno,b\n", CSV, TEXTS, "line 3", "names of the columns again");
  }

  @Test
  void namesAgainWhereFilesWereJoinedAreAFaultThatSaysSo() {
    assertFault(
        "y,x,c\n1,2,a\n\ufeffy,x,c\n0,3,b\n", CSV, NUMBERS, "line 3", "again", "joined files");
    SkippedRecords skipped = new SkippedRecords(10);
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(skipped);
    try (DataReader reader = open("y,x,c\n1,2,a\ny,x,c\n0,3,b\n", CSV, NUMBERS, policy)) {
      assertThat(Rows.read(reader)).hasSize(2);
    }
    assertThat(skipped.count()).isEqualTo(1);
  }

  @Test
  void aRowThatHoldsSomeNamesIsARow() {
    assertThat(read("y,c\nyes,c\ny,a\nc,y\n", CSV, TEXTS)).hasSize(3);
    Columns words = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.text("word")));
    assertThat(read("word\na\nword\n", CSV, words)).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "  "})
  void anEmptyLabelIsAFaultAndNoNegativeOne(String label) {
    assertFault("c,y\na,yes\nb," + label + "\n", CSV, TEXTS, "line 3", "column y", "got no label");
    assertFault(
        "c,y,x\na,1,2\nb," + label + ",3\n", CSV, NUMBERS, "line 3", "column y", "got no label");
  }

  @Test
  void anEmptyLabelInQuotesIsATextLikeAnyOther() {
    List<Rows.Row> rows = read("c,y\na,yes\nb,\"\"\n", CSV, TEXTS);
    assertThat(rows).extracting(row -> row.labels().getFirst()).containsExactly(1f, 0f);
    Columns positive =
        new Columns(List.of("y"), Set.of(""), List.of(), List.of(SparseColumn.text("c")));
    assertThat(read("c,y\na,\"\"\n", CSV, positive).getFirst().labels()).containsExactly(1f);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '!',
      value = {
        "y,x,c\\n1,2,a,\\n ! 4 fields, expected 3; it ends with a delimiter",
        "y,x,c\\n1,2,a\\r0,3,b\\n ! holds \\r, with which old Macs end lines",
        "'y,\"x \",c\\n1,2,a\\n' ! did you mean \"x \"? A list in YAML can say so: [\"name \"]",
        "y,x,c\\n1,2,a,b\\n ! 4 fields, expected 3; mend the line or check the delimiter",
        "y;x;c\\n1;2;a\\n ! data.delimiter",
        "Report\\n\\ny,x,c\\n1,2,a\\n ! data.skip_lines",
        "sep=;\\ny;x;c\\n ! data.skip_lines: 1, and data.delimiter",
        "'sep=,\\ny,x,c\\n' ! data.skip_lines: 1",
        "y,x,c\\n1,'\"2,5\"',a\\n ! decimal point",
        "y,x,c\\n1,N/A,a\\n ! data.missing_values",
        "y,x,c\\n1,null,a\\n ! data.missing_values",
        "y,x,c\\n1,cheap,a\\n ! mend it, or make the column sparse",
      })
  void adviceNamesWhatHelps(String text, String advice) {
    assertFault(text.translateEscapes().replace("'", ""), CSV, NUMBERS, advice);
  }

  @Test
  void bytesOfZeroAtTheEndOfAFileAreNamed() {
    String rows = "y,x,c\n" + "1,2,a\n".repeat(100);
    assertFault(rows + "\0\0\0", CSV, NUMBERS, "line 102", "1 fields", "bytes of 0");
  }

  @Test
  void namesThatAreNoUtf8AdviseOnTheEncoding() throws IOException {
    Path file = folder.resolve("in.csv");
    Files.write(file, "y,caf\u00e9\n1,2\n".getBytes(StandardCharsets.ISO_8859_1));
    Columns columns = new Columns(List.of("y"), Set.of(), List.of("caf\u00e9"), List.of());
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> CsvReader.open(List.of(file), CSV, columns))
        .withMessageContaining("data.encoding");
  }

  @Test
  void rowsOverSeveralLinesAreTold() {
    List<String> told = new ArrayList<>();
    Faults faults =
        new Faults() {
          @Override
          public void report(DataException fault) {
            throw fault;
          }

          @Override
          public void tookLines(Path file, long first, long last) {
            told.add(file.getFileName() + " " + first + "-" + last);
          }
        };
    String text = "y,x,c\n1,3,\"5-inch\n0,4,a\n1,5,7\"\n0,1,b\n0,1,\"c\"\n0,1,\"d\r\n\"\n";
    try (DataReader reader = open(text, CSV, NUMBERS, ReadPolicy.STRICT.withFaults(faults))) {
      assertThat(Rows.read(reader)).hasSize(4);
    }
    assertThat(told).containsExactly("in.csv 2-4", "in.csv 7-8");
  }
}
