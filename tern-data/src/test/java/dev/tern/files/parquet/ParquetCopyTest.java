package dev.tern.files.parquet;

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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ParquetCopyTest {
  private static final int ROWS = 3000;
  private static final double[] SHARES = {5, 3, 1};
  private static final Columns NO_KEY = Columns.ofKey(Optional.empty(), Set.of());
  @TempDir Path folder;

  private static Columns key(SparseColumn column) {
    return Columns.ofKey(Optional.of(column), Set.of("NA"));
  }

  private List<Path> parts() {
    return List.of(part(1), part(2), part(3));
  }

  private Path part(int number) {
    return folder.resolve("p" + number + ".parquet");
  }

  private long[] copy(ReadPolicy policy, Path... files) {
    try (RecordCopy records = open(NO_KEY, policy, parts(), files)) {
      return DataSplit.atRandom(SHARES, 1).copy(records, done -> {});
    }
  }

  private static RecordCopy open(Columns key, ReadPolicy policy, List<Path> parts, Path... files) {
    return ParquetReader.copy(List.of(files), ParquetOptions.DEFAULT, key, policy, parts);
  }

  @ParameterizedTest
  @CsvSource({
    "PARQUET_1_0, SNAPPY, true, false, 1000, 4096",
    "PARQUET_1_0, UNCOMPRESSED, false, false, 10000000, 200",
    "PARQUET_1_0, ZSTD, true, true, 200000, 65536",
    "PARQUET_2_0, SNAPPY, true, false, 200000, 4096",
    "PARQUET_2_0, UNCOMPRESSED, false, false, 50000, 300",
    "PARQUET_2_0, LZ4_RAW, false, true, 10000000, 4096",
    "PARQUET_2_0, ZSTD, false, false, 10000000, 1000000",
  })
  void rowsOfParquetJavaKeepAllValues(
      String version,
      String codec,
      boolean dictionary,
      boolean split,
      long groupBytes,
      int pageBytes)
      throws IOException {
    SplittableRandom random = new SplittableRandom(3);
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            NestedRows.FIELDS,
            ROWS,
            (group, row) -> NestedRows.fill(group, row, random),
            builder ->
                builder
                    .withWriterVersion(ParquetProperties.WriterVersion.valueOf(version))
                    .withCompressionCodec(CompressionCodecName.valueOf(codec))
                    .withDictionaryEncoding(dictionary)
                    .withDictionaryPageSize(2000)
                    .withByteStreamSplitEncoding(split)
                    .withByteStreamSplitEncoding("wide", split)
                    .withByteStreamSplitEncoding("half", split)
                    .withRowGroupSize(groupBytes)
                    .withPageSize(pageBytes)
                    .withExtraMetaData(Map.of("about", "rows")));
    long[] counts = copy(ReadPolicy.STRICT, file, again(file));
    List<String> expected = rows(file);
    expected.addAll(rows(file));
    requireDealt(expected, counts);
    for (Path part : parts()) {
      try (ParquetFileReader made = reader(part);
          ParquetFileReader from = reader(file)) {
        assertThat(made.getFileMetaData().getSchema())
            .isEqualTo(from.getFileMetaData().getSchema());
        assertThat(made.getFileMetaData().getKeyValueMetaData()).containsEntry("about", "rows");
        assertThat(made.getRowGroups().getFirst().getColumns())
            .allMatch(column -> column.getCodec().name().equals(codec));
      }
    }
  }

  private Path again(Path file) throws IOException {
    return Files.copy(file, folder.resolve("again.parquet"));
  }

  private void requireDealt(List<String> expected, long[] counts) throws IOException {
    List<List<String>> dealt = new ArrayList<>();
    for (Path part : parts()) {
      dealt.add(rows(part));
    }
    int[] at = new int[dealt.size()];
    for (String row : expected) {
      int found = 0;
      while (found < dealt.size()
          && !(at[found] < dealt.get(found).size()
              && dealt.get(found).get(at[found]).equals(row))) {
        found++;
      }
      assertThat(found).as(row).isLessThan(dealt.size());
      at[found]++;
    }
    for (int p = 0; p < at.length; p++) {
      assertThat(at[p]).isEqualTo(dealt.get(p).size()).isEqualTo((int) counts[p]);
    }
  }

  private static ParquetFileReader reader(Path file) throws IOException {
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .usePageChecksumVerification(true)
            .build();
    return ParquetFileReader.open(new LocalInputFile(file), options);
  }

  /** All rows, as parquet-java reads them. */
  private static List<String> rows(Path file) throws IOException {
    List<String> rows = new ArrayList<>();
    try (ParquetFileReader reader = reader(file)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      for (PageReadStore pages = reader.readNextRowGroup();
          pages != null;
          pages = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(pages, new GroupRecordConverter(schema));
        for (long i = 0; i < pages.getRowCount(); i++) {
          rows.add(records.read().toString());
        }
      }
    }
    return rows;
  }

  private static final String TABLE =
      """
      SELECT r AS row, (r % 3 = 0) AS b, r::HUGEINT AS huge, (r % 256)::UTINYINT AS u8,
        CASE WHEN r % 7 = 3 THEN NULL ELSE r / 3.0::DOUBLE END AS d, r::FLOAT AS f,
        (r * 1.25)::DECIMAL(12, 2) AS price, DATE '2026-01-01' + r::INTEGER AS day,
        TIMESTAMP '2026-01-31 08:30:00' + INTERVAL (r) MILLISECOND AS t, uuid() AS id,
        INTERVAL (r) HOUR AS span, TIME '08:30:00' AS clock,
        CASE WHEN r % 6 = 4 THEN NULL WHEN r % 6 = 5 THEN '' ELSE 'w' || (r % 97) END AS word,
        'unique-' || r AS words, encode('b' || r) AS blob, 'one' AS one,
        CASE WHEN r % 10 = 1 THEN NULL WHEN r % 10 = 2 THEN [] WHEN r % 10 = 3 THEN [[], NULL]
          ELSE [[[r], []], NULL, [], [[r + 1, NULL, r * 2], NULL, [7]]] END AS nested,
        {'a': r, 'b': {'c': ['x' || (r % 5)], 'd': NULL::INTEGER}} AS s,
        MAP {'k' || (r % 3): r, 'l': NULL} AS m, [{'x': r}, NULL] AS structs
      FROM range(1500) t(r)
      """;

  @ParameterizedTest
  @CsvSource({
    "UNCOMPRESSED, V1, 1024",
    "GZIP, V1, 100000",
    "LZ4_RAW, V2, 1024",
    "SNAPPY, V2, 100000",
    "ZSTD, V2, 512",
    "BROTLI, V1, 1024",
  })
  void duckDbFindsAllRowsOfItsFilesInTheParts(String codec, String version, int groupRows)
      throws SQLException {
    Path file = folder.resolve("duck.parquet");
    String options =
        "FORMAT parquet, COMPRESSION %s, PARQUET_VERSION %s, ROW_GROUP_SIZE %d"
            .formatted(codec, version, groupRows);
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duck.createStatement()) {
      statement.execute("COPY (" + TABLE + ") TO '" + file + "' (" + options + ")");
      try (RecordCopy records = open(NO_KEY, ReadPolicy.STRICT, parts(), file)) {
        DataSplit.atRandom(SHARES, 1).copy(records, done -> {});
        assertThat(records.notes())
            .isEqualTo(
                codec.equals("BROTLI")
                    ? List.of("BROTLI is written as ZSTD, as Tern does not compress by it")
                    : List.of());
      }
      String all = "(SELECT * FROM read_parquet('" + folder + "/p*.parquet'))";
      assertThat(count(statement, all)).isEqualTo(1500);
      String in = "(SELECT * FROM '" + file + "')";
      assertThat(count(statement, "(" + in + " EXCEPT ALL " + all + ")")).isZero();
      for (Path part : parts()) {
        String late = "row < lag(row) OVER (ORDER BY file_row_number)";
        String rows = "read_parquet('" + part + "', file_row_number = true)";
        assertThat(count(statement, "(SELECT " + late + " AS l FROM " + rows + ") WHERE l"))
            .isZero();
      }
    }
  }

  private static long count(Statement statement, String rows) throws SQLException {
    try (ResultSet result = statement.executeQuery("SELECT count(*) FROM " + rows)) {
      result.next();
      return result.getLong(1);
    }
  }

  @Test
  void aPartWithoutRowsIsAFileWithTheColumns() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "required int32 a; optional group l (LIST) { repeated group list { required int32 e; }"
                + " }",
            1,
            (group, row) -> group.add("a", 7));
    long[] counts = copy(ReadPolicy.STRICT, file);
    assertThat(counts).containsOnly(0, 1).containsOnlyOnce(1);
    for (int p = 0; p < counts.length; p++) {
      assertThat(rows(part(p + 1))).hasSize((int) counts[p]);
      try (ParquetFileReader made = reader(part(p + 1))) {
        assertThat(made.getFileMetaData().getSchema().getColumns()).hasSize(2);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"word", "narrow", "deep"})
  void rowsOfOneKeyGoToOnePart(String column) throws IOException {
    SplittableRandom random = new SplittableRandom(5);
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "required int32 narrow; required binary word (STRING);"
                + " required group deep { required int32 x; } required int32 row;",
            2500,
            (group, row) -> {
              int key = random.nextInt(40);
              group.add("narrow", key);
              group.add("word", "k" + key);
              group.addGroup("deep").add("x", key);
              group.add("row", row);
            },
            builder -> builder.withRowGroupSize(2000L));
    SparseColumn key = column.equals("word") ? SparseColumn.text(column) : SparseColumn.id(column);
    List<Path> two = parts().subList(0, 2);
    long[] counts;
    try (RecordCopy records = open(key(key), ReadPolicy.STRICT, two, file)) {
      counts =
          DataSplit.byKey(new double[] {1, 1}, 1, records.schema(), column)
              .copy(records, done -> {});
    }
    assertThat(counts[0] + counts[1]).isEqualTo(2500);
    List<String> first = keys(part(1));
    assertThat(keys(part(2))).isNotEmpty().doesNotContainAnyElementsOf(first);
  }

  private static List<String> keys(Path part) throws IOException {
    return rows(part).stream().map(row -> row.substring(0, row.indexOf('\n'))).toList();
  }

  @Test
  void earlierRowsGoToTheFirstPartByAnyColumnOfTimes() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "required int64 t (TIMESTAMP(MILLIS,true)); required int32 row;",
            1000,
            (group, row) -> {
              group.add("t", 1_769_848_200_000L + (row * 7L) % 1000);
              group.add("row", row);
            },
            builder -> builder.withRowGroupSize(2000L));
    Columns key = key(SparseColumn.time("t"));
    DataSplit split;
    try (RecordCopy times = open(key, ReadPolicy.STRICT, List.of(), file)) {
      split = DataSplit.byTime(new double[] {3, 1}, times, done -> {});
    }
    try (RecordCopy records = open(key, ReadPolicy.STRICT, parts().subList(0, 2), file)) {
      assertThat(split.copy(records, done -> {})).containsExactly(750, 250);
    }
    assertThat(keys(part(1))).allMatch(t -> t.compareTo("t: 1769848200750") < 0);
    assertThat(keys(part(2))).allMatch(t -> t.compareTo("t: 1769848200750") >= 0);
  }

  @Test
  void textsThatMeanNoValueAreTheKeyOfNoneAndNoTime() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "optional binary word (STRING);",
            6,
            (group, row) -> {
              if (row != 3) {
                group.add("word", row % 2 == 0 ? "NA" : "");
              }
            });
    try (RecordCopy records =
        open(key(SparseColumn.text("word")), ReadPolicy.STRICT, parts(), file)) {
      long[] counts =
          DataSplit.byKey(SHARES, 1, records.schema(), "word").copy(records, done -> {});
      assertThat(counts).contains(6);
    }
    Columns time = key(SparseColumn.time("word"));
    try (RecordCopy times = open(time, ReadPolicy.STRICT, List.of(), file)) {
      assertThatThrownBy(() -> DataSplit.byTime(SHARES, times, done -> {}))
          .hasMessageStartingWith(file + ": row 1: got 0 values of column word,");
    }
  }

  @Test
  void aRowWithoutTheTimeIsAnErrorThatNamesIt() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "optional int32 t (DATE);",
            5,
            (group, row) -> {
              if (row != 3) {
                group.add("t", row);
              }
            });
    Columns key = key(SparseColumn.time("t"));
    try (RecordCopy times = open(key, ReadPolicy.STRICT, List.of(), file)) {
      assertThatThrownBy(() -> DataSplit.byTime(new double[] {3, 1}, times, done -> {}))
          .hasMessageStartingWith(file + ": row 4: got 0 values of column t,");
    }
  }

  @Test
  void annotationsNewerThanTernStayInTheSchema() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "required int64 c (TIMESTAMP(MICROS,true));",
            50,
            (group, row) -> group.add("c", (long) row));
    byte[] bytes = Files.readAllBytes(file);
    int footerAt = bytes.length - 8 - ParquetForge.footerLength(bytes);
    // Field 8 of the union of annotations, TIMESTAMP, becomes field 14, which nobody knows.
    int at = footerAt;
    while (!(bytes[at] == (byte) 0x8C && bytes[at + 1] == 0x11)) {
      at++;
    }
    bytes[at] = (byte) 0xEC;
    Files.write(file, bytes);
    copy(ReadPolicy.STRICT, file);
    byte[] part = Files.readAllBytes(part(1));
    ByteBuffer schema = ByteBuffer.wrap(bytes, footerAt, at + 2 - footerAt).slice();
    int footer = part.length - 8 - ParquetForge.footerLength(part);
    assertThat(ByteBuffer.wrap(part, footer, at + 2 - footerAt).slice()).isEqualTo(schema);
  }

  @Test
  void aDamagedPageCostsItsRowGroupAndIsAnErrorUnlessBadRecordsAreSkipped() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "required int32 row; required binary word (STRING);",
            2000,
            (group, row) -> {
              group.add("row", row);
              group.add("word", "word " + row);
            },
            builder ->
                builder
                    .withRowGroupSize(2000L)
                    .withPageWriteChecksumEnabled(true)
                    .withCompressionCodec(CompressionCodecName.UNCOMPRESSED));
    byte[] bytes = Files.readAllBytes(file);
    long groupRows;
    try (ParquetFile open = ParquetFile.open(file)) {
      var chunk = open.rowGroups().get(1).getColumns().get(1).getMeta_data();
      bytes[(int) (chunk.getData_page_offset() + chunk.getTotal_compressed_size() - 3)] ^= 1;
      groupRows = open.rowGroups().get(1).getNum_rows();
    }
    Files.write(file, bytes);
    assertThatThrownBy(() -> copy(ReadPolicy.STRICT, file))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(file + ": column word, byte");
    assertThat(parts()).noneMatch(Files::exists);
    for (Columns key :
        List.of(NO_KEY, key(SparseColumn.text("word")), key(SparseColumn.id("row")))) {
      SkippedRecords skipped = new SkippedRecords(2000);
      long[] counts;
      try (RecordCopy records = open(key, ReadPolicy.STRICT.withFaults(skipped), parts(), file)) {
        DataSplit split =
            key.sparse().isEmpty()
                ? DataSplit.atRandom(SHARES, 1)
                : DataSplit.byKey(SHARES, 1, records.schema(), key.sparse().getFirst().name());
        counts = split.copy(records, done -> {});
      }
      assertThat(skipped.count()).isEqualTo(groupRows);
      assertThat(counts[0] + counts[1] + counts[2]).isEqualTo(2000 - groupRows);
      int found = 0;
      for (Path part : parts()) {
        found += rows(part).size();
      }
      assertThat(found).isEqualTo(2000 - (int) groupRows);
    }
  }

  @Test
  void mutatedFilesAreCopiedOrEndInAnErrorThatNamesThem() throws IOException {
    SplittableRandom random = new SplittableRandom(9);
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            NestedRows.FIELDS,
            60,
            (group, row) -> NestedRows.fill(group, row, random),
            builder -> builder.withCompressionCodec(CompressionCodecName.UNCOMPRESSED));
    byte[] sound = Files.readAllBytes(file);
    int copied = 0;
    for (int i = 0; i < 400; i++) {
      byte[] bytes = sound.clone();
      for (int k = random.nextInt(3); k >= 0; k--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      Files.write(file, bytes);
      try {
        copy(ReadPolicy.STRICT, file);
        copied++;
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("in.parquet");
      }
    }
    assertThat(copied).isBetween(20, 380);
  }

  @Test
  void filesOfOtherColumnsAreRefused() throws IOException {
    Path one =
        ParquetForge.write(folder.resolve("1.parquet"), "required int32 a;", 0, (g, r) -> {});
    Path two =
        ParquetForge.write(folder.resolve("2.parquet"), "required int64 a;", 0, (g, r) -> {});
    assertThatThrownBy(() -> copy(ReadPolicy.STRICT, one, two))
        .hasMessageStartingWith(two + ": got another column a, expected the columns of " + one);
    Path day =
        ParquetForge.write(
            folder.resolve("day=1").resolve("1.parquet"), "required int32 a;", 0, (g, r) -> {});
    assertThatThrownBy(() -> copy(ReadPolicy.STRICT, day))
        .hasMessageContaining("got the column day in the name of a folder alone");
    assertThat(parts()).noneMatch(Files::exists);
  }

  @Test
  void lz4OfHadoopIsWrittenAsLz4Raw() {
    assertThat(ParquetChunkWriter.written(CompressionCodec.LZ4))
        .isEqualTo(CompressionCodec.LZ4_RAW);
    assertThat(ParquetChunkWriter.written(CompressionCodec.GZIP)).isEqualTo(CompressionCodec.GZIP);
  }

  @Test
  void rowsOfFullPagesAreInSeveral() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("in.parquet"),
            "required binary word; repeated int32 l;",
            3000,
            (group, row) -> {
              group.add(
                  "word",
                  Binary.fromConstantByteArray(
                      ByteBuffer.allocate(2000)
                          .order(ByteOrder.LITTLE_ENDIAN)
                          .putInt(0, row)
                          .array()));
              for (int i = 0; i < 60; i++) {
                group.add("l", row + i);
              }
            });
    requireDealtOne(file);
  }

  private void requireDealtOne(Path file) throws IOException {
    try (RecordCopy records = open(NO_KEY, ReadPolicy.STRICT, List.of(part(1)), file)) {
      DataSplit.atRandom(new double[] {1}, 1).copy(records, done -> {});
    }
    assertThat(rows(part(1))).isEqualTo(rows(file));
  }
}
