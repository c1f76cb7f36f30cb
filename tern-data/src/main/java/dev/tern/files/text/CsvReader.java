package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.KeptTexts;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.InputFiles;
import dev.tern.internal.files.TextBytes;
import dev.tern.internal.files.TimeOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;

/**
 * Reads CSV and TSV files, plain or gzip, one after the other: fields quoted as in RFC 4180, empty
 * lines at the end ignored, the last line with or without its end. Each file may order its columns
 * differently where its first line names them. A folder stands for all files in it and below it,
 * but those whose names begin with "." or "_", and a path with "*", "?", "[" or "{" for those that
 * match. A column that a file lacks is read from a folder {@code name=value} that it is in.
 *
 * <p>Numbers are rounded as {@link Float#parseFloat} rounds. An empty dense field is NaN. Text
 * becomes its {@link dev.tern.data.encode.TextHash}. Faults name file, line, byte offset and
 * column.
 */
public final class CsvReader {
  private CsvReader() {}

  /** The columns of {@code file}, each with its text in the first row. */
  public static List<FileColumn> columns(Path file, CsvOptions options) {
    return CsvFile.columns(file, options);
  }

  /** Reads {@code columns} of {@code files} in order, stopping at the first fault. */
  public static DataReader open(List<Path> files, CsvOptions options, Columns columns) {
    return open(files, options, columns, ReadPolicy.STRICT);
  }

  /** Reads {@code columns} of {@code files} in order. */
  public static DataReader open(
      List<Path> files, CsvOptions options, Columns columns, ReadPolicy policy) {
    return open(files, options, columns, policy, TextDictionary.none());
  }

  /** Reads {@code columns} of {@code files} in order and tells {@code dictionary} every text. */
  public static DataReader open(
      List<Path> files,
      CsvOptions options,
      Columns columns,
      ReadPolicy policy,
      TextDictionary dictionary) {
    Columns wanted = policy.read(columns);
    TimeOrder order = new TimeOrder();
    return open(
        files,
        rows(wanted, options),
        policy,
        (file, read) -> CsvFile.open(file, options, wanted, read, dictionary, order));
  }

  /**
   * Reads {@code columns} of {@code files} in order, with one thread, and appends the texts of the
   * columns that {@code kept} names for each row of a batch: {@link KeptTexts#rows} is the size of
   * the batch if the texts of the batch before it were cleared. {@link DataReader#skip} keeps none.
   */
  public static DataReader open(
      List<Path> files, CsvOptions options, Columns columns, ReadPolicy policy, KeptTexts kept) {
    Columns wanted = policy.read(columns);
    TextDictionary none = TextDictionary.none();
    TimeOrder order = new TimeOrder();
    return open(
        files,
        rows(wanted, options),
        policy.withThreads(1),
        (file, read) -> CsvFile.open(file, options, wanted, read, none, order).keep(kept));
  }

  /**
   * Copies the records of {@code files} to new files: lines as they are written, each with an end.
   * A new file begins as the first file does, up to the names of columns, so these options read it
   * too. It is in the same encoding, and compressed by gzip if its name ends in {@code .gz}.
   * Comments between records are left out. Of a record the number of its fields is checked and its
   * key is read.
   *
   * @param key the column of the key, a feature or not, if there is one, and what means that it is
   *     missing ({@link Columns#ofKey}); a row of {@link RecordCopy#next} has its ids in the only
   *     slot
   * @param policy what becomes of bad records
   * @param parts the new files; none to read keys alone
   * @throws DataException where files name other columns, or a column would be lost that stands in
   *     the name of a folder alone
   */
  public static RecordCopy copy(
      List<Path> files, CsvOptions options, Columns key, ReadPolicy policy, List<Path> parts) {
    return CsvRecords.copy(files, options, key, policy, parts);
  }

  /** Reads files that {@code opener} opens, after a look into each that can be read twice. */
  private static DataReader open(
      List<Path> files,
      FileSequence.Rows rows,
      ReadPolicy policy,
      BiFunction<Path, ReadPolicy, CsvFile> opener) {
    List<Path> sound =
        FileSequence.sound(
            InputFiles.of(FileSequence.requireFiles(files), InputFiles.Kind.TEXT),
            policy,
            file -> {
              if (TextBytes.requireRereadable(file, policy)) {
                opener.apply(file, policy).close();
              }
            });
    return FileSequence.open(
        rows,
        sound,
        OptionalLong.empty(),
        policy,
        (file, faults) -> opener.apply(file, policy.withFaults(faults)));
  }

  private static FileSequence.Rows rows(Columns wanted, CsvOptions options) {
    return new FileSequence.Rows(wanted.schema(), Optional.of(wanted.reading(options.trimmed())));
  }
}
