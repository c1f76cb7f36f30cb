package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SkippedRecords;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Columns whose types differ between the files of a data set. */
class ParquetMeaningsTest {
  @TempDir Path folder;

  /** Writes two files of one row, in which column v has these types. */
  private void write(String first, String second) throws IOException {
    int file = 0;
    for (String type : List.of(first, second)) {
      int space = type.indexOf(' ');
      String annotation = space < 0 ? "" : type.substring(space);
      String fields =
          "required " + (space < 0 ? type : type.substring(0, space)) + " v" + annotation + ";";
      ParquetForge.write(folder.resolve(file + ".parquet"), fields, 1, (row, i) -> put(row));
      file++;
    }
  }

  private static void put(Group row) {
    PrimitiveTypeName type = row.getType().getType(0).asPrimitiveType().getPrimitiveTypeName();
    switch (type) {
      case INT32 -> row.append("v", 1);
      case INT64 -> row.append("v", 1L);
      case FLOAT -> row.append("v", 1f);
      case DOUBLE -> row.append("v", 1.0);
      case BOOLEAN -> row.append("v", true);
      case FIXED_LEN_BYTE_ARRAY, BINARY -> row.append("v", Binary.fromString("1234567890123456"));
      default -> throw new AssertionError(type);
    }
  }

  private static Columns columns(String use) {
    List<String> dense = use.equals("number") ? List.of("v") : List.of();
    List<SparseColumn> sparse =
        switch (use) {
          case "number" -> List.of();
          case "id" -> List.of(SparseColumn.id("v"));
          case "text" -> List.of(SparseColumn.text("v"));
          case "order" -> List.of(SparseColumn.time("v"));
          case "hour" -> List.of(SparseColumn.id("v@hour"));
          default -> throw new AssertionError(use);
        };
    return new Columns(List.of(), Set.of(), dense, sparse);
  }

  private List<String> rows(String use, ReadPolicy policy) {
    return ParquetRows.allAndClose(
        ParquetReader.open(List.of(folder), ParquetOptions.DEFAULT, columns(use), policy));
  }

  @ParameterizedTest
  @CsvSource({
    "number, int32 (DATE), int32",
    "number, int64, 'int64 (TIMESTAMP(MILLIS,true))'",
    "number, int32 (DATE), 'int32 (TIME(MILLIS,true))'",
    "number, double, binary (STRING)",
    "id, int32 (DATE), int64",
    "id, int32 (DATE), 'int64 (TIMESTAMP(MICROS,true))'",
    "id, int64, fixed_len_byte_array(16) (UUID)",
    "id, fixed_len_byte_array(16), fixed_len_byte_array(16) (UUID)",
    "text, int32 (DATE), int32",
    "text, 'int64 (TIMESTAMP(MICROS,true))', 'int64 (TIMESTAMP(MICROS,false))'",
    "text, boolean, int32",
    "order, int64, 'int64 (TIMESTAMP(MICROS,true))'",
    "order, int64, double",
    "order, binary (STRING), int32 (DATE)",
  })
  void aColumnInWhichAValueWouldBeTwoIsAnErrorThatNamesBothFiles(
      String use, String first, String second) throws IOException {
    write(first, second);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows(use, ReadPolicy.STRICT))
        .withMessageContainingAll("1.parquet: column v", "0.parquet", "expected");
    SkippedRecords skipped = new SkippedRecords(10);
    assertThat(rows(use, ReadPolicy.STRICT.withFaults(skipped))).hasSize(1);
    assertThat(skipped.count()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "number, int32, int64",
    "number, float, double",
    "number, int64, double",
    "number, boolean, float",
    "number, 'int64 (TIMESTAMP(MILLIS,true))', 'int64 (TIMESTAMP(NANOS,false))'",
    "id, int32, int64",
    "id, int64, double",
    "id, 'int32 (DECIMAL(9,0))', int64",
    "text, int32, double",
    "text, binary (STRING), int64",
    "text, binary (STRING), int32 (DATE)",
    "order, int32, int64",
    "order, float, double",
    "hour, int32 (DATE), 'int64 (TIMESTAMP(MILLIS,true))'",
  })
  void typesThatHoldTheSameValuesGoTogether(String use, String first, String second)
      throws IOException {
    write(first, second);
    assertThat(rows(use, ReadPolicy.STRICT)).hasSize(2);
  }

  @Test
  void textsToBeOrderedAreTimesInAllFilesOrNumbers() throws IOException {
    for (String text : List.of("2026-01-31", "1700000000")) {
      ParquetForge.write(
          folder.resolve(text.charAt(0) + ".parquet"),
          "required binary v (STRING);",
          1,
          (row, i) -> row.append("v", text));
    }
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> rows("order", ReadPolicy.STRICT))
        .withMessageContaining("row 1, column v@order: got \"2026-01-31\", expected");
  }
}
