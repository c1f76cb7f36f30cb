package dev.tern.spark;

import dev.tern.spark.Frame.As;
import java.util.List;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** What Spark writes as Parquet. */
final class ParquetFrames {
  private static final String TIMES =
      "SELECT id row, timestamp_micros((id * 7919 - 300) * 86400000000 * 13 + id * 123456789) t"
          + " FROM range(60)";

  private ParquetFrames() {}

  static List<Frame> all() {
    return List.of(
        Frame.of(
                "integers",
                "SELECT id row, CAST(id - 64 AS TINYINT) a, CAST(id * 257 - 16000 AS SMALLINT) b,"
                    + " CAST(id * 16843009 AS INT) c, (id - 60) * 72340172838076673 d,"
                    + " id % 3 = 0 e FROM range(128)")
            .numbers("a", "b", "c", "d", "e")
            .ids("a", "c", "d", "e")
            .texts("b", "d", "e"),
        Frame.of(
                "floats",
                "SELECT id row, CAST(id * 0.37 - 9 AS FLOAT) a, exp(id - 40) b,"
                    + " CAST('NaN' AS DOUBLE) c FROM range(100)")
            .numbers("a", "b", "c"),
        Frame.of(
                "nulls",
                "SELECT id row, if(id % 2 = 0, id, NULL) a, if(id % 3 = 0, CAST(id AS DOUBLE),"
                    + " NULL) b, if(id % 5 = 0, CAST(id AS STRING), NULL) c FROM range(100)")
            .numbers("a", "b")
            .ids("a")
            .texts("c"),
        Frame.of(
                "all null",
                "SELECT id row, CAST(NULL AS INT) a, CAST(NULL AS STRING) b,"
                    + " CAST(NULL AS DECIMAL(20,2)) c, CAST(NULL AS DATE) d FROM range(10)")
            .numbers("a", "c", "d")
            .ids("a")
            .texts("b"),
        Frame.of(
                "decimal in 32 bits",
                "SELECT id row, CAST(id * 12345.67 - 500000 AS DECIMAL(9,2)) a FROM range(80)")
            .numbers("a")
            .texts("a"),
        Frame.of(
                "decimal in 64 bits",
                "SELECT id row, CAST(id * 12345678.9012 - 500000 AS DECIMAL(18,4)) a FROM"
                    + " range(80)")
            .numbers("a")
            .texts("a"),
        Frame.of(
                "sums of decimals",
                "SELECT id row, sum(CAST(id * 1.25 - 40 AS DECIMAL(18,2))) a FROM range(80)"
                    + " GROUP BY id")
            .numbers("a")
            .texts("a"),
        Frame.of(
                "wide decimals",
                "SELECT id row, CAST(id * CAST('12345678901234567890.123456789' AS DECIMAL(38,9))"
                    + " AS DECIMAL(38,9)) * if(id % 2 = 0, 1, -1) a FROM range(80)")
            .numbers("a")
            .texts("a"),
        Frame.of(
                "decimals as ids",
                "SELECT id row, CAST((id - 40) * 230584300921369395 AS DECIMAL(38,0)) a,"
                    + " CAST(id AS DECIMAL(20,0)) b, CAST(id AS DECIMAL(9,0)) c FROM range(80)")
            .ids("a", "b", "c")
            .numbers("a", "b", "c")
            .texts("a"),
        Frame.of(
                "legacy format",
                "SELECT id row, CAST(id * 1.5 - 20 AS DECIMAL(9,2)) a,"
                    + " CAST(id * 1.5 AS DECIMAL(20,3)) b, array(id, id + 1) c FROM range(50)")
            .conf("spark.sql.parquet.writeLegacyFormat", "true")
            .numbers("a", "b")
            .as(As.IDS, "c"),
        Frame.of("dates", "SELECT id row, date_from_unix_date(id * 997 - 30000) d FROM range(100)")
            .numbers("d")
            .ids("d")
            .texts("d"),
        times("timestamps of 96 bits", "INT96"),
        times("timestamps in microseconds", "TIMESTAMP_MICROS"),
        Frame.of(
                "timestamps in milliseconds",
                "SELECT id row, timestamp_millis((id - 30) * 86400007123) t FROM range(60)")
            .conf("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
            .numbers("t")
            .ids("t")
            .texts("t"),
        Frame.of("timestamps without a zone", TIMES.replace(" t FROM", "::TIMESTAMP_NTZ t FROM"))
            .numbers("t")
            .ids("t")
            .texts("t"),
        Frame.of(
                "binary",
                "SELECT id row, unhex(hex(id * 7919)) a, CAST('' AS BINARY) b FROM range(40)")
            .texts("a", "b"),
        Frame.of(
                "texts",
                "SELECT id row, concat('a', repeat('é𝄞', CAST(id AS INT)), '\\u0000') a,"
                    + " if(id % 4 = 0, '', 'x') b, uuid() c FROM range(40)")
            .texts("a", "b", "c"),
        Frame.of(
                "lists",
                "SELECT id row, if(id % 7 = 0, NULL, transform(sequence(0, CAST(id % 5 AS INT)),"
                    + " x -> x * id)) a, if(id % 3 = 0, array(), array('p', CAST(id AS STRING),"
                    + " NULL)) b FROM range(60)")
            .as(As.IDS, "a")
            .as(As.TEXTS, "b"),
        Frame.of(
                "lists in lists",
                "SELECT id row, array(array(id, id + 1), array(), array(id + 2)) a FROM range(30)")
            .as(As.IDS, "a"),
        Frame.of("vectors", "SELECT id row, array(id * 0.5D, -id * 1D, 3D) v FROM range(30)")
            .as(As.VECTOR, "v"),
        Frame.of(
                "vectors after an empty part",
                spark ->
                    spark.sql("SELECT id row, array(id * 0.5D, 2D) v FROM range(4)").repartition(9))
            .as(As.VECTOR, "v"),
        Frame.of(
                "structs and maps",
                "SELECT id row, named_struct('b', id, 'c', CAST(id AS STRING)) a,"
                    + " map('k', id, 'l', id + 1) m FROM range(20)")
            .ids("a.b")
            .texts("a.c")
            .as(As.TEXTS, "m.key")
            .as(As.IDS, "m.value"),
        Frame.of("vectors of Spark ML", ParquetFrames::mlVectors).as(As.IDS, "features.indices"),
        codec("snappy"),
        codec("gzip"),
        codec("zstd"),
        codec("lz4"),
        codec("lz4_raw"),
        codec("uncompressed"),
        mixed("second version of pages").option("parquet.writer.version", "v2"),
        mixed("no dictionaries").option("parquet.enable.dictionary", "false"),
        Frame.of(
                "folders of partitions",
                "SELECT id row, id * 2 a, date_from_unix_date(20000 + id % 3) day,"
                    + " element_at(array('a/b', 'c:d', 'e%f', 'g h', 'ü', NULL),"
                    + " CAST(id % 6 AS INT) + 1) country FROM range(60)")
            .written(w -> w.partitionBy("day", "country"))
            .numbers("a")
            .texts("country", "day"),
        Frame.of("folders of hidden names", "SELECT id row, id % 2 _hour, id * 3 a FROM range(20)")
            .written(w -> w.partitionBy("_hour"))
            .numbers("a", "_hour"),
        Frame.of(
                "empty parts",
                spark -> spark.sql("SELECT id row, id + 1 a FROM range(3)").repartition(8))
            .numbers("a"),
        Frame.of("no rows", "SELECT id row, id + 1 a FROM range(5) WHERE id > 9").numbers("a"));
  }

  private static Frame times(String name, String type) {
    return Frame.of(name, TIMES)
        .conf("spark.sql.parquet.outputTimestampType", type)
        .numbers("t")
        .ids("t")
        .texts("t");
  }

  private static Frame codec(String codec) {
    return mixed("codec " + codec)
        .option("compression", codec)
        .option("parquet.page.size", "4096")
        .option("parquet.block.size", "65536");
  }

  /** Rows of all kinds whose pages differ in length. */
  private static Frame mixed(String name) {
    return Frame.of(
            name,
            "SELECT id row, if(id % 11 = 0, NULL, id * 7919 % 100000) a, id * 0.125 - 3e3D b,"
                + " repeat(CAST(id * 7919 % 977 AS STRING), CAST(id % 9 AS INT)) c,"
                + " CAST(id * 1.01 AS DECIMAL(25,2)) d, id % 2 = 0 e, array(id, id % 17) f"
                + " FROM range(5000)")
        .numbers("a", "b", "d", "e")
        .ids("a")
        .texts("c")
        .as(As.IDS, "f");
  }

  private static Dataset<Row> mlVectors(SparkSession spark) {
    StructType type =
        new StructType().add("row", DataTypes.LongType).add("features", SQLDataTypes.VectorType());
    return spark.createDataFrame(
        List.of(
            RowFactory.create(0L, Vectors.dense(1, 2, 3)),
            RowFactory.create(1L, Vectors.sparse(3, new int[] {1}, new double[] {5})),
            RowFactory.create(2L, Vectors.dense(-1, 0, 0.5))),
        type);
  }
}
