package dev.tern.bench.fuzz;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SparseColumn;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormCheck;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.records.NormWriter;
import dev.tern.files.records.RawOptions;
import dev.tern.files.records.RawReader;
import dev.tern.files.records.RawWriter;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.CsvWriter;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import dev.tern.files.text.LibsvmWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.column.ParquetProperties.WriterVersion;

/** Sound sets of one to three files, of every format, made from a seed. */
final class DataSets {
  private static final int MOST_ROWS = 60;
  private static final Columns NO_KEY = Columns.ofKey(Optional.empty(), Set.of());
  private static final Schema RAGGED =
      new Schema(
          List.of("y"),
          List.of("n", "a"),
          List.of(Slot.oneHot("one"), Slot.ragged("bag"), new Slot("two", 2)));
  private static final Schema FIXED =
      new Schema(List.of("y"), List.of("n", "a"), List.of(Slot.oneHot("one"), new Slot("two", 2)));

  /** Opens the readers of a set of files. */
  @FunctionalInterface
  interface Opener {
    DataReader open(List<Path> files, ReadPolicy policy);
  }

  /** Opens copies of the records of a set of files. */
  @FunctionalInterface
  interface Copier {
    RecordCopy open(List<Path> files, ReadPolicy policy, List<Path> parts);
  }

  /**
   * One file.
   *
   * @param rows counts the rows of what damage makes of it
   */
  record Part(String name, byte[] bytes, RowCount.Counter rows) {
    /** This part in a folder that names a column. */
    Part inFolder(boolean gzip) {
      return new Part(folderOf(name), bytes, RowCount.inFolder(gzip, rows));
    }
  }

  /**
   * Files of one format that are read one after the other.
   *
   * @param framed whether records have checksums, which damage must not always hide behind
   * @param copier none where folders name a column, which parts elsewhere would lose
   */
  record DataSet(List<Part> parts, boolean framed, Opener opener, Optional<Copier> copier) {
    DataSet(List<Part> parts, boolean framed, Opener opener) {
      this(parts, framed, opener, Optional.empty());
    }

    DataSet copiedBy(Copier copier) {
      return new DataSet(parts, framed, opener, Optional.of(copier));
    }
  }

  private final Path folder;
  private final SplittableRandom random;
  private final TextSets texts;

  private DataSets(Path folder, long seed) {
    this.folder = folder;
    random = new SplittableRandom(seed);
    texts = new TextSets(random);
  }

  /** {@code count} sets of {@code seed}; {@code folder} is where writers work, empty afterwards. */
  static List<DataSet> of(Path folder, int count, long seed) {
    DataSets sets = new DataSets(folder, seed);
    List<DataSet> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(sets.next(i));
    }
    return all;
  }

  private DataSet next(int number) {
    return switch (number % 10) {
      case 0 -> csv();
      case 1, 2, 3 -> notation();
      case 4 -> libffm();
      case 5 -> libsvm();
      case 6 -> norm();
      case 7 -> raw();
      case 8 -> parquet();
      default -> random.nextInt(4) == 0 ? otherParquet() : lake();
    };
  }

  /** Up to three files by {@code writer} of a name. */
  private List<Part> parts(String ending, Function<Path, DataWriter> writer, Counting counting) {
    List<Part> parts = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      String name = "part-" + parts.size() + ending;
      int rows = random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(1, MOST_ROWS);
      byte[] bytes = written(name, writer, rows);
      parts.add(new Part(name, bytes, counting.of(rows)));
    }
    return parts;
  }

  /** What counts the rows of a file that {@code rows} were written to. */
  private interface Counting {
    RowCount.Counter of(long rows);
  }

  private byte[] written(String name, Function<Path, DataWriter> by, int rows) {
    Path file = folder.resolve(name);
    try (DataWriter writer = by.apply(file)) {
      writer.write(rows(writer.schema(), rows));
      writer.finish();
    }
    return taken(file);
  }

  /** The bytes of {@code file}, which is deleted. */
  private static byte[] taken(Path file) {
    try {
      byte[] bytes = Files.readAllBytes(file);
      Files.delete(file);
      return bytes;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Batch rows(Schema schema, int rows) {
    Batch batch = new Batch(schema, Math.max(1, rows));
    for (int row = 0; row < rows; row++) {
      batch.setLabel(0, random.nextInt(2));
      for (int i = 0; i < schema.denseDim(); i++) {
        batch.setDense(i, i == 0 ? row : random.nextInt(50));
      }
      for (int slot = 0; slot < schema.slotCount(); slot++) {
        int hotness = schema.slots().get(slot).hotness();
        for (int k = hotness == 0 ? random.nextInt(4) : hotness; k > 0; k--) {
          batch.addId(slot, random.nextInt(random.nextInt(1, 1000)));
        }
      }
      batch.endRow();
    }
    return batch;
  }

  private DataSet csv() {
    boolean tabs = random.nextBoolean();
    boolean headless = random.nextInt(4) == 0;
    boolean quotes = random.nextInt(4) != 0;
    CsvOptions plain = tabs ? CsvOptions.tsv() : CsvOptions.csv();
    char delimiter = tabs ? '\t' : ',';
    List<String> names = List.of("y", "n", "a", "one", "bag", "two");
    CsvOptions options =
        new CsvOptions(delimiter, headless ? names : List.of(), random.nextBoolean(), quotes);
    CsvRows records = new CsvRows(options);
    boolean gzip = random.nextInt(3) == 0;
    List<Part> parts = new ArrayList<>();
    for (Part part : parts(".csv", file -> CsvWriter.create(file, RAGGED, plain), _ -> records)) {
      String text = new String(part.bytes, StandardCharsets.UTF_8);
      text = headless ? text.substring(text.indexOf('\n') + 1) : text;
      parts.add(text(part.name, decorated(text, quotes ? delimiter : 0), gzip, records));
    }
    return new DataSet(
            parts,
            false,
            (files, policy) -> CsvReader.open(files, options, Columns.of(RAGGED), policy))
        .copiedBy((from, policy, to) -> CsvReader.copy(from, options, NO_KEY, policy, to));
  }

  /** {@code text} in one of the ways that programs write it. */
  private byte[] decorated(String text, char quotable) {
    String decorated = text;
    if (quotable != 0 && random.nextInt(3) == 0) {
      int at = decorated.indexOf('\n') + 1;
      decorated =
          decorated.substring(0, at)
              + decorated
                  .substring(at)
                  .replaceAll("(?m)" + quotable + "(\\d+)$", quotable + "\"$1\"");
    }
    decorated = random.nextInt(4) == 0 ? decorated.replace("\n", "\r\n") : decorated;
    boolean cut = random.nextInt(4) == 0 && decorated.endsWith("\n");
    decorated = cut ? decorated.substring(0, decorated.length() - 1) : decorated;
    decorated = random.nextInt(8) == 0 ? decorated + "\n\n" : decorated;
    decorated = random.nextInt(8) == 0 ? "\ufeff" + decorated : decorated;
    return decorated.getBytes(StandardCharsets.UTF_8);
  }

  private Part text(String name, byte[] bytes, boolean gzip, RowCount.Counter rows) {
    return gzip
        ? new Part(name + ".gz", zipped(bytes), RowCount.gzip(rows))
        : new Part(name, bytes, rows);
  }

  /**
   * {@code bytes} in one to three members, some of them empty, sometimes with zeros behind them.
   */
  private byte[] zipped(byte[] bytes) {
    ByteArrayOutputStream zipped = new ByteArrayOutputStream();
    int members = random.nextInt(1, 4);
    int from = 0;
    for (int i = 1; i <= members; i++) {
      int drawn = random.nextInt(4) == 0 ? from : random.nextInt(from, bytes.length + 1);
      int to = i == members ? bytes.length : drawn;
      try (GZIPOutputStream out = new GZIPOutputStream(zipped)) {
        out.write(bytes, from, to - from);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      from = to;
    }
    byte[] whole = zipped.toByteArray();
    return random.nextInt(8) == 0 ? Arrays.copyOf(whole, whole.length + 512) : whole;
  }

  private DataSet libffm() {
    LibsvmOptions options = LibsvmOptions.libffm().withNamesOf(RAGGED);
    boolean gzip = random.nextInt(3) == 0;
    List<Part> parts = new ArrayList<>();
    for (Part part :
        parts(".ffm", file -> LibsvmWriter.create(file, RAGGED, options), _ -> RowCount.lines(0))) {
      String text = new String(part.bytes, StandardCharsets.UTF_8);
      text = random.nextInt(4) == 0 ? "# made by a test\n" + text : text;
      parts.add(text(part.name, decorated(text, (char) 0), gzip, RowCount.lines(0)));
    }
    return new DataSet(
            parts,
            false,
            (files, policy) -> LibsvmReader.open(files, options, Columns.of(RAGGED), policy))
        .copiedBy((from, policy, to) -> LibsvmReader.copy(from, options, NO_KEY, policy, to));
  }

  /** CSV with delimiters, escapes, comments, markers, encodings and folders of any kind. */
  private DataSet notation() {
    List<String> names = List.of("y", "n", "a", "one", "bag", "two");
    CsvOptions options = texts.csv(names);
    boolean gzip = random.nextInt(3) == 0;
    RowCount.Counter rows = new CsvRows(options);
    List<Part> parts = new ArrayList<>();
    for (Part part :
        parts(".csv", file -> CsvWriter.create(file, RAGGED, CsvOptions.csv()), _ -> rows)) {
      String text = texts.csv(new String(part.bytes, StandardCharsets.UTF_8), options);
      parts.add(encoded(part.name, text, options.text().encoding(), gzip, rows));
    }
    // A folder in which all files are empty is refused.
    boolean rowsAtAll =
        parts.stream().anyMatch(part -> part.rows.count(part.bytes).orElseThrow().least() > 0);
    boolean folders = rowsAtAll && random.nextInt(3) == 0;
    Columns columns = TextSets.columns(RAGGED, folders);
    if (folders) {
      return new DataSet(
          parts.stream().map(part -> part.inFolder(gzip)).toList(),
          false,
          (files, policy) -> CsvReader.open(root(files), options, columns, policy));
    }
    return new DataSet(
            parts, false, (files, policy) -> CsvReader.open(files, options, columns, policy))
        .copiedBy((from, policy, to) -> CsvReader.copy(from, options, NO_KEY, policy, to));
  }

  /** A file of {@code text} in {@code encoding}. */
  private Part encoded(
      String name, String text, Charset encoding, boolean gzip, RowCount.Counter rows) {
    if (encoding.equals(StandardCharsets.UTF_8)) {
      return text(name, decorated(text, (char) 0), gzip, rows);
    }
    String plain = new String(decorated(text, (char) 0), StandardCharsets.UTF_8);
    byte[] bytes = plain.replace("\ufeff", "").getBytes(encoding);
    return text(name, bytes, gzip, RowCount.recoded(encoding, rows));
  }

  /** The folder that holds the folders of {@code files}. */
  private static List<Path> root(List<Path> files) {
    return List.of(TextCorpus.above(files.getFirst(), 2));
  }

  private DataSet libsvm() {
    LibsvmOptions options = texts.libsvm();
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("2"),
            List.of(SparseColumn.id("rest"), SparseColumn.id("qid")),
            Set.of("NA"));
    boolean gzip = random.nextInt(3) == 0;
    RowCount.Counter rows = RowCount.lines(options.text().skipLines());
    List<Part> parts = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      String text = texts.libsvm(random.nextInt(1, MOST_ROWS), options);
      parts.add(
          encoded("part-" + parts.size() + ".svm", text, options.text().encoding(), gzip, rows));
    }
    return new DataSet(
            parts, false, (files, policy) -> LibsvmReader.open(files, options, columns, policy))
        .copiedBy((from, policy, to) -> LibsvmReader.copy(from, options, NO_KEY, policy, to));
  }

  private DataSet norm() {
    NormCheck check = NormCheck.values()[random.nextInt(NormCheck.values().length)];
    KeyType keys = random.nextBoolean() ? KeyType.U32 : KeyType.I64;
    NormOptions options =
        random.nextBoolean()
            ? NormOptions.DETECT
            : NormOptions.DETECT.withKeys(keys).withSchema(RAGGED);
    return new DataSet(
            parts(
                ".data",
                file -> NormWriter.create(file, RAGGED, check, keys),
                _ -> RowCount.norm()),
            check == NormCheck.SUM,
            (files, policy) -> NormReader.open(files, options, policy))
        .copiedBy(
            (from, policy, to) -> NormReader.copy(from, options, Optional.empty(), policy, to));
  }

  private DataSet raw() {
    KeyType keys = KeyType.values()[random.nextInt(KeyType.values().length)];
    boolean ints = random.nextBoolean();
    RawOptions.Dense dense = ints ? RawOptions.Dense.INT : RawOptions.Dense.FLOAT;
    RawOptions options = new RawOptions(FIXED, ints, dense, keys, OptionalLong.empty());
    int sample = 4 * (FIXED.labelDim() + FIXED.denseDim()) + 3 * keys.bytes();
    return new DataSet(
            parts(".bin", file -> RawWriter.create(file, options), _ -> RowCount.raw(sample)),
            false,
            (files, policy) -> RawReader.open(files, options, policy))
        .copiedBy(
            (from, policy, to) -> RawReader.copy(from, options, Optional.empty(), policy, to));
  }

  /** Parquet in folders that name a column, as Hive and Spark write it. */
  private DataSet lake() {
    Columns columns = TextSets.columns(RAGGED, true);
    List<Part> parts =
        parts(
            ".parquet",
            file -> ParquetWriter.create(file, RAGGED, ParquetLayout.DEFAULT.withGroupRows(20)),
            RowCount::written);
    return new DataSet(
        parts.stream().map(part -> new Part(folderOf(part.name), part.bytes, part.rows)).toList(),
        false,
        (files, policy) ->
            ParquetReader.open(root(files), ParquetOptions.DEFAULT, columns, policy));
  }

  private static String folderOf(String name) {
    return "day=2026-01-1" + name.charAt("part-".length()) + "/" + name;
  }

  /** Parquet that parquet-java writes, without checksums. */
  private DataSet otherParquet() {
    WriterVersion version = WriterVersion.values()[random.nextInt(2)];
    String codec = List.of("UNCOMPRESSED", "SNAPPY", "ZSTD").get(random.nextInt(3));
    boolean split = random.nextBoolean();
    List<Part> parts = new ArrayList<>();
    for (int i = random.nextInt(1, 3); i > 0; i--) {
      String name = "part-" + parts.size() + ".parquet";
      ReaderCorpus.writeJava(folder.resolve(name), version, codec, split);
      parts.add(new Part(name, taken(folder.resolve(name)), RowCount.written(ReaderCorpus.ROWS)));
    }
    return new DataSet(
            parts,
            false,
            (files, policy) ->
                ParquetReader.open(
                    files, ParquetOptions.DEFAULT, ReaderCorpus.JAVA_COLUMNS, policy))
        .copiedBy((from, policy, to) ->
            ParquetReader.copy(from, ParquetOptions.DEFAULT, NO_KEY, policy, to));
  }

  private DataSet parquet() {
    ParquetLayout.Codec[] codecs = ParquetLayout.Codec.values();
    ParquetLayout layout =
        ParquetLayout.DEFAULT
            .withCodec(codecs[random.nextInt(codecs.length)])
            .withGroupRows(random.nextInt(5, 40));
    return new DataSet(
            parts(
                ".parquet", file -> ParquetWriter.create(file, RAGGED, layout), RowCount::written),
            false,
            (files, policy) ->
                ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(RAGGED), policy))
        .copiedBy((from, policy, to) ->
            ParquetReader.copy(from, ParquetOptions.DEFAULT, NO_KEY, policy, to));
  }
}
