package dev.tern.spark;

import dev.tern.checkpoint.Checkpoint;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.functions;

/**
 * The folder of a run, which the driver and all executors reach by one path:
 *
 * <pre>
 * data/            the rows, staged as Parquet
 * data.txt         what they are: a fingerprint of columns and rows
 * checkpoints/     checkpoints; the newest is what a run goes on from
 * </pre>
 *
 * @param path as text, as it goes to executors
 */
record RunFolder(String path) implements Serializable {
  private static final long FIRST_HASH = 42;
  private static final long SECOND_HASH = 7;

  /** The folder that {@code text} names: a path, or a URI of files. */
  static RunFolder of(String text) {
    Optional<String> scheme = LocalCheckpoint.scheme(text);
    if (scheme.isPresent() && !scheme.get().equals("file")) {
      throw new IllegalArgumentException(
          "runPath: got %s, expected a folder that driver and executors reach as a file system, such as /mnt/share/run1"
              .formatted(text));
    }
    Path folder = LocalCheckpoint.ofFiles(text);
    return new RunFolder(folder.toAbsolutePath().toString());
  }

  private Path folder() {
    return Path.of(path);
  }

  Path checkpoints() {
    return folder().resolve("checkpoints");
  }

  /** The folder of the newest checkpoint. */
  Path newest() {
    return Checkpoint.openLatest(checkpoints()).folder();
  }

  boolean hasCheckpoint() {
    return Checkpoint.existsAt(checkpoints());
  }

  /**
   * Writes rows in an order that depends on them alone, by their hashes; rows that are equal may
   * change places. Rows that were staged before must be the same.
   */
  void stage(Dataset<Row> rows) {
    Column[] all =
        Stream.of(rows.columns()).map(c -> functions.col(Inputs.quoted(c))).toArray(Column[]::new);
    String print = fingerprint(rows, all);
    Path known = folder().resolve("data.txt");
    try {
      if (Files.exists(known)) {
        String before = Files.readString(known);
        if (!before.equals(print)) {
          throw new IllegalArgumentException(
              "runPath: got other rows than those of the run in %s (%s, before %s), expected the same; name another folder"
                  .formatted(path, print, before));
        }
        return;
      }
      Dataset<Row> hashed =
          rows.withColumn("__first", hash(FIRST_HASH, all))
              .withColumn("__second", hash(SECOND_HASH, all));
      hashed
          .sort("__first", "__second")
          .drop("__first", "__second")
          .write()
          .mode("overwrite")
          .parquet("file:" + folder().resolve("data"));
      Files.writeString(known, print);
    } catch (IOException e) {
      throw new UncheckedIOException("runPath: %s cannot be read or written".formatted(path), e);
    }
  }

  private static Column hash(long seed, Column[] all) {
    Column[] seeded =
        Stream.concat(Stream.of(functions.lit(seed)), Stream.of(all)).toArray(Column[]::new);
    return functions.xxhash64(seeded);
  }

  /** Columns, and of rows their number and a sum that does not depend on their order. */
  private static String fingerprint(Dataset<Row> rows, Column[] all) {
    Row sums =
        rows.agg(
                functions.count(functions.lit(1)),
                functions.sum(hash(FIRST_HASH, all).bitwiseAND(0xFFFF_FFFFL)),
                functions.sum(hash(SECOND_HASH, all).bitwiseAND(0xFFFF_FFFFL)))
            .first();
    return "%s, %d rows, %s-%s"
        .formatted(rows.schema().simpleString(), sums.getLong(0), sums.get(1), sums.get(2));
  }

  /** The staged files, in the order of their rows. */
  List<Path> files() {
    try (Stream<Path> files = Files.list(folder().resolve("data"))) {
      return files.filter(file -> file.toString().endsWith(".parquet")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("runPath: the rows in %s cannot be listed".formatted(path), e);
    }
  }
}
