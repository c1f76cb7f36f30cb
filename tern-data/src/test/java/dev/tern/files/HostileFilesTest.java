package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.ThreadMXBean;
import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.parquet.ParquetLayout;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.files.parquet.ParquetThrift;
import dev.tern.files.parquet.ParquetWriter;
import dev.tern.files.records.NormOptions;
import dev.tern.files.records.NormReader;
import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.CsvReader;
import dev.tern.files.text.LibsvmOptions;
import dev.tern.files.text.LibsvmReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Small files that claim to be large: each ends in a fault before much memory is taken. */
class HostileFilesTest {
  private static final long MIB = 1 << 20;

  @TempDir Path folder;

  private Path file(String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }

  /**
   * Reads all rows, which must end in a fault that says {@code parts}, within {@code mebibytes}.
   */
  private static void assertFault(long mebibytes, Supplier<DataReader> open, String... parts) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> {
          try (DataReader reader = open.get()) {
            while (reader.next().isPresent()) {}
          }
        })
        .withMessageContainingAll(parts);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .as("heap taken")
        .isLessThan(mebibytes * MIB);
  }

  private static byte[] norm(long records, long labels, long dense, long slots, int bytes) {
    ByteBuffer file = ByteBuffer.allocate(64 + bytes).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(0).putLong(records).putLong(labels).putLong(dense).putLong(slots);
    return file.array();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 1_000_000, Long.MAX_VALUE})
  void normRecordsWithoutColumnsAreRefused(long records) throws IOException {
    Path file = file("empty.norm", norm(records, 0, 0, 0, 0));
    assertFault(
        8,
        () -> NormReader.open(List.of(file), NormOptions.DETECT),
        "empty.norm: byte 8: got " + records + " records without columns");
  }

  @Test
  void aNormHeaderThatClaimsManyRecordsTakesNoMemoryForThem() throws IOException {
    Path file = file("many.norm", norm(Long.MAX_VALUE, 1, 2, 3, 5 * (12 + 12)));
    assertFault(
        8,
        () -> NormReader.open(List.of(file), NormOptions.DETECT.withKeys(KeyType.U32)),
        "many.norm: record 6",
        "end of the file");
  }

  @Test
  void filesThatClaimMoreRowsThanALongHoldsAreAFaultOfOneOfThem() throws IOException {
    byte[] bytes = norm(Long.MAX_VALUE, 1, 0, 0, 12);
    List<Path> files = List.of(file("one.norm", bytes), file("two.norm", bytes));
    NormOptions options = NormOptions.DETECT.withKeys(KeyType.U32);
    assertFault(8, () -> NormReader.open(files, options), "two.norm: got 9223372036854775807 rows");
    List<String> heard = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(fault -> heard.add(fault.getMessage()));
    try (DataReader reader = NormReader.open(files, options, policy)) {
      assertThat(reader.rowCount()).hasValue(Long.MAX_VALUE);
    }
    assertThat(heard).hasSize(1).first().asString().startsWith(files.get(1) + ": got ");
  }

  @Test
  void parquetFilesThatClaimMoreRowsThanALongHoldsAreAFaultOfOneOfThem() throws Exception {
    Schema schema = new Schema(List.of("y"), List.of(), List.of());
    Path sound = folder.resolve("sound.parquet");
    new Rows(schema, Rows.random(1, 10, 1, 0, new int[0], 1).list())
        .write(ParquetWriter.create(sound, schema, ParquetLayout.DEFAULT), 10);
    byte[] bytes = claiming(1L << 62, Files.readAllBytes(sound));
    List<Path> files = List.of(file("one.parquet", bytes), file("two.parquet", bytes));
    assertFault(
        32, // the footer parser's classes, on first use
        () -> ParquetReader.open(files, ParquetOptions.DEFAULT, Columns.of(schema)),
        "two.parquet: got 4611686018427387904 rows");
  }

  /** The Parquet file {@code bytes} with a footer by which its row group has {@code rows} rows. */
  private static byte[] claiming(long rows, byte[] bytes) throws Exception {
    ByteBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int footerAt = bytes.length - 8 - numbers.getInt(bytes.length - 8);
    FileMetaData footer = ParquetThrift.footer(bytes, footerAt, bytes.length - 8);
    footer.getRow_groups().getFirst().setNum_rows(rows);
    footer.setNum_rows(rows);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(bytes, 0, footerAt);
    Util.writeFileMetaData(footer, out);
    int length = out.size() - footerAt;
    out.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(length).array());
    out.write(bytes, bytes.length - 4, 4);
    return out.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void aNormHeaderThatClaimsManyColumnsTakesNoMemoryForThem(int records) throws IOException {
    Path file = file("wide.norm", norm(records, 1 << 20, 1 << 20, 1 << 16, 1000 * records));
    assertFault(
        8,
        () -> NormReader.open(List.of(file), NormOptions.DETECT),
        "wide.norm: byte 16: got label_dim 1048576, dense_dim 1048576, slot_num 65536");
  }

  @Test
  void aNormSlotThatClaimsManyKeysTakesNoMemoryForThem() throws IOException {
    byte[] bytes = norm(1, 1, 0, 1, 64);
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(68, 1 << 29);
    Path file = file("keys.norm", bytes);
    for (KeyType keys : List.of(KeyType.U32, KeyType.I64)) {
      assertFault(
          8,
          () -> NormReader.open(List.of(file), NormOptions.DETECT.withKeys(keys)),
          "record 1, byte 68",
          "got " + (1 << 29) + " keys");
    }
  }

  /** A footer whose list of columns, of which none follows, is said to have 2^31 - 1. */
  @Test
  void aParquetFooterThatClaimsManyColumnsTakesNoMemoryForThem() throws IOException {
    byte[] file =
        HexFormat.of().parseHex("50415231" + "1502" + "19FCFFFFFFFF07" + "0900000050415231");
    Path path = file("columns.parquet", file);
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    assertFault(
        8,
        () -> ParquetReader.open(List.of(path), ParquetOptions.DEFAULT, columns),
        "columns.parquet: footer: got ");
  }

  @Test
  void aLineWithoutEndIsRefusedWhateverItCompressesTo() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] part = "7".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write("y\n".getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < 70; i++) {
        gzip.write(part);
      }
    }
    Path file = file("line.csv.gz", bytes.toByteArray());
    Columns columns = new Columns(List.of("y"), Set.of(), List.of(), List.of());
    assertFault(
        200, // buffers of 1/4, 1/2, 1, ... 64 MiB
        () -> CsvReader.open(List.of(file), CsvOptions.csv(), columns),
        "line.csv.gz: line 2",
        "more than 67108864 bytes");
  }

  @Test
  void aLineOfFeaturesWithoutEndIsRefusedWhateverItCompressesTo() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] part = " 7:1".repeat(1 << 18).getBytes(StandardCharsets.US_ASCII);
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write("1 3:1\n1".getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < 70; i++) {
        gzip.write(part);
      }
    }
    Path file = file("line.svm.gz", bytes.toByteArray());
    Columns columns = new Columns(List.of("y"), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    assertFault(
        200, // buffers of 1/4, 1/2, 1, ... 64 MiB
        () -> LibsvmReader.open(List.of(file), LibsvmOptions.libsvm(), columns),
        "line.svm.gz: line 2",
        "more than 67108864 bytes");
  }

  @Test
  void aFileListThatClaimsManyFilesTakesNoMemoryForThem() throws IOException {
    Path list = file("list.txt", "9999999\na.data\n".getBytes(StandardCharsets.US_ASCII));
    assertFault(
        8, () -> NormReader.open(List.of(list), NormOptions.DETECT), "list.txt: line 3", "the end");
  }

  @Test
  void aDescriptionNestedWithoutEndIsNoJson() throws IOException {
    file("_metadata.json", "[".repeat(100_000).getBytes(StandardCharsets.US_ASCII));
    assertFault(
        32, // the parser's classes, on first use
        () -> ParquetReader.openHugeCtr(folder, ParquetOptions.DEFAULT),
        "_metadata.json",
        "no JSON");
  }
}
