package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.KeyType;
import dev.tern.files.Rows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.MessageType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the writer writes reads back to the same bits, here, in DuckDB and in parquet-java. */
class ParquetWriterTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "0, UNCOMPRESSED, 100, I64, false, -1",
    "1, SNAPPY, 100, I64, false, -1",
    "7, ZSTD, 3, U32, false, 4294967295",
    "300, SNAPPY, 1, I64, false, 20",
    "9000, UNCOMPRESSED, 131072, I64, false, -1",
    "9000, SNAPPY, 4000, I64, true, 300",
    "9000, ZSTD, 9000, I64, false, 5000",
    "9000, ZSTD, 9000, U32, true, 4294967295",
    "1000, SNAPPY, 999, I32, false, 2147483647",
  })
  void rowsReadBackEverywhere(
      int count, String codec, int groupRows, String keys, boolean hugeCtr, long maxId)
      throws IOException, SQLException {
    Rows rows = Rows.random(count, count, 2, 3, new int[] {1, 0, 1, 3}, maxId);
    ParquetLayout layout =
        new ParquetLayout(
            ParquetLayout.Codec.valueOf(codec), groupRows, KeyType.valueOf(keys), hugeCtr);
    Path file = folder.resolve("out.parquet");
    rows.write(ParquetWriter.create(file, rows.schema(), layout), 777);
    assertThat(readBack(file, rows.schema())).isEqualTo(rows.list());
    if (count <= 1000) {
      assertThat(duckDb(file, rows.schema())).isEqualTo(texts(rows));
    }
    assertThat(parquetJava(file, keys)).isEqualTo(texts(rows));
    if (hugeCtr) {
      try (DataReader reader = ParquetReader.openHugeCtr(folder, ParquetOptions.DEFAULT)) {
        assertThat(reader.schema().slots())
            .containsExactly(
                Slot.oneHot("slot0"),
                Slot.ragged("slot1"),
                Slot.oneHot("slot2"),
                Slot.ragged("slot3"));
        assertThat(Rows.read(reader)).isEqualTo(rows.list());
      }
      Path list = folder.resolve("_file_list.txt");
      try (DataReader reader = ParquetReader.openHugeCtr(list, ParquetOptions.DEFAULT)) {
        assertThat(Rows.read(reader)).isEqualTo(rows.list());
      }
    }
  }

  private static List<Rows.Row> readBack(Path file, Schema schema) {
    try (DataReader reader =
        ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, Columns.of(schema))) {
      return Rows.read(reader);
    }
  }

  /** All fields of a row in order; a null as NaN. */
  private static List<List<Object>> texts(Rows rows) {
    List<List<Object>> texts = new ArrayList<>();
    for (Rows.Row row : rows.list()) {
      List<Object> fields = new ArrayList<>(row.labels());
      fields.addAll(row.dense());
      for (int slot = 0; slot < row.ids().size(); slot++) {
        boolean scalar = rows.schema().slots().get(slot).hotness() == 1;
        fields.add(scalar ? row.ids().get(slot).getFirst() : row.ids().get(slot));
      }
      texts.add(fields);
    }
    return texts;
  }

  private static List<List<Object>> duckDb(Path file, Schema schema) throws SQLException {
    List<List<Object>> rows = new ArrayList<>();
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duck.createStatement();
        ResultSet result = statement.executeQuery("SELECT * FROM '" + file + "'")) {
      while (result.next()) {
        List<Object> fields = new ArrayList<>();
        int column = 1;
        for (; column <= schema.labelDim() + schema.denseDim(); column++) {
          float value = result.getFloat(column);
          fields.add(result.wasNull() ? Float.NaN : value);
        }
        for (Slot slot : schema.slots()) {
          fields.add(
              slot.hotness() == 1
                  ? result.getLong(column)
                  : Arrays.stream((Object[]) result.getArray(column).getArray())
                      .map(id -> ((Number) id).longValue())
                      .toList());
          column++;
        }
        rows.add(fields);
      }
    }
    return rows;
  }

  private static List<List<Object>> parquetJava(Path file, String keys) throws IOException {
    List<List<Object>> rows = new ArrayList<>();
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .usePageChecksumVerification(true)
            .build();
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file), options)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      for (var pages = reader.readNextRowGroup(); pages != null; ) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(pages, new GroupRecordConverter(schema));
        for (long row = 0; row < pages.getRowCount(); row++) {
          Group group = records.read();
          List<Object> fields = new ArrayList<>();
          for (int column = 0; column < schema.getFieldCount(); column++) {
            fields.add(field(group, column, keys));
          }
          rows.add(fields);
        }
        pages = reader.readNextRowGroup();
      }
    }
    return rows;
  }

  private static Object field(Group group, int column, String keys) {
    if (!group.getType().getType(column).isPrimitive()) {
      List<Object> ids = new ArrayList<>();
      Group list = group.getGroup(column, 0);
      for (int i = 0; i < list.getFieldRepetitionCount(0); i++) {
        ids.add(key(list.getGroup(0, i), 0, keys));
      }
      return ids;
    }
    if (group.getFieldRepetitionCount(column) == 0) {
      return Float.NaN;
    }
    return group.getType().getType(column).getName().startsWith("slot")
        ? key(group, column, keys)
        : (Object) group.getFloat(column, 0);
  }

  private static long key(Group group, int column, String keys) {
    return switch (keys) {
      case "I64" -> group.getLong(column, 0);
      case "I32" -> group.getInteger(column, 0);
      default -> Integer.toUnsignedLong(group.getInteger(column, 0));
    };
  }

  @Test
  void longListsAndLongRunsReadBack() {
    Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.ragged("bag")));
    List<Rows.Row> rows = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      List<Long> ids = new ArrayList<>();
      for (int k = 0; k < (i % 10 == 3 ? 40_000 : i % 4); k++) {
        ids.add((long) (k / 100 % 7));
      }
      rows.add(new Rows.Row(List.of(1f), List.of(), List.of(ids)));
    }
    Path file = folder.resolve("out.parquet");
    new Rows(schema, rows).write(ParquetWriter.create(file, schema, ParquetLayout.DEFAULT), 8);
    assertThat(readBack(file, schema)).isEqualTo(rows);
  }

  @Test
  void theSameRowsGiveTheSameBytesHoweverTheyCome() throws IOException {
    Rows rows = Rows.random(5, 3000, 1, 2, new int[] {1, 0}, 500);
    ParquetLayout layout = ParquetLayout.DEFAULT.withGroupRows(1024);
    Path one = folder.resolve("one.parquet");
    Path other = folder.resolve("other.parquet");
    rows.write(ParquetWriter.create(one, rows.schema(), layout), 1);
    rows.write(ParquetWriter.create(other, rows.schema(), layout), 2999);
    assertThat(one).hasSameBinaryContentAs(other);
    assertThat(Files.size(one)).isLessThan(3000 * 40);
  }

  @Test
  void nothingAppearsBeforeFinish() throws IOException {
    Rows rows = Rows.random(3, 10, 1, 1, new int[] {1}, 10);
    Path file = folder.resolve("set/out.parquet");
    try (ParquetWriter writer =
        ParquetWriter.create(file, rows.schema(), ParquetLayout.DEFAULT.asHugeCtr())) {
      writer.write(rows.batch());
      assertThat(file).doesNotExist();
    }
    assertThat(folder).isEmptyDirectory();
    rows.write(ParquetWriter.create(file, rows.schema(), ParquetLayout.DEFAULT.asHugeCtr()), 3);
    try (var files = Files.list(file.getParent())) {
      assertThat(files.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("out.parquet", "_metadata.json", "_file_list.txt");
    }
    assertThat(folder.resolve("set/_metadata.json"))
        .content()
        .isEqualToIgnoringWhitespace(
            """
            {"file_stats":[{"file_name":"out.parquet","num_rows":10}],
             "labels":[{"col_name":"label0","index":0}],
             "conts":[{"col_name":"dense0","index":1}],
             "cats":[{"col_name":"slot0","index":2}]}
            """);
  }

  @Test
  void rowsThatDoNotFitAreRefused() {
    Schema schema = new Schema(List.of("y"), List.of(), List.of(Slot.oneHot("c")));
    Path file = folder.resolve("out.parquet");
    Batch batch = new Batch(schema, 1);
    batch.setLabel(0, 1);
    batch.addId(0, 1L << 32);
    batch.endRow();
    try (ParquetWriter writer =
        ParquetWriter.create(file, schema, ParquetLayout.DEFAULT.withKeys(KeyType.U32))) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> writer.write(batch))
          .withMessageContainingAll("out.parquet", "row 1", "slot c", "4294967296", "U32");
    }
    Batch none = new Batch(schema, 1);
    none.setLabel(0, 1);
    none.endRow();
    try (ParquetWriter writer = ParquetWriter.create(file, schema, ParquetLayout.DEFAULT)) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> writer.write(none))
          .withMessageContainingAll("out.parquet", "row 1", "slot c", "0 ids", "expected 1");
    }
    assertThat(folder).isEmptyDirectory();
    Schema twice = new Schema(List.of("y"), List.of("y"), List.of());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ParquetWriter.create(file, twice, ParquetLayout.DEFAULT))
        .withMessageContaining("y twice");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ParquetLayout.DEFAULT.withGroupRows(0))
        .withMessageContaining("got row groups of 0");
  }
}
