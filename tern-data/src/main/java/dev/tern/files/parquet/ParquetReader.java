package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Reading;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.KeptTexts;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.FileList;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.InputFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Reads Parquet files, one after the other: by column names, or as HugeCTR does, by the indices in
 * {@code _metadata.json}.
 *
 * <p>Columns are scalars or lists of scalars; of lists in lists, a row has the elements of all.
 * What is nested has dotted names: {@code a.b} is a field of a struct, {@code m.key} and {@code
 * m.value} are lists of a map, {@code items.id} is the list of a field of a list of structs. A null
 * above a value is a null, and a null list is empty. Labels and dense numbers may be any numbers,
 * BOOLEAN, or days and times, which count in days since 1970, or lists of them that have one width
 * in all rows. Ids are integers, other numbers that are whole, BOOLEAN, days (since 1970), times
 * (microseconds since 1970 or midnight), or hashes of UUIDs and of bytes of one length. Everything
 * has a text, too; the hash of 16.0 is that of 16, a UUID has its 36 characters, and times are as
 * ISO 8601 has them. An annotation that is unknown leaves the physical type. A NaN is no id and no
 * label. Codecs are SNAPPY, ZSTD, LZ4_RAW, GZIP and BROTLI. All encodings are read, and pages of
 * both versions. Checksums of pages are checked where there are any.
 *
 * <p>Opening reads the footers of all files and checks their columns. Faults name file, row and
 * column, or file, column and the byte at which the broken page begins.
 */
public final class ParquetReader {
  /** Ids in the lists of a batch, about. */
  private static final long BATCH_IDS = 4 << 20;

  private ParquetReader() {}

  /** Reads {@code columns} of {@code paths}, stopping at the first fault. */
  public static DataReader open(List<Path> paths, ParquetOptions options, Columns columns) {
    return open(paths, options, columns, ReadPolicy.STRICT);
  }

  /** Reads {@code columns} of {@code paths}. */
  public static DataReader open(
      List<Path> paths, ParquetOptions options, Columns columns, ReadPolicy policy) {
    return open(paths, options, columns, policy, TextDictionary.none());
  }

  /**
   * Reads {@code columns} of {@code paths} and tells {@code dictionary} every text.
   *
   * @param paths files; folders, of which all files are read whose name or first bytes say that
   *     they are Parquet, in the order of their paths, those of folders in them too, but no names
   *     that begin with "." or "_" without "="; or patterns with "*", "?", "[" or "{" in any name.
   *     A column that a file lacks is read from a folder {@code name=value} that it is in
   */
  public static DataReader open(
      List<Path> paths,
      ParquetOptions options,
      Columns columns,
      ReadPolicy policy,
      TextDictionary dictionary) {
    List<Path> files = InputFiles.of(FileSequence.requireFiles(paths), InputFiles.Kind.PARQUET);
    ParquetPlan plan = ParquetPlan.byName(columns, policy, options, dictionary);
    return read(files, policy, plan, columns.reading(""));
  }

  /**
   * Reads {@code columns} of {@code paths}, and appends for each row of a batch the texts of the
   * columns that {@code kept} names, in the form that a column of texts gives them.
   */
  public static DataReader open(
      List<Path> paths,
      ParquetOptions options,
      Columns columns,
      ReadPolicy policy,
      KeptTexts kept) {
    TextDictionary dictionary = new TextDictionary();
    List<SparseColumn> texts = kept.columns().stream().map(SparseColumn::text).toList();
    Columns others = new Columns(List.of(), Set.of(), List.of(), texts);
    DataReader rows = open(paths, options, columns, policy);
    try {
      DataReader beside =
          open(paths, options, others, ReadPolicy.STRICT.withoutLabels(), dictionary);
      return new ParquetKept(rows, beside, dictionary, kept);
    } catch (RuntimeException e) {
      rows.close();
      throw e;
    }
  }

  /**
   * Copies the rows of {@code paths} to new files with all columns, nested ones too, which need not
   * be of types that are read. A new file has the schema and the metadata of the first file, its
   * codec if Tern compresses by it, and a row group for each one with rows for it; dictionaries are
   * kept, values in other encodings become PLAIN, and there are no statistics. A fault costs all
   * rows of its row group.
   *
   * @param key the column of the key, if there is one, and what means that it is missing ({@link
   *     Columns#ofKey}); a row of {@link RecordCopy#next} has its ids in the only slot
   * @param parts the new files; none to read keys alone
   * @throws DataException where files have other columns, or a column would be lost that stands in
   *     the name of a folder alone
   */
  public static RecordCopy copy(
      List<Path> paths, ParquetOptions options, Columns key, ReadPolicy policy, List<Path> parts) {
    return ParquetRecords.open(paths, options, key, policy, parts);
  }

  /** The columns of the first file of {@code path}, each with its type. */
  public static List<FileColumn> columns(Path path) {
    Path first = InputFiles.of(List.of(path), InputFiles.Kind.PARQUET).getFirst();
    try (ParquetFile file = ParquetFile.open(first)) {
      return ParquetHugeCtr.columns(file);
    }
  }

  /**
   * Whether {@code source} is a HugeCTR data set, which says which columns are what: a file or
   * folder with {@code _metadata.json}, or a file list.
   */
  public static boolean isHugeCtr(Path source) {
    return ParquetHugeCtr.isDescribed(source);
  }

  /** Reads the HugeCTR data set {@code source}, stopping at the first fault. */
  public static DataReader openHugeCtr(Path source, ParquetOptions options) {
    return openHugeCtr(List.of(source), options, ReadPolicy.STRICT);
  }

  /**
   * Reads HugeCTR data sets, all files of all {@code sources} in order.
   *
   * @param sources each a file list ({@link FileList}); or a folder with {@code _metadata.json}, of
   *     which the files named there are read; or one Parquet file. A file is read as the {@code
   *     _metadata.json} beside it says; a listed one that has none beside it, as the one beside the
   *     first file of its list says. All must come to the same columns
   */
  public static DataReader openHugeCtr(
      List<Path> sources, ParquetOptions options, ReadPolicy policy) {
    return new ParquetHugeCtr(options, policy).open(FileSequence.requireFiles(sources));
  }

  private static DataReader read(
      List<Path> files, ReadPolicy policy, ParquetPlan open, Reading reading) {
    Survey survey = new Survey(open);
    List<Path> sound = sound(files, policy, survey::add);
    ParquetPlan plan = survey.plan.settled();
    return FileSequence.open(
        new FileSequence.Rows(plan.schema(), Optional.of(reading)),
        sound,
        OptionalLong.of(survey.rows),
        room(survey.rows, survey.idsOfRow),
        policy.withThreads(1), // columns, not files, are shared out
        (path, faults) -> ParquetSource.open(path, plan, policy, faults));
  }

  /** Rows that a batch should have at most, of {@code rows}, so that their ids are not too many. */
  static long room(long rows, long idsOfRow) {
    return Math.min(rows, Math.max(1, BATCH_IDS / Math.max(1, idsOfRow)));
  }

  /**
   * The candidates, one at least, that pass {@code check}. Any other is a fault that says how many
   * rows it costs; it is thrown if it is the last and none passed: then there is nothing to read.
   */
  static <T> List<T> sound(List<T> candidates, ReadPolicy policy, Consumer<T> check) {
    List<T> sound = new ArrayList<>();
    for (int i = 0; i < candidates.size(); i++) {
      try {
        check.accept(candidates.get(i));
        sound.add(candidates.get(i));
      } catch (DataException e) {
        if (policy.strict() || sound.isEmpty() && i == candidates.size() - 1) {
          throw e;
        }
        policy.faults().report(e);
      }
    }
    return sound;
  }

  /** What the files tell: what is open in a plan, and how many rows there are. */
  private static final class Survey {
    private final ParquetMeanings meanings = new ParquetMeanings();
    private ParquetPlan plan;
    private long rows;
    private long idsOfRow;

    Survey(ParquetPlan open) {
      plan = open;
    }

    void add(Path path) {
      try (ParquetFile file = ParquetFile.open(path)) {
        long more = plan.pruning().rows(file);
        ParquetFile.costing(
            more,
            () -> {
              meanings.check(file, plan);
              ParquetPlan told = plan.settledBy(file);
              rows = FileSequence.addRows(path, rows, more);
              idsOfRow = Math.max(idsOfRow, told.idsOfRow(file));
              plan = told;
            });
      }
    }
  }
}
