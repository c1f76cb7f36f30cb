package dev.tern.bench.fuzz;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.zip.GZIPOutputStream;

/** Sound sets of one to three files, of every format, made from a seed. */
final class DataSets {
  private static final int MOST_ROWS = 60;
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

  /**
   * One file.
   *
   * @param rows counts the rows of what damage makes of it
   */
  record Part(String name, byte[] bytes, RowCount.Counter rows) {}

  /**
   * Files of one format that are read one after the other.
   *
   * @param framed whether records have checksums, which damage must not always hide behind
   */
  record DataSet(List<Part> parts, boolean framed, Opener opener) {}

  private final Path folder;
  private final SplittableRandom random;

  private DataSets(Path folder, long seed) {
    this.folder = folder;
    random = new SplittableRandom(seed);
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
    return switch (number % 6) {
      case 0, 1 -> csv();
      case 2 -> libsvm();
      case 3 -> norm();
      case 4 -> raw();
      default -> parquet();
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
    CsvRows records = new CsvRows((byte) delimiter, options.trim(), quotes, !headless);
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
        (files, policy) -> CsvReader.open(files, options, Columns.of(RAGGED), policy));
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

  /** {@code bytes} in one to three members, sometimes with zeros behind them. */
  private byte[] zipped(byte[] bytes) {
    ByteArrayOutputStream zipped = new ByteArrayOutputStream();
    int members = random.nextInt(1, 4);
    int from = 0;
    for (int i = 1; i <= members; i++) {
      int to = i == members ? bytes.length : random.nextInt(from, bytes.length + 1);
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

  private DataSet libsvm() {
    LibsvmOptions options = LibsvmOptions.libffm().withNamesOf(RAGGED);
    boolean gzip = random.nextInt(3) == 0;
    List<Part> parts = new ArrayList<>();
    for (Part part :
        parts(".ffm", file -> LibsvmWriter.create(file, RAGGED, options), _ -> RowCount.lines())) {
      String text = new String(part.bytes, StandardCharsets.UTF_8);
      text = random.nextInt(4) == 0 ? "# made by a test\n" + text : text;
      parts.add(text(part.name, decorated(text, (char) 0), gzip, RowCount.lines()));
    }
    return new DataSet(
        parts,
        false,
        (files, policy) -> LibsvmReader.open(files, options, Columns.of(RAGGED), policy));
  }

  private DataSet norm() {
    NormCheck check = NormCheck.values()[random.nextInt(NormCheck.values().length)];
    KeyType keys = random.nextBoolean() ? KeyType.U32 : KeyType.I64;
    NormOptions options =
        random.nextBoolean()
            ? NormOptions.DETECT
            : NormOptions.DETECT.withKeys(keys).withSchema(RAGGED);
    return new DataSet(
        parts(".data", file -> NormWriter.create(file, RAGGED, check, keys), _ -> RowCount.norm()),
        check == NormCheck.SUM,
        (files, policy) -> NormReader.open(files, options, policy));
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
        (files, policy) -> RawReader.open(files, options, policy));
  }

  private DataSet parquet() {
    ParquetLayout.Codec[] codecs = ParquetLayout.Codec.values();
    ParquetLayout layout =
        ParquetLayout.DEFAULT
            .withCodec(codecs[random.nextInt(codecs.length)])
            .withGroupRows(random.nextInt(5, 40));
    return new DataSet(
        parts(".parquet", file -> ParquetWriter.create(file, RAGGED, layout), RowCount::written),
        false,
        (files, policy) ->
            ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(RAGGED), policy));
  }
}
