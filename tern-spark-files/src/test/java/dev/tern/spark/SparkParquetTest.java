package dev.tern.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Parquet that Spark's own writers make: Tern reads of it what Spark reads back. */
final class SparkParquetTest {
  @TempDir static Path folder;
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark = Sparks.start(folder);
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  static List<Frame> frames() {
    return ParquetFrames.all();
  }

  @ParameterizedTest
  @MethodSource("frames")
  void eachFrameReadsAsSparkReadsIt(Frame frame) {
    Path path = Sparks.write(spark, frame, folder, "parquet");
    Dataset<Row> read = spark.read().parquet(path.toString());
    for (Frame reading : frame.readings()) {
      Map<Long, String> expected = FrameRows.ofSpark(read, reading);
      assertThat(expected).as("rows").hasSize((int) frame.rows().of(spark).count());
      for (int threads = 1; threads <= 3; threads += 2) {
        try (DataReader reader = open(path, reading, threads)) {
          assertThat(FrameRows.ofTern(reader, reading))
              .as("%s, %s threads", reading.uses(), threads)
              .isEqualTo(expected);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("frames")
  void skippedRowsAndTheRestAreAllRows(Frame frame) {
    Path path = Sparks.write(spark, frame, folder, "parquet");
    for (Frame reading : frame.readings()) {
      try (DataReader whole = open(path, reading, 1);
          DataReader rest = open(path, reading, 1)) {
        List<String> all = FrameRows.inOrder(whole, reading);
        long skipped = rest.skip(all.size() / 3);
        assertThat(FrameRows.inOrder(rest, reading))
            .isEqualTo(all.subList((int) skipped, all.size()));
      }
    }
  }

  @Test
  void vectorsOfSparkMlAreRefusedByName() {
    Frame frame =
        ParquetFrames.all().stream()
            .filter(f -> f.name().equals("vectors of Spark ML"))
            .findFirst()
            .orElseThrow();
    Path path = Sparks.write(spark, frame, folder, "parquet");
    Columns columns = new Columns(List.of(), Set.of(), List.of("features"), List.of());
    assertThatThrownBy(() -> ParquetReader.open(List.of(path), ParquetOptions.DEFAULT, columns))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("features");
  }

  @ParameterizedTest
  @MethodSource("otherFormats")
  void filesOfOtherFormatsAreRefusedByName(String format, String named) {
    Frame frame = Frame.of("as " + format, "SELECT id row, CAST(id AS STRING) a FROM range(5)");
    Path path = Sparks.write(spark, frame, folder, format);
    Path part = Sparks.onePart(path);
    Columns columns = frame.numbers("a").columns("");
    assertThatThrownBy(() -> ParquetReader.open(List.of(part), ParquetOptions.DEFAULT, columns))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(part.getFileName().toString())
        .hasMessageContaining(named);
  }

  static List<Arguments> otherFormats() {
    return List.of(Arguments.of("orc", "ORC"), Arguments.of("json", "JSON"));
  }

  private static DataReader open(Path path, Frame frame, int threads) {
    return ParquetReader.open(
        List.of(path),
        ParquetOptions.DEFAULT,
        frame.columns(""),
        ReadPolicy.STRICT.withThreads(threads));
  }
}
