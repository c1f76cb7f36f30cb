package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.RecordBuffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.values.delta.DeltaBinaryPackingValuesWriterForInteger;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.Encoding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes that a reader bounds: each fault says that it is a limit, and which. */
class ParquetLimitsTest {
  @TempDir Path folder;

  private static List<String> read(Path file, ParquetOptions options, SparseColumn column) {
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(column));
    return ParquetRows.allAndClose(ParquetReader.open(List.of(file), options, columns));
  }

  private static void assertLimit(Path file, ParquetOptions options, String... parts) {
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(file, options, SparseColumn.text("c")))
        .withMessageContainingAll(parts)
        .withMessageNotContaining("damaged");
  }

  @Test
  void aPageAboveTheLimitIsReadWhereTheLimitIsRaised() throws IOException {
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            "required int64 c;",
            1000,
            (group, i) -> group.append("c", (long) i * i),
            builder -> builder.withDictionaryEncoding(false));
    ParquetOptions small = ParquetOptions.DEFAULT.withLargestPage(7999);
    assertLimit(
        file,
        small,
        "a.parquet: column c, byte 4: got a page of 8000 bytes, expected at most 7999;"
            + " raise data.largest_page, or write the file with smaller pages");
    assertThat(read(file, ParquetOptions.DEFAULT.withLargestPage(8000), SparseColumn.id("c")))
        .hasSize(1000);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ParquetOptions.DEFAULT.withLargestPage(0));
  }

  @Test
  void longTextsThatShareTheirPrefixesAreRead() throws IOException {
    String[] texts = {"a", "a".repeat(65_536), "a".repeat(65_537), "aa", "a".repeat(3_000_000)};
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            "required binary c (STRING);",
            texts.length,
            (group, i) -> group.append("c", texts[i]),
            builder ->
                builder
                    .withDictionaryEncoding(false)
                    .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_2_0));
    assertThat(read(file, ParquetOptions.DEFAULT, SparseColumn.text("c")))
        .isEqualTo(
            Arrays.stream(texts).map(text -> "[] | [] | [" + TextHash.of(text) + "]").toList());
  }

  /** 12 slots of 2,500 ids, which no batch of 4,096 rows has room for. */
  @Test
  void longListsOfManySlotsAreReadInBatchesOfFewerRows() throws IOException {
    int slots = 12;
    int length = 2_500;
    int rows = 300;
    StringBuilder fields = new StringBuilder();
    List<SparseColumn> columns = new ArrayList<>();
    for (int s = 0; s < slots; s++) {
      fields.append("repeated int64 s").append(s).append(";");
      columns.add(SparseColumn.id("s" + s));
    }
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            fields.toString(),
            rows,
            (group, i) -> {
              for (int k = 0; k < slots * length; k++) {
                group.add(k / length, (long) i * k);
              }
            });
    Columns all = new Columns(List.of(), Set.of(), List.of(), columns);
    int read = 0;
    int batches = 0;
    try (DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, all)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          for (int row = 0; row < batch.size(); row++) {
            int end = batch.offsets(slots - 1)[row + 1];
            assertThat(end - batch.offsets(slots - 1)[row]).isEqualTo(length);
            assertThat(batch.ids(slots - 1)[end - 1])
                .isEqualTo((read + row) * (slots * length - 1L));
          }
          read += batch.size();
          batches++;
        }
      }
    }
    assertThat(read).isEqualTo(rows);
    assertThat(batches).isEqualTo(3);
  }

  @Test
  void aRowMayHaveOverAMillionIds() throws IOException {
    int length = (1 << 20) + 1;
    Path file =
        ParquetForge.write(
            folder.resolve("a.parquet"),
            "repeated int64 c;",
            3,
            (group, i) -> {
              for (int k = 0; k < (i == 1 ? length : 1); k++) {
                group.add(0, (long) k % 7);
              }
            });
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    int read = 0;
    try (DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          read += batch.idCount(0);
        }
      }
    }
    assertThat(read).isEqualTo(length + 2);
  }

  private static byte[] delta(int first, int others, int count) throws IOException {
    var writer =
        new DeltaBinaryPackingValuesWriterForInteger(
            1 << 12, 1 << 20, new HeapByteBufferAllocator());
    writer.writeInteger(first);
    for (int i = 1; i < count; i++) {
      writer.writeInteger(others);
    }
    return writer.getBytes().toByteArray();
  }

  /** About 700 KB that stand for 8 GiB of text. */
  @Test
  void aPageWhoseTextsShareWithoutEndIsRefused() throws IOException {
    int length = 1 << 19;
    int count = 1 << 14;
    RecordBuffer body = new RecordBuffer();
    for (byte[] part :
        List.of(delta(0, length, count), delta(length, 0, count), new byte[length])) {
      for (byte b : part) {
        body.putByte(b);
      }
    }
    byte[] bytes = Arrays.copyOf(body.bytes(), body.size());
    Path file =
        Files.write(
            folder.resolve("a.parquet"),
            ParquetForge.oneColumn(
                folder,
                "required binary c (STRING);",
                count,
                List.of(
                    ParquetForge.Page.data(count, Encoding.DELTA_BYTE_ARRAY, bytes.length, bytes)),
                meta -> meta.setCodec(CompressionCodec.UNCOMPRESSED)));
    assertLimit(file, ParquetOptions.DEFAULT, "more than 4294967296 bytes, expected at most that");
  }
}
