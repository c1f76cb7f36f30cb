package dev.tern.bench.fuzz;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SkippedRecords;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads or copies a set of files to its end and holds the rows against {@link RowCount}: rows that
 * were read and rows that were reported as left out are the rows of the files, or reading ends in a
 * {@link DataException}. Files lie in memory.
 */
final class ConservationCheck implements AutoCloseable {
  private final FileSystem memory = Jimfs.newFileSystem(Configuration.unix());
  private final Path folder;

  /**
   * How a set is read.
   *
   * @param strict whether the first fault ends it; else faults are counted as {@link
   *     SkippedRecords} counts them
   * @param skip rows that are passed over by {@link DataReader#skip} before reading, if so many
   * @param again whether a second pass must find the same rows, read and reported
   * @param copied whether the records are copied to two files, whose rows are read then
   */
  record Way(
      ReadPolicy.Labels labels,
      boolean strict,
      int threads,
      int skip,
      boolean again,
      boolean copied) {}

  /**
   * What came of it.
   *
   * @param rows that were read or skipped; none where the files were refused
   * @param lost rows that faults cost
   * @param fault what refused the files; empty where they were read
   */
  record Outcome(Optional<Long> rows, long lost, String fault) {}

  ConservationCheck() {
    folder = memory.getPath("/files");
    try {
      Files.createDirectory(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads {@code set} with {@code damaged} in place of its parts' bytes.
   *
   * @throws IllegalStateException if rows are lost or made
   */
  Outcome check(DataSets.DataSet set, List<byte[]> damaged, Way way) {
    List<Path> files = put(set, damaged);
    try {
      Optional<RowCount> expected = count(set, damaged);
      Outcome outcome =
          way.copied && set.copier().isPresent() ? copied(set, files, way) : read(set, files, way);
      outcome.rows().ifPresent(rows -> requireConserved(expected, rows, outcome.lost()));
      return outcome;
    } finally {
      delete(files);
    }
  }

  private static void requireConserved(Optional<RowCount> expected, long rows, long lost) {
    String got = "got " + rows + " rows read and " + lost + " reported, expected ";
    RowCount count =
        expected.orElseThrow(() -> new IllegalStateException(got + "the files refused"));
    if (rows + lost < count.least() || rows + lost > count.most()) {
      throw new IllegalStateException(
          got + (count.least() == count.most() ? "" : count.least() + " to ") + count.most());
    }
  }

  private static Optional<RowCount> count(DataSets.DataSet set, List<byte[]> damaged) {
    Optional<RowCount> sum = Optional.of(RowCount.exactly(0));
    for (int i = 0; i < damaged.size(); i++) {
      Optional<RowCount> part = set.parts().get(i).rows().count(damaged.get(i));
      sum = sum.flatMap(rows -> part.map(rows::plus));
    }
    return sum;
  }

  private static Outcome read(DataSets.DataSet set, List<Path> files, Way way) {
    SkippedRecords skipped = new SkippedRecords(Integer.MAX_VALUE);
    ReadPolicy strict = new ReadPolicy(way.labels, ReadPolicy.STRICT.faults(), way.threads);
    ReadPolicy policy = way.strict ? strict : strict.withFaults(skipped);
    try (DataReader reader = set.opener().open(files, policy)) {
      long rows = reader.skip(way.skip) + rest(reader);
      long lost = skipped.count();
      if (way.again) {
        reader.start(1);
        requireSame(rows, lost, rest(reader), skipped.count());
      }
      return new Outcome(Optional.of(rows), lost, "");
    } catch (DataException e) {
      return new Outcome(Optional.empty(), 0, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Copies the records in turn to two files of the same kind. What is in these must be the rows
   * that were copied, read or reported: values are looked at only there.
   */
  private Outcome copied(DataSets.DataSet set, List<Path> files, Way way) {
    SkippedRecords skipped = new SkippedRecords(Integer.MAX_VALUE);
    ReadPolicy policy = way.strict ? ReadPolicy.STRICT : ReadPolicy.STRICT.withFaults(skipped);
    String name = set.parts().getFirst().name();
    List<Path> parts = List.of(folder.resolve("0-" + name), folder.resolve("1-" + name));
    long[] rows;
    try (RecordCopy copy = set.copier().orElseThrow().open(files, policy, parts)) {
      Batch keys = new Batch(copy.schema(), 1);
      for (int row = 0; copy.next(keys); row++) {
        copy.copyTo(row % 2);
        keys.clear();
      }
      rows = copy.finish();
    } catch (DataException e) {
      requireNothingElse(files);
      return new Outcome(Optional.empty(), 0, String.valueOf(e.getMessage()));
    }
    try {
      for (int part = 0; part < parts.size(); part++) {
        requireCopied(set, parts.get(part), rows[part]);
      }
    } catch (DataException e) {
      // Damage may stand where only a reader looks: in the names of columns, for example.
      return new Outcome(Optional.empty(), 0, String.valueOf(e.getMessage()));
    } finally {
      delete(parts);
    }
    return new Outcome(Optional.of(rows[0] + rows[1]), skipped.count(), "");
  }

  /** Whoever fails leaves no file behind, be it hidden. */
  private void requireNothingElse(List<Path> files) {
    try (Stream<Path> paths = Files.list(folder)) {
      List<Path> others =
          paths.filter(path -> Files.isRegularFile(path) && !files.contains(path)).toList();
      if (!others.isEmpty()) {
        delete(others);
        throw new IllegalStateException("got " + others + " after a failure, expected no file");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void requireCopied(DataSets.DataSet set, Path part, long rows) {
    if (rows == 0) {
      return; // A file without rows may be refused.
    }
    SkippedRecords skipped = new SkippedRecords(Integer.MAX_VALUE);
    try (DataReader reader =
        set.opener().open(List.of(part), ReadPolicy.STRICT.withFaults(skipped))) {
      long read = rest(reader);
      if (read + skipped.count() != rows) {
        throw new IllegalStateException(
            "got %d rows read and %d reported of a copy, expected %d"
                .formatted(read, skipped.count(), rows));
      }
    }
  }

  private static long rest(DataReader reader) {
    long rows = 0;
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        rows += batch.size();
      }
    }
    return rows;
  }

  /**
   * A pass that did not begin amid a part of a file may lose more of it to a fault, and says so.
   */
  private static void requireSame(long rows, long lost, long rowsAgain, long lostAgain) {
    if (rows + lost != rowsAgain + lostAgain || lost > lostAgain) {
      throw new IllegalStateException(
          "got %d rows and %d reported by a second pass, expected %d and %d as by the first"
              .formatted(rowsAgain, lostAgain, rows, lost));
    }
  }

  private List<Path> put(DataSets.DataSet set, List<byte[]> damaged) {
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < damaged.size(); i++) {
      Path file = folder.resolve(set.parts().get(i).name());
      try {
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.write(file, damaged.get(i));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      files.add(file);
    }
    return files;
  }

  /** Threads may still have files open: a new one must come in place of each. */
  private static void delete(List<Path> files) {
    for (Path file : files) {
      try {
        Files.delete(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public void close() {
    try {
      memory.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
