package dev.tern.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.DataReader;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.text.CsvReader;
import dev.tern.spark.CsvFrames.CsvFrame;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** CSV that Spark's own writer makes: Tern reads of it what Spark reads back. */
final class SparkCsvTest {
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

  static List<CsvFrame> frames() {
    return CsvFrames.all();
  }

  @ParameterizedTest
  @MethodSource("frames")
  void eachFrameReadsAsSparkReadsIt(CsvFrame csv) {
    Frame frame = csv.frame();
    Path path = Sparks.write(spark, frame, folder, "csv");
    Dataset<Row> rows = frame.rows().of(spark);
    Dataset<Row> read =
        spark
            .read()
            .options(csv.spark())
            .option("ignoreLeadingWhiteSpace", "false")
            .option("ignoreTrailingWhiteSpace", "false")
            .schema(rows.schema())
            .csv(path.toString());
    for (Frame reading : frame.readings()) {
      Map<Long, String> expected = FrameRows.ofSpark(read, reading);
      assertThat(expected).as("rows").hasSize((int) rows.count());
      Columns columns = reading.columns("").withMissing(Set.copyOf(csv.missing()));
      try (DataReader reader =
          CsvReader.open(List.of(path), csv.tern(), columns, ReadPolicy.STRICT)) {
        assertThat(FrameRows.ofTern(reader, reading)).as("%s", reading.uses()).isEqualTo(expected);
      }
    }
  }
}
