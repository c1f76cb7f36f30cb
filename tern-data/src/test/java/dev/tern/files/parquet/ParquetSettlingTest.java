package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.NullType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What only the rows tell, the width of vectors and whether a column is a list. */
class ParquetSettlingTest {
  private static final String VECTORS =
      "optional group v (LIST) { repeated group list { optional float element; } }";
  private static final Columns DENSE = new Columns(List.of(), Set.of(), List.of("v"), List.of());

  @TempDir Path folder;

  /** A part of vectors of these widths; -1 for null. */
  private Path vectors(String name, int... widths) throws IOException {
    return ParquetForge.write(
        folder.resolve(name),
        VECTORS,
        widths.length,
        (group, i) -> {
          if (widths[i] >= 0) {
            Group list = group.addGroup("v");
            for (int k = 0; k < widths[i]; k++) {
              list.addGroup("list").append("element", 10f * i + k);
            }
          }
        });
  }

  /** A part in which the column has the Null type, as pandas writes where all values are None. */
  private Path nulls(String name, int rows) throws IOException {
    Path file =
        ParquetForge.write(folder.resolve(name), "optional int32 v;", rows, (group, i) -> {});
    LogicalType unknown = LogicalType.UNKNOWN(new NullType());
    return Files.write(
        file,
        ParquetForge.withFooter(
            Files.readAllBytes(file),
            footer -> footer.getSchema().getLast().setLogicalType(unknown)));
  }

  private DataReader open(Columns columns, ReadPolicy policy) {
    return ParquetReader.open(List.of(folder), ParquetOptions.DEFAULT, columns, policy);
  }

  private List<String> rows(Columns columns) {
    return ParquetRows.allAndClose(open(columns, ReadPolicy.STRICT));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void vectorsTakeTheirWidthFromTheFirstRowOfAnyFileThatHasOne(int threads) throws IOException {
    vectors("0.parquet");
    vectors("1.parquet", -1, 0, -1, 3, 3);
    vectors("2.parquet", 3, 2);
    SkippedRecords skipped = new SkippedRecords(10);
    ReadPolicy policy = ReadPolicy.STRICT.withThreads(threads);
    try (DataReader reader = open(DENSE, policy.withFaults(skipped))) {
      assertThat(reader.schema().dense()).containsExactly("v[0]", "v[1]", "v[2]");
      assertThat(reader.rowCount()).hasValue(7);
      assertThat(ParquetRows.all(reader))
          .containsExactly(
              "[] | [30.0, 31.0, 32.0] |", "[] | [40.0, 41.0, 42.0] |", "[] | [0.0, 1.0, 2.0] |");
    }
    assertThat(skipped.count()).isEqualTo(4);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> ParquetRows.allAndClose(open(DENSE, policy)))
        .withMessageContaining(
            "1.parquet: row 1, column v: got 0 numbers, expected 3 as in the first row that has");
  }

  @Test
  void aVectorLongerThanWhatIsDecodedAtATimeHasItsWholeWidth() throws IOException {
    vectors("0.parquet", -1, 3000);
    try (DataReader reader = open(DENSE, ReadPolicy.STRICT.withFaults(fault -> {}))) {
      assertThat(reader.schema().denseDim()).isEqualTo(3000);
      assertThat(ParquetRows.all(reader)).hasSize(1);
    }
  }

  @Test
  void vectorsThatNoFileHasAreOneNumberWide() throws IOException {
    vectors("0.parquet");
    vectors("1.parquet");
    try (DataReader reader = open(DENSE, ReadPolicy.STRICT)) {
      assertThat(reader.schema().dense()).containsExactly("v[0]");
      assertThat(ParquetRows.all(reader)).isEmpty();
    }
  }

  @Test
  void aPartOfNullsTellsNothingAboutTheOthers() throws IOException {
    nulls("0.parquet", 2);
    vectors("1.parquet", 2);
    nulls("2.parquet", 1);
    SkippedRecords skipped = new SkippedRecords(10);
    assertThat(ParquetRows.allAndClose(open(DENSE, ReadPolicy.STRICT.withFaults(skipped))))
        .containsExactly("[] | [0.0, 1.0] |");
    assertThat(skipped.count()).isEqualTo(3);
    Files.delete(folder.resolve("1.parquet"));
    assertThat(rows(DENSE)).hasSize(3).containsOnly("[] | [NaN] |");
  }

  @Test
  void aPartOfNullsHasNoIdsWhereOthersHaveListsAndTheEmptyTextWhereOthersHaveTexts()
      throws IOException {
    nulls("0.parquet", 1);
    Columns texts =
        new Columns(List.of(), Set.of(), List.of(), List.of(new SparseColumn("v", true, "|")));
    ParquetForge.write(
        folder.resolve("1.parquet"),
        "required group v (LIST) { repeated group list { required binary element (STRING); } }",
        1,
        (group, i) -> group.addGroup("v").addGroup("list").append("element", "x"));
    assertThat(rows(texts)).containsExactly("[] | [] | []", "[] | [] | [" + TextHash.of("x") + "]");
    ParquetForge.write(
        folder.resolve("1.parquet"),
        "required binary v (STRING);",
        1,
        (group, i) -> group.append("v", "x"),
        builder ->
            builder.withWriteMode(org.apache.parquet.hadoop.ParquetFileWriter.Mode.OVERWRITE));
    Columns text = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.text("v")));
    assertThat(rows(text))
        .containsExactly(
            "[] | [] | [" + TextHash.EMPTY + "]", "[] | [] | [" + TextHash.of("x") + "]");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(texts))
        .withMessageContainingAll("1.parquet: column v", "expected a LIST for a column with");
  }

  @Test
  void partsOfHugeCtrSettleInTheSameWay() throws IOException {
    String fields =
        "required float y; required group v (LIST) { repeated group list { required float element;"
            + " } }";
    ParquetForge.write(folder.resolve("0.parquet"), fields, 0, (group, i) -> {});
    ParquetForge.write(
        folder.resolve("1.parquet"),
        fields,
        1,
        (group, i) -> {
          Group list = group.append("y", 1f).addGroup("v");
          list.addGroup("list").append("element", 5f);
          list.addGroup("list").append("element", 6f);
        });
    Files.writeString(
        folder.resolve("_metadata.json"),
        """
        {"file_stats":[{"file_name":"0.parquet","num_rows":0},{"file_name":"1.parquet","num_rows":1}],
        "labels":[{"index":0}],"conts":[{"index":1}],"cats":[]}
        """);
    assertThat(ParquetRows.allAndClose(ParquetReader.openHugeCtr(folder, ParquetOptions.DEFAULT)))
        .containsExactly("[1.0] | [5.0, 6.0] |");
  }

  @Test
  void aListAmongScalarsIsNamed() throws IOException {
    ParquetForge.write(folder.resolve("0.parquet"), "optional float v;", 1, (group, i) -> {});
    vectors("1.parquet", 2);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(DENSE))
        .withMessageContainingAll(
            "1.parquet: column v: got LIST of FLOAT, expected what it is in other files: FLOAT in ",
            "0.parquet; write all files with one schema");
  }

  private void signs(String first, String second, long... ids) throws IOException {
    ParquetForge.write(
        folder.resolve("0.parquet"),
        "required int64 v " + first + ";",
        1,
        (group, i) -> group.append("v", -1L));
    ParquetForge.write(
        folder.resolve("1.parquet"),
        "required int64 v " + second + ";",
        ids.length,
        (group, i) -> group.append("v", ids[i]));
  }

  @Test
  void idsAreUnsignedWhereAFileSaysSoAndThenNegativeOnesOfOthersAreFaults() throws IOException {
    signs("(INTEGER(64,false))", "", 5, -2);
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("v")));
    SkippedRecords skipped = new SkippedRecords(10);
    try (DataReader reader = open(columns, ReadPolicy.STRICT.withFaults(skipped))) {
      assertThat(reader.schema().slots().getFirst().unsigned()).isTrue();
      assertThat(ParquetRows.all(reader)).containsExactly("[] | [] | [-1]", "[] | [] | [5]");
    }
    assertThat(skipped.count()).isEqualTo(1);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(columns))
        .withMessageContaining("1.parquet: row 2, column v: got id -2, expected 0 or more");
    Files.delete(folder.resolve("0.parquet"));
    Files.delete(folder.resolve("1.parquet"));
    signs("", "", 5, -2);
    assertThat(rows(columns)).containsExactly("[] | [] | [-1]", "[] | [] | [5]", "[] | [] | [-2]");
  }
}
