package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;

/**
 * Collects the files of a folder that are data ({@link InputFiles}), through links to folders too.
 *
 * <p>A table of Delta Lake, Hudi, Iceberg or a stream of Spark is refused: its log says which of
 * its files are rows, and the others hold rows that were changed or removed.
 */
final class DataFolder extends SimpleFileVisitor<Path> {
  static final Set<FileVisitOption> OPTIONS = Set.of(FileVisitOption.FOLLOW_LINKS);

  private static final String ICEBERG = "an Iceberg table";
  private static final Map<String, String> LOGS =
      Map.of(
          "_delta_log", "a Delta Lake table",
          ".hoodie", "a Hudi table",
          "_spark_metadata", "the output of a stream of Spark");

  private final Path folder;
  private final SortedSet<Path> files;

  /** A visitor of {@code folder} that adds what it finds to {@code files}. */
  DataFolder(Path folder, SortedSet<Path> files) {
    this.folder = folder;
    this.files = files;
  }

  @Override
  public FileVisitResult preVisitDirectory(Path inside, BasicFileAttributes attributes) {
    String name = String.valueOf(inside.getFileName());
    String table = LOGS.get(name);
    if (table != null && !inside.equals(folder)) {
      throw refused(inside, table);
    }
    return InputFiles.isHidden(name) && !inside.equals(folder)
        ? FileVisitResult.SKIP_SUBTREE
        : FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
    String name = String.valueOf(file.getFileName());
    Path home = file.getParent();
    if (name.endsWith(".metadata.json") && home != null && home.endsWith("metadata")) {
      throw refused(file, ICEBERG);
    }
    if (!InputFiles.isHidden(name)) {
      InputFiles.requireNoLink(file);
      files.add(file);
    }
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
    if (InputFiles.isHidden(String.valueOf(file.getFileName())) && !file.equals(folder)) {
      return FileVisitResult.CONTINUE;
    }
    throw e;
  }

  private DataException refused(Path log, String table) {
    return new DataException(
        ("%s: got %s (%s), expected files that all hold rows; write its rows as Parquet or CSV, or"
                + " name the files, as in %s")
            .formatted(folder, table, log, folder.resolve("*.parquet")));
  }
}
