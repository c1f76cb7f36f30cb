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
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts of Parquet columns that say that a value is missing. */
class ParquetMarkersTest {
  private static final Set<String> MARKERS = Set.of("NA", "-");
  private static final List<String> TEXTS = List.of("a", "NA", "b", "-", "NA ", "na");
  private static final long EMPTY = TextHash.EMPTY;

  @TempDir Path folder;

  private DataReader open(ParquetOptions options, Columns columns, ReadPolicy policy) {
    return ParquetReader.open(
        List.of(folder.resolve("x.parquet")), options, columns.withMissing(MARKERS), policy);
  }

  private List<String> rows(Columns columns) {
    return ParquetRows.allAndClose(open(ParquetOptions.DEFAULT, columns, ReadPolicy.STRICT));
  }

  private static Columns texts(String column) {
    return new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.text(column)));
  }

  private void write(String field, List<String> texts) throws IOException {
    ParquetForge.write(
        folder.resolve("x.parquet"),
        "optional binary c " + field + ";",
        texts.size(),
        (row, i) -> row.append("c", texts.get(i)));
  }

  @ParameterizedTest
  @CsvSource({"true, PARQUET_1_0", "false, PARQUET_1_0", "false, PARQUET_2_0"})
  void aTextThatIsAMarkerIsMissingWhateverHoldsIt(boolean dictionary, WriterVersion version)
      throws IOException {
    ParquetForge.write(
        folder.resolve("x.parquet"),
        "required binary c (STRING);",
        3000,
        (row, i) -> row.append("c", TEXTS.get(i % 6)),
        builder -> builder.withDictionaryEncoding(dictionary).withWriterVersion(version));
    List<String> rows = rows(texts("c"));
    assertThat(rows).hasSize(3000);
    for (int i = 0; i < 3000; i++) {
      String text = TEXTS.get(i % 6);
      long id = MARKERS.contains(text) ? EMPTY : TextHash.of(text);
      assertThat(rows.get(i)).isEqualTo("[] | [] | [" + id + "]");
    }
  }

  @Test
  void aMarkerInAListIsANullInIt() throws IOException {
    ParquetForge.write(
        folder.resolve("x.parquet"),
        "optional group c (LIST) { repeated group list { optional binary element (STRING); } }",
        3,
        (row, i) -> {
          Group list = row.addGroup("c");
          list.addGroup(0).append("element", "a");
          Group second = list.addGroup(0);
          if (i > 0) {
            second.append("element", i == 1 ? "NA" : "b");
          }
        });
    String a = "[] | [] | [" + TextHash.of("a") + ", ";
    assertThat(rows(texts("c")))
        .containsExactly(a + EMPTY + "]", a + EMPTY + "]", a + TextHash.of("b") + "]");
  }

  @Test
  void aMarkerIsAFaultWhereNullsAreFaultsAndAsALabel() throws IOException {
    write("(STRING)", TEXTS);
    SkippedRecords skipped = new SkippedRecords(10);
    ReadPolicy skipping = ReadPolicy.STRICT.withFaults(skipped);
    ParquetOptions strict = ParquetOptions.DEFAULT.withoutNulls();
    assertThat(ParquetRows.allAndClose(open(strict, texts("c"), skipping))).hasSize(4);
    assertThat(skipped.count()).isEqualTo(2);
    Columns label = new Columns(List.of("c"), Set.of("a", "b"), List.of(), List.of());
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(label))
        .withMessageContaining("x.parquet: row 2, column c: got null, expected a value");
  }

  @Test
  void aMarkerIsAMissingTime() throws IOException {
    write("(STRING)", List.of("2026-01-31T08:30:00Z", "NA"));
    Columns hours =
        new Columns(List.of(), Set.of(), List.of("c@days"), List.of(SparseColumn.id("c@hour")));
    assertThat(rows(hours)).containsExactly("[] | [20484.354] | [8]", "[] | [NaN] | []");
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() ->
            ParquetRows.allAndClose(
                ParquetReader.open(
                    List.of(folder.resolve("x.parquet")),
                    ParquetOptions.DEFAULT,
                    new Columns(
                        List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c@hour"))))))
        .withMessageContaining("row 2, column c@hour: got \"NA\"");
  }
}
