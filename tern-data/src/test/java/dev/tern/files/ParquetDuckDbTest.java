package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.DataReader;
import dev.tern.data.TextHash;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
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
        [r::FLOAT, -r::FLOAT, 0.5::FLOAT] AS vector
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
    "UNCOMPRESSED, V2, 1024",
    "SNAPPY, V2, 100000",
    "ZSTD, V2, 1024",
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
                SparseColumn.text("tags")));
    DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns);
    assertThat(reader.rowCount()).hasValue(ROWS);
    assertThat(reader.schema().dense()).endsWith("vector[0]", "vector[1]", "vector[2]");
    assertThat(ParquetRows.allAndClose(reader)).isEqualTo(expected(file));
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

  private void execute(String sql) throws SQLException {
    try (Statement statement = duck.createStatement()) {
      statement.execute(sql);
    }
  }
}
