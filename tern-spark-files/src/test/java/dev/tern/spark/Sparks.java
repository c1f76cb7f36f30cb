package dev.tern.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;

/** A session of Spark in this process, and what it writes. */
final class Sparks {
  private Sparks() {}

  static SparkSession start(Path folder) {
    return SparkSession.builder()
        .master("local[2]")
        .appName("tern")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.datetime.java8API.enabled", "true")
        .config("spark.sql.warehouse.dir", folder.resolve("warehouse").toString())
        .config("spark.local.dir", folder.resolve("local").toString())
        .getOrCreate();
  }

  /** Writes {@code frame} once and returns its folder. */
  static Path write(SparkSession spark, Frame frame, Path folder, String format) {
    Path path = folder.resolve(frame.name().replace(' ', '-') + "." + format);
    if (Files.exists(path)) {
      return path;
    }
    for (int i = 0; i < frame.conf().size(); i += 2) {
      spark.conf().set(frame.conf().get(i), frame.conf().get(i + 1));
    }
    try {
      frame
          .writer()
          .apply(frame.rows().of(spark).write().mode(SaveMode.ErrorIfExists))
          .format(format)
          .save(path.toString());
    } finally {
      for (int i = 0; i < frame.conf().size(); i += 2) {
        spark.conf().unset(frame.conf().get(i));
      }
    }
    return path;
  }

  /** A file of data that Spark wrote into {@code folder}. */
  static Path onePart(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("part-"))
          .sorted()
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
