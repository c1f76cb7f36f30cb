package dev.tern.bench;

import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** DuckDB, from the jar of its JDBC driver, on the columns of a Parquet file. */
final class DuckDbScan implements AutoCloseable {
  private static final int ROWS = 4096;

  private final URLClassLoader loader;
  private final Connection connection;
  private final Path file;
  private final Schema schema;

  DuckDbScan(Path jar, int threads, Path file, Schema schema) {
    this.file = file;
    this.schema = schema;
    try {
      loader = new URLClassLoader(new URL[] {jar.toUri().toURL()});
      Driver driver =
          (Driver)
              loader.loadClass("org.duckdb.DuckDBDriver").getDeclaredConstructor().newInstance();
      Properties properties = new Properties();
      properties.setProperty("jdbc_stream_results", "true");
      connection = driver.connect("jdbc:duckdb:", properties);
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET threads = " + threads);
        statement.execute("SET preserve_insertion_order = true");
      }
    } catch (MalformedURLException | ReflectiveOperationException | SQLException e) {
      throw new IllegalArgumentException(
          "--duckdb: got " + jar + " (" + e + "), expected the jar of DuckDB's JDBC driver", e);
    }
  }

  /** Every value into an array; returns the sum of ids. */
  long arrays() {
    int numbers = schema.labelDim() + schema.denseDim();
    float[][] floats = new float[numbers][ROWS];
    long[][] ids = new long[schema.slotCount()][ROWS];
    long sum = 0;
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT " + columns("%s") + from())) {
      for (int row = 0; rows.next(); row = (row + 1) % ROWS) {
        for (int i = 0; i < numbers; i++) {
          float value = rows.getFloat(i + 1);
          floats[i][row] = value == 0 && rows.wasNull() ? Float.NaN : value;
        }
        for (int s = 0; s < ids.length; s++) {
          long id = rows.getLong(numbers + s + 1);
          ids[s][row] = id;
          sum += id;
        }
      }
      return sum;
    } catch (SQLException e) {
      throw new IllegalStateException("duckdb: " + e.getMessage(), e);
    }
  }

  /**
   * The sum of each column, inside DuckDB: a scan without its results; returns the sum of the ids.
   */
  long sums() {
    int numbers = schema.labelDim() + schema.denseDim();
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT " + columns("sum(%s)") + from())) {
      row.next();
      long sum = 0;
      for (int s = 0; s < schema.slotCount(); s++) {
        sum += row.getBigDecimal(numbers + s + 1).longValue();
      }
      return sum;
    } catch (SQLException e) {
      throw new IllegalStateException("duckdb: " + e.getMessage(), e);
    }
  }

  private String columns(String form) {
    return Stream.of(
            schema.labels().stream(),
            schema.dense().stream(),
            schema.slots().stream().map(Slot::name))
        .flatMap(names -> names)
        .map(form::formatted)
        .collect(Collectors.joining(", "));
  }

  private String from() {
    return " FROM read_parquet('" + file + "')";
  }

  @Override
  public void close() {
    try {
      connection.close();
      loader.close();
    } catch (SQLException | java.io.IOException e) {
      throw new IllegalStateException("duckdb: " + e.getMessage(), e);
    }
  }
}
