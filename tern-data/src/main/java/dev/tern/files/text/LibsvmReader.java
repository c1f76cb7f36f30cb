package dev.tern.files.text;

import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.InputFiles;
import dev.tern.internal.files.TextBytes;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * Reads files of LIBSVM, SVMlight and LIBFFM, plain or gzip, one after the other: a label, then
 * features by number with a value each, then perhaps a comment from {@code #} on. Feature numbers
 * may start at 0 or 1 and stand in any order. Folders and patterns are as in {@link CsvReader}.
 *
 * <p>A dense number that a line does not have is 0, as these libraries take it; {@code nan} says
 * missing. An id must have the value 1, or {@link LibsvmOptions} say what other values mean; with
 * the value 0 the row does not have it. A label of -1 is read as 0 where labels are 0 or 1. Without
 * fields a line has each feature once. Faults name file, line and byte offset.
 */
public final class LibsvmReader {
  private static final int LOOK = 1000;

  private LibsvmReader() {}

  /**
   * The fields of the first rows of {@code file}, each with one of its features and values. Empty
   * where the notation has none.
   */
  public static List<FileColumn> columns(Path file, LibsvmOptions options) {
    return options.fields() ? LibsvmFields.of(file, options, LOOK) : List.of();
  }

  /** Reads {@code columns} of {@code files} in order, stopping at the first fault. */
  public static DataReader open(List<Path> files, LibsvmOptions options, Columns columns) {
    return open(files, options, columns, ReadPolicy.STRICT);
  }

  /**
   * Reads {@code columns} of {@code files} in order. {@link LibsvmOptions} says how columns are
   * named.
   *
   * @throws IllegalArgumentException where the notation has no such columns
   */
  public static DataReader open(
      List<Path> files, LibsvmOptions options, Columns columns, ReadPolicy policy) {
    Columns wanted = policy.read(columns);
    requireIds(wanted);
    Schema schema = options.schema(wanted.schema());
    LibsvmColumns found = new LibsvmColumns(schema, options);
    List<Path> sound =
        FileSequence.sound(
            InputFiles.of(FileSequence.requireFiles(files), InputFiles.Kind.TEXT),
            policy,
            file -> {
              if (TextBytes.requireRereadable(file, policy)) {
                options.lines(file).close();
              }
            });
    return FileSequence.open(
        schema,
        sound,
        OptionalLong.empty(),
        policy,
        (file, faults) -> LibsvmFile.open(file, options, wanted, found, policy.withFaults(faults)));
  }

  /**
   * Copies the lines of {@code files} to new files as they are written, with their weights, queries
   * and comments, each with an end. A new file begins as the first file does, where lines are
   * skipped, is in the same encoding, and compressed by gzip if its name ends in {@code .gz}. Lines
   * of comments alone are left out.
   *
   * @param key the query, {@code qid}; a feature, whose value is the key, 0 where a line lacks it,
   *     and of a number however it is written; or all ids of a field, or without fields of the
   *     line, under any other name. {@link SparseColumn.Values#TIME} takes these as numbers or
   *     times. A row of {@link RecordCopy#next} has them in the only slot. With what means that a
   *     value is missing ({@link Columns#ofKey})
   * @param policy what becomes of bad records
   * @param parts the new files; none to read keys alone
   * @throws IllegalArgumentException where the notation has no such key
   */
  public static RecordCopy copy(
      List<Path> files, LibsvmOptions options, Columns key, ReadPolicy policy, List<Path> parts) {
    return LibsvmRecords.copy(files, options, key, policy, parts);
  }

  private static void requireIds(Columns columns) {
    for (SparseColumn column : columns.sparse()) {
      if (column.text()) {
        throw new IllegalArgumentException(
            "libsvm: got the column %s of text, expected ids; read it as integers"
                .formatted(column.name()));
      }
    }
  }
}
