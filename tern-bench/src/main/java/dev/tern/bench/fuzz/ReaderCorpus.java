package dev.tern.bench.fuzz;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.DataWriter;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
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
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetFileWriter.Mode;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Small sound files of every format and variant, each with how it is read. */
final class ReaderCorpus {
  static final int ROWS = 40;
  private static final Schema RAGGED =
      new Schema(
          List.of("y"),
          List.of("a", "b"),
          List.of(Slot.oneHot("one"), Slot.ragged("bag"), new Slot("two", 2)));
  private static final Schema FIXED =
      new Schema(List.of("y"), List.of("a", "b"), List.of(Slot.oneHot("one"), new Slot("two", 2)));

  /** Opens the reader of one file. */
  @FunctionalInterface
  interface Opener {
    DataReader open(Path file, ReadPolicy policy);
  }

  /**
   * One file.
   *
   * @param file its name; others that it needs lie in the same folder
   * @param framed whether records have checksums, which damage must not always hide behind
   */
  record Entry(String file, byte[] bytes, boolean framed, Opener opener) {}

  private final Path folder;
  private final List<Entry> entries = new ArrayList<>();

  private ReaderCorpus(Path folder) {
    this.folder = folder;
  }

  /** Writes all files into {@code folder}; they may be read from copies in another. */
  static List<Entry> write(Path folder) {
    ReaderCorpus corpus = new ReaderCorpus(folder);
    corpus.addRaw();
    corpus.addNorm();
    corpus.addCsv();
    corpus.addLibsvm();
    corpus.addParquet();
    corpus.addHugeCtr();
    corpus.addParquetJava();
    corpus.addDuckDb();
    // An input of a fuzzer names its file by the place here: what is new comes last.
    TextCorpus.addTo(corpus);
    TypesCorpus.addTo(corpus);
    return corpus.entries;
  }

  private void add(String name, DataWriter writer, boolean framed, Opener opener) {
    try (writer) {
      writer.write(rows(writer.schema(), name.hashCode()));
      writer.finish();
    }
    add(name, framed, opener);
  }

  /** Adds a file that was written before. */
  void add(String name, boolean framed, Opener opener) {
    try {
      entries.add(new Entry(name, Files.readAllBytes(folder.resolve(name)), framed, opener));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Batch rows(Schema schema, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Batch batch = new Batch(schema, ROWS);
    for (int row = 0; row < ROWS; row++) {
      batch.setLabel(0, random.nextInt(2));
      for (int i = 0; i < schema.denseDim(); i++) {
        batch.setDense(i, random.nextInt(50));
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

  /** Where the file {@code name} is to be written. */
  Path path(String name) {
    return folder.resolve(name);
  }

  private void addRaw() {
    for (RawOptions.Dense dense : RawOptions.Dense.values()) {
      for (KeyType keys : KeyType.values()) {
        boolean ints = dense != RawOptions.Dense.FLOAT;
        RawOptions options = new RawOptions(FIXED, ints, dense, keys, OptionalLong.empty());
        String name = "raw-" + dense + "-" + keys + ".bin";
        if (dense != RawOptions.Dense.INT_LOG) { // has no writer of any whole number
          add(
              name,
              RawWriter.create(folder.resolve(name), options),
              false,
              (file, policy) -> RawReader.open(List.of(file), options, policy));
        }
      }
    }
  }

  private void addNorm() {
    for (NormCheck check : NormCheck.values()) {
      for (KeyType keys : List.of(KeyType.U32, KeyType.I64)) {
        String name = "norm-" + check + "-" + keys + ".data";
        boolean framed = check == NormCheck.SUM;
        add(
            name,
            NormWriter.create(folder.resolve(name), RAGGED, check, keys),
            framed,
            (file, policy) -> NormReader.open(List.of(file), NormOptions.DETECT, policy));
        add(
            name,
            framed,
            (file, policy) ->
                NormReader.open(
                    List.of(file), NormOptions.DETECT.withKeys(keys).withSchema(RAGGED), policy));
      }
    }
  }

  private void addCsv() {
    for (String name : List.of("a.csv", "a.csv.gz")) {
      add(
          name,
          CsvWriter.create(folder.resolve(name), RAGGED, CsvOptions.csv()),
          false,
          (file, policy) ->
              CsvReader.open(List.of(file), CsvOptions.csv(), Columns.of(RAGGED), policy));
    }
    Columns texts =
        new Columns(List.of("y"), Set.of("yes"), List.of("a"), List.of(SparseColumn.text("word")));
    String quoted = "y\ta\tword\nyes\t1.5e3\t\"a \"\"b\"\"\n\tc\"\nno\t\t\n yes\t-0.25\tw\r\n";
    write("quoted.tsv", quoted.repeat(1) + "no\t7\tx\n".repeat(30));
    add(
        "quoted.tsv",
        false,
        (file, policy) -> CsvReader.open(List.of(file), CsvOptions.tsv(), texts, policy));
  }

  private void addLibsvm() {
    LibsvmOptions ffm = LibsvmOptions.libffm().withNamesOf(RAGGED);
    for (String name : List.of("a.ffm", "a.ffm.gz")) {
      add(
          name,
          LibsvmWriter.create(folder.resolve(name), RAGGED, ffm),
          false,
          (file, policy) -> LibsvmReader.open(List.of(file), ffm, Columns.of(RAGGED), policy));
    }
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("2"),
            List.of(SparseColumn.id("rest"), SparseColumn.id("qid")));
    write("a.svm", "# x\n" + "1 qid:7 2:0.5 17:1 31:1\n-1 31:1 5:0 17:1 # y\r\n".repeat(20));
    for (LibsvmOptions options :
        List.of(
            LibsvmOptions.libsvm(), LibsvmOptions.libsvm().skippingUnnamed().ignoringValues())) {
      add(
          "a.svm",
          false,
          (file, policy) -> LibsvmReader.open(List.of(file), options, columns, policy));
    }
  }

  private void write(String name, String text) {
    write(name, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a file, in a folder of its own where {@code name} has one. */
  void write(String name, byte[] bytes) {
    try {
      Files.createDirectories(Objects.requireNonNull(folder.resolve(name).getParent()));
      Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void addParquet() {
    for (ParquetLayout.Codec codec : ParquetLayout.Codec.values()) {
      String name = "tern-" + codec + ".parquet";
      add(
          name,
          ParquetWriter.create(
              folder.resolve(name),
              RAGGED,
              ParquetLayout.DEFAULT.withCodec(codec).withGroupRows(17)),
          false,
          (file, policy) ->
              ParquetReader.open(
                  List.of(file), ParquetOptions.DEFAULT, Columns.of(RAGGED), policy));
    }
  }

  /** Damages the description and the list, which say what is in the file, and the file. */
  private void addHugeCtr() {
    Opener opener =
        (file, policy) ->
            ParquetReader.openHugeCtr(
                List.of(file.resolveSibling("_file_list.txt")), ParquetOptions.DEFAULT, policy);
    add(
        "hugectr.parquet",
        ParquetWriter.create(
            folder.resolve("hugectr.parquet"), RAGGED, ParquetLayout.DEFAULT.asHugeCtr()),
        false,
        opener);
    add("_metadata.json", false, opener);
    add(
        "_metadata.json",
        false,
        (file, policy) ->
            ParquetReader.openHugeCtr(
                List.of(Objects.requireNonNull(file.getParent())), ParquetOptions.DEFAULT, policy));
    write("_file_list.txt", "1\nhugectr.parquet\n");
    add("_file_list.txt", false, opener);
  }

  private static final MessageType TYPES =
      MessageTypeParser.parseMessageType(
          """
          message row {
            required int32 y;
            optional float f;
            optional double d;
            required int64 wide;
            optional boolean b;
            optional binary word (STRING);
            optional group bag (LIST) { repeated group list { optional int64 element; } }
          }
          """);

  /** The columns of the files of {@link #writeJava}. */
  static final Columns JAVA_COLUMNS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("f", "d", "b"),
          List.of(SparseColumn.id("wide"), SparseColumn.text("word"), SparseColumn.id("bag")));

  /** Pages without checksums, in every encoding that parquet-java writes. */
  private void addParquetJava() {
    for (WriterVersion version : WriterVersion.values()) {
      for (String codec : List.of("UNCOMPRESSED", "SNAPPY", "ZSTD", "LZ4_RAW")) {
        for (boolean dictionary : new boolean[] {false, true}) {
          String name = "java-" + version + "-" + codec + "-" + dictionary + ".parquet";
          writeJava(folder.resolve(name), version, codec, dictionary);
          add(
              name,
              false,
              (file, policy) ->
                  ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, JAVA_COLUMNS, policy));
        }
      }
    }
  }

  /**
   * Lists in lists, and pages of Brotli, which nothing here can write: 40 rows of DuckDB's {@code
   * COPY ... (FORMAT parquet, COMPRESSION codec, PARQUET_VERSION version)}.
   */
  private void addDuckDb() {
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("f", "d"),
            List.of(
                SparseColumn.text("word"), SparseColumn.id("nested"), SparseColumn.text("tags")));
    for (String name :
        List.of("V1-UNCOMPRESSED", "V2-UNCOMPRESSED", "V1-BROTLI", "V2-BROTLI", "V1-PRUNED")) {
      boolean pruned = name.endsWith("PRUNED");
      String file = "duckdb-" + (pruned ? "V1-UNCOMPRESSED" : name) + ".parquet";
      copy(file);
      ParquetOptions options =
          pruned
              ? ParquetOptions.DEFAULT.within(new ParquetOptions.Range("d", 5, 9))
              : ParquetOptions.DEFAULT;
      add(
          file,
          false,
          (path, policy) -> ParquetReader.open(List.of(path), options, columns, policy));
    }
  }

  private void copy(String resource) {
    try (InputStream in = ReaderCorpus.class.getResourceAsStream(resource)) {
      Files.write(folder.resolve(resource), Objects.requireNonNull(in, resource).readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@link #ROWS} rows by parquet-java; {@code split}: streams of bytes, else dictionaries. */
  static void writeJava(Path file, WriterVersion version, String codec, boolean split) {
    SimpleGroupFactory groups = new SimpleGroupFactory(TYPES);
    try (var writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withConf(new PlainParquetConfiguration())
            .withType(TYPES)
            .withWriteMode(Mode.OVERWRITE)
            .withWriterVersion(version)
            .withCompressionCodec(CompressionCodecName.valueOf(codec))
            .withDictionaryEncoding(!split)
            .withByteStreamSplitEncoding(split)
            .withPageSize(200)
            .withPageWriteChecksumEnabled(false)
            .build()) {
      for (int row = 0; row < ROWS; row++) {
        Group group = groups.newGroup();
        group.append("y", row % 2).append("wide", 1L << row);
        if (row % 3 != 0) {
          group.append("f", row / 7f).append("d", row / 3.0).append("b", row % 4 == 1);
          group.append("word", "w" + row % 5);
          Group list = group.addGroup("bag");
          for (int k = row % 4; k > 0; k--) {
            list.addGroup("list").append("element", (long) k * row);
          }
        }
        writer.write(group);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
