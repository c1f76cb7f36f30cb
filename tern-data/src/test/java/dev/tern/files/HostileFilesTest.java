package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.ThreadMXBean;
import dev.tern.data.DataException;
import dev.tern.data.DataReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
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
  void aNormHeaderThatClaimsManyColumnsTakesNoMemoryForThem() throws IOException {
    Path file = file("wide.norm", norm(1, 1 << 20, 1 << 20, 1 << 16, 1000));
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
