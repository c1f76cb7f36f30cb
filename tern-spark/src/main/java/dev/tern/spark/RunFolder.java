package dev.tern.spark;

import dev.tern.checkpoint.Checkpoint;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
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
 * data/            the rows, staged as Parquet; data.staging while they are written
 * data.txt         what they are: a fingerprint of columns and rows
 * checkpoints/     checkpoints; the newest is what a run goes on from
 * </pre>
 *
 * @param path as text, as it goes to executors
 */
record RunFolder(String path) implements Serializable {
  private static final long FIRST_HASH = 42;
  private static final long SECOND_HASH = 7_000_000;
  private static final long LOW = 0xFFFF_FFFFL;

  // Columns while rows are sorted.
  private static final String FIRST = "__tern first hash";
  private static final String SECOND = "__tern second hash";

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

  /** The name of the newest checkpoint, or nothing where there is none. */
  String newestName() {
    return hasCheckpoint() ? String.valueOf(newest().getFileName()) : "";
  }

  boolean hasCheckpoint() {
    return Checkpoint.existsAt(checkpoints());
  }

  /**
   * Writes rows in an order that depends on them alone: by their hashes, then by their columns.
   * Rows that were staged before must be the same.
   *
   * @throws IllegalArgumentException for no rows, for others than those of the run, and where
   *     something else lies in the folder
   */
  void stage(Dataset<Row> rows) {
    Path known = folder().resolve("data.txt");
    try {
      if (Files.exists(known)) {
        requireSame(Files.readString(known), fingerprint(rows));
        return;
      }
      if (Files.exists(data())) {
        throw new IllegalArgumentException(
            "runPath: got %s, where something lies that Tern did not stage, expected a folder of a run, or none; name another"
                .formatted(data()));
      }
      write(rows);
      Dataset<Row> staged = rows.sparkSession().read().parquet(asPattern(uri(staging())));
      String print = fingerprint(staged);
      if (print.contains(", 0 rows,")) {
        throw new IllegalArgumentException("fit: got no rows, expected some");
      }
      Files.createDirectories(checkpoints()); // Executors must not remember that it was not there.
      Files.move(staging(), data(), StandardCopyOption.ATOMIC_MOVE);
      Path part = folder().resolve("data.txt.part");
      Files.writeString(part, print);
      Files.move(part, known, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException("runPath: %s cannot be read or written".formatted(path), e);
    }
  }

  private void requireSame(String before, String now) {
    if (!before.equals(now)) {
      throw new IllegalArgumentException(
          "runPath: got other rows than those of the run in %s (%s, before %s), expected the same, and the same whenever they are asked for; name another folder, or write rows that are drawn to a file first"
              .formatted(path, now, before));
    }
  }

  private void write(Dataset<Row> rows) {
    Column[] all = columns(rows);
    Dataset<Row> hashed =
        rows.withColumn(FIRST, hash(FIRST_HASH, all)).withColumn(SECOND, hash(SECOND_HASH, all));
    Column[] order =
        Stream.concat(Stream.of(functions.col(FIRST), functions.col(SECOND)), Stream.of(all))
            .toArray(Column[]::new);
    hashed
        .sort(order)
        .drop(FIRST, SECOND)
        .write()
        .mode("overwrite")
        .option("compression", "snappy")
        .parquet(uri(staging()));
  }

  private Path data() {
    return folder().resolve("data");
  }

  private Path staging() {
    return folder().resolve("data.staging");
  }

  private static String uri(Path files) {
    return "file:" + files;
  }

  /** What Spark reads as this path alone: it takes paths of files to read for patterns. */
  private static String asPattern(String path) {
    return path.replaceAll("[\\\\\\[\\]{}*?]", "\\\\$0");
  }

  private static Column[] columns(Dataset<Row> rows) {
    return Stream.of(rows.columns())
        .map(name -> functions.col(Inputs.quoted(name)))
        .toArray(Column[]::new);
  }

  /** Hashes each column by itself, as Spark's hash of several leaves out nulls and joins arrays. */
  private static Column hash(long seed, Column[] all) {
    List<Column> each = new ArrayList<>();
    for (int i = 0; i < all.length; i++) {
      each.add(functions.xxhash64(functions.lit(seed + i), functions.isnull(all[i]), all[i]));
    }
    return functions.xxhash64(each.toArray(Column[]::new));
  }

  /** Columns, and of rows their number and sums that do not depend on their order. */
  private static String fingerprint(Dataset<Row> rows) {
    Column[] all = columns(rows);
    Row sums =
        rows.agg(
                functions.count(functions.lit(1)),
                functions.sum(hash(FIRST_HASH, all).bitwiseAND(LOW)),
                functions.sum(hash(SECOND_HASH, all).bitwiseAND(LOW)))
            .first();
    return "%s, %d rows, %s-%s"
        .formatted(rows.schema().simpleString(), sums.getLong(0), sums.get(1), sums.get(2));
  }

  /** The staged files, in the order of their rows. */
  List<Path> files() {
    try (Stream<Path> files = Files.list(data())) {
      return files.filter(file -> file.toString().endsWith(".parquet")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("runPath: the rows in %s cannot be listed".formatted(path), e);
    }
  }
}
