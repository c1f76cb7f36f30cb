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
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What DuckDB writes and what it says it wrote, against what the reader delivers. */
class ParquetDuckDbTest {
  private static final int ROWS = 3000;
  private static final String TABLE =
      """
      SELECT (r % 3 = 0)::INTEGER AS y,
        r * 0.37::FLOAT - 5 AS f,
        CASE WHEN r % 7 = 3 THEN NULL ELSE r / 3.0::DOUBLE END AS d,
        (r % 100 - 50)::TINYINT AS tiny,
        (4294967295 - r)::UINTEGER AS unsigned,
        CASE WHEN r % 5 = 0 THEN NULL ELSE (r % 4 = 1) END AS b,
        (r * 1.25)::DECIMAL(12, 2) AS price,
        (r::HUGEINT * 11400714819323198485 % 18446744073709551615 - 9223372036854775807)::BIGINT AS big,
        CASE WHEN r % 11 = 2 THEN NULL ELSE r % 50 END AS few,
        18446744073709551615::UBIGINT - r::UBIGINT AS huge, huge AS huger,
        CASE WHEN r % 6 = 4 THEN NULL WHEN r % 6 = 5 THEN '' ELSE 'w' || (r % 97) END AS word,
        'unique-' || r AS words,
        CASE WHEN r % 9 = 1 THEN NULL ELSE list_transform(range(r % 4), lambda i: i * r + 7) END AS bag,
        CASE WHEN r % 8 = 1 THEN [] ELSE ['t' || (r % 13), NULL, 'u' || r] END AS tags,
        [r::FLOAT, -r::FLOAT, 0.5::FLOAT] AS vector,
        CASE WHEN r % 10 = 1 THEN NULL WHEN r % 10 = 2 THEN [] WHEN r % 10 = 3 THEN [[], NULL]
          ELSE [[[r], []], NULL, [], [[r + 1, NULL, r * 2], NULL, [7]]] END AS nested
      FROM range(3000) t(r)
      """;

  @TempDir Path folder;
  private Connection duck;

  @BeforeEach
  void connect() throws SQLException {
    duck = DriverManager.getConnection("jdbc:duckdb:");
  }

  @AfterEach
  void disconnect() throws SQLException {
    duck.close();
  }

  @ParameterizedTest
  @CsvSource({
    "UNCOMPRESSED, V1, 1024",
    "SNAPPY, V1, 1024",
    "ZSTD, V1, 100000",
    "GZIP, V1, 1024",
    "LZ4_RAW, V1, 1024",
    "BROTLI, V1, 1024",
    "UNCOMPRESSED, V2, 1024",
    "SNAPPY, V2, 100000",
    "ZSTD, V2, 1024",
    "BROTLI, V2, 100000",
  })
  void everyTypeReadsAsDuckDbSaysItIs(String codec, String version, int groupRows)
      throws SQLException {
    Path file = folder.resolve(codec + version + ".parquet");
    String options =
        "FORMAT parquet, COMPRESSION %s, PARQUET_VERSION %s, ROW_GROUP_SIZE %d"
            .formatted(codec, version, groupRows);
    execute("COPY (" + TABLE + ") TO '" + file + "' (" + options + ")");
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("f", "d", "tiny", "unsigned", "b", "price", "vector"),
            List.of(
                SparseColumn.id("big"),
                SparseColumn.id("few"),
                SparseColumn.id("huge"),
                SparseColumn.text("word"),
                SparseColumn.text("words"),
                SparseColumn.text("tiny"),
                SparseColumn.text("huger"),
                SparseColumn.text("b"),
                SparseColumn.id("bag"),
                SparseColumn.text("tags"),
                SparseColumn.id("nested")));
    DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns);
    assertThat(reader.rowCount()).hasValue(ROWS);
    assertThat(reader.schema().dense()).endsWith("vector[0]", "vector[1]", "vector[2]");
    assertThat(ParquetRows.allAndClose(reader)).isEqualTo(expected(file));
  }

  @Test
  void whereNullsAreFaultsARowWithoutAListIsOneAndAListWithinItIsNone() throws SQLException {
    Path file = folder.resolve("nulls.parquet");
    execute(
        "COPY (SELECT 1 AS y, unnest([[NULL, [7]], [], [[]], NULL, [[8], NULL, [9]]]) AS nested) TO"
            + " '"
            + file
            + "' (FORMAT parquet)");
    Columns columns =
        new Columns(List.of("y"), Set.of(), List.of(), List.of(SparseColumn.id("nested")));
    ParquetOptions options = ParquetOptions.DEFAULT.withoutNulls();
    SkippedRecords skipped = new SkippedRecords(1);
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(skipped);
    assertThat(ParquetRows.allAndClose(ParquetReader.open(List.of(file), options, columns, policy)))
        .containsExactly(
            "[1.0] | [] | [7]", "[1.0] | [] | []", "[1.0] | [] | []", "[1.0] | [] | [8, 9]");
    assertThat(skipped.first().orElseThrow()).hasMessageContaining("row 4");
  }

  private List<String> expected(Path file) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Statement statement = duck.createStatement();
        ResultSet r = statement.executeQuery("SELECT * FROM '" + file + "'")) {
      while (r.next()) {
        List<Float> dense = new ArrayList<>();
        for (String name : List.of("f", "d", "tiny", "unsigned")) {
          float value = (float) r.getDouble(name);
          dense.add(r.wasNull() ? Float.NaN : value);
        }
        boolean b = r.getBoolean("b");
        boolean bNull = r.wasNull();
        dense.add(bNull ? Float.NaN : b ? 1f : 0f);
        dense.add(r.getBigDecimal("price").floatValue());
        for (Object part : (Object[]) r.getArray("vector").getArray()) {
          dense.add((Float) part);
        }
        List<List<Long>> slots = new ArrayList<>();
        slots.add(List.of(r.getLong("big")));
        long few = r.getLong("few");
        slots.add(r.wasNull() ? List.of() : List.of(few));
        slots.add(List.of(Long.parseUnsignedLong(r.getString("huge"))));
        slots.add(texts(r.getString("word")));
        slots.add(texts(r.getString("words")));
        slots.add(texts(r.getString("tiny")));
        slots.add(texts(r.getString("huge")));
        slots.add(texts(bNull ? null : Boolean.toString(b)));
        slots.add(list(r, "bag").stream().map(v -> (Long) v).toList());
        slots.add(list(r, "tags").stream().map(v -> texts((String) v).getFirst()).toList());
        slots.add(
            list(r, "nested").stream()
                .flatMap(ParquetDuckDbTest::elements)
                .map(v -> (Long) v)
                .toList());
        StringBuilder text = new StringBuilder("[" + (float) r.getInt("y") + "] | " + dense + " |");
        slots.forEach(ids -> text.append(' ').append(ids));
        rows.add(text.toString());
      }
    }
    return rows;
  }

  private static List<Long> texts(String text) {
    return List.of(TextHash.of(text == null ? "" : text));
  }

  /** What lists within lists hold, nulls left out. */
  private static Stream<Object> elements(Object value) {
    if (value instanceof Array array) {
      try {
        return Arrays.stream((Object[]) array.getArray()).flatMap(ParquetDuckDbTest::elements);
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
    return value instanceof Object[] array
        ? Arrays.stream(array).flatMap(ParquetDuckDbTest::elements)
        : Stream.ofNullable(value);
  }

  private static List<Object> list(ResultSet r, String name) throws SQLException {
    return r.getArray(name) == null
        ? List.of()
        : Arrays.asList((Object[]) r.getArray(name).getArray());
  }

  @Test
  void skippingGivesTheSameRowsAsReading() throws SQLException {
    Path file = folder.resolve("skip.parquet");
    execute(
        "COPY (SELECT (r % 2)::INTEGER y, r::FLOAT f, r id, range(r % 3) bag FROM range(10000)"
            + " t(r)) TO '"
            + file
            + "' (FORMAT parquet, ROW_GROUP_SIZE 2048)");
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("f"),
            List.of(SparseColumn.id("id"), SparseColumn.id("bag")));
    try (DataReader reader =
        ParquetReader.open(List.of(file, file), ParquetOptions.DEFAULT, columns)) {
      List<String> rows = ParquetRows.all(reader);
      assertThat(rows).hasSize(20000);
      for (long skip :
          new long[] {0, 1, 2047, 2048, 2049, 5000, 9999, 10000, 12345, 19999, 20000}) {
        reader.start(0);
        assertThat(reader.skip(skip)).isEqualTo(skip);
        assertThat(ParquetRows.all(reader)).isEqualTo(rows.subList((int) skip, 20000));
      }
      reader.start(0);
      assertThat(reader.skip(20001)).isEqualTo(20000);
      reader.start(0);
      assertThat(reader.skip(700)).isEqualTo(700);
      assertThat(reader.skip(2000)).isEqualTo(2000);
      assertThat(ParquetRows.all(reader)).isEqualTo(rows.subList(2700, 20000));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "narrow, 5000, 5100, 4096, 2048",
    "narrow, -1e300, 0, 0, 2048",
    "wide, 9999e6, 1e300, 8192, 1808",
    "wide, -3, -1, 0, 0",
    "unsigned, 4294967290, 4294967295, 0, 2048",
    "huge, 1.8446744073709e19, 1.9e19, 0, 10000",
    "half, 3000.25, 3000.25, 4096, 2048",
    "single, 1023.75, 1024, 2048, 4096",
    "price, 51.2, 51.3, 4096, 2048",
    "sometimes, 2048, 2048, 2048, 2048",
    "never, 0, 0, 0, 10000",
  })
  void rowGroupsThatSurelyHoldNoRowInARangeAreLeftOut(
      String column, double least, double greatest, int first, int count) throws SQLException {
    Path file = folder.resolve("range.parquet");
    execute(
        """
        COPY (SELECT (CASE WHEN r = 9999 THEN 7 ELSE r %% 2 END)::INTEGER AS y,
          r::FLOAT AS f, r AS id, r::SMALLINT AS narrow, r * 1000000 AS wide,
          (4294967295 - r)::UINTEGER AS unsigned, 18446744073709551615::UBIGINT - r::UBIGINT AS huge,
          r / 2.0::DOUBLE AS half, (r / 4)::FLOAT AS single, (r / 100.0)::DECIMAL(9, 2) AS price,
          CASE WHEN r %% 2048 > 5 THEN NULL ELSE r END AS sometimes, NULL::INTEGER AS never
        FROM range(10000) t(r)) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)\
        """
            .formatted(file));
    Columns columns =
        new Columns(List.of("y"), Set.of(), List.of("f"), List.of(SparseColumn.id("id")));
    ReadPolicy any = ReadPolicy.STRICT.withAnyLabel();
    List<String> rows;
    try (DataReader all = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns, any)) {
      rows = ParquetRows.all(all);
    }
    ParquetOptions range =
        ParquetOptions.DEFAULT.within(new ParquetOptions.Range(column, least, greatest));
    DataReader reader = ParquetReader.open(List.of(file), range, columns, any);
    assertThat(reader.rowCount()).hasValue(count);
    List<String> expected = rows.subList(first, first + count);
    assertThat(ParquetRows.all(reader)).isEqualTo(expected);
    if (count > 0) {
      ParquetRows.skipsAgree(reader, expected);
    }
    if (first == 8192) {
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(
              () -> ParquetRows.allAndClose(ParquetReader.open(List.of(file), range, columns)))
          .withMessageContaining("row 10000");
    }
  }

  @Test
  void aRangeOfAColumnThatHoldsNoNumbersIsRefused() throws SQLException {
    Path file = folder.resolve("range.parquet");
    execute("COPY (SELECT 1 AS y, 'w' AS word) TO '" + file + "' (FORMAT parquet)");
    Columns columns =
        new Columns(List.of("y"), Set.of(), List.of(), List.of(SparseColumn.text("word")));
    for (String name : List.of("word", "absent")) {
      ParquetOptions range = ParquetOptions.DEFAULT.within(new ParquetOptions.Range(name, 0, 1));
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> ParquetReader.open(List.of(file), range, columns))
          .withMessageContaining(name);
    }
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> new ParquetOptions.Range("y", 1, 0));
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = duck.createStatement()) {
      statement.execute(sql);
    }
  }
}
