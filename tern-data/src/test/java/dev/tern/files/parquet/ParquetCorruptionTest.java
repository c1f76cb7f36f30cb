package dev.tern.files.parquet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.management.ThreadMXBean;
import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.RecordBuffer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged and hostile files end in a DataException or in rows, soon, and in nothing else. */
class ParquetCorruptionTest {
  private static final MessageType TYPE =
      MessageTypeParser.parseMessageType(
          """
          message m {
            required int32 y; optional double d; optional int64 id; required binary t (STRING);
            optional group bag (LIST) { repeated group list { optional int64 element; } }
          }
          """);
  private static final int ROUNDS = Integer.getInteger("tern.parquet.rounds", 400);
  private static final Columns COLUMNS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("d"),
          List.of(SparseColumn.id("id"), SparseColumn.text("t"), SparseColumn.id("bag")));

  @TempDir Path folder;

  private byte[] sample(
      CompressionCodecName codec, ParquetProperties.WriterVersion version, boolean dictionary)
      throws IOException {
    Path file = folder.resolve("sound.parquet");
    try (var writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withConf(new PlainParquetConfiguration())
            .withType(TYPE)
            .withCompressionCodec(codec)
            .withWriterVersion(version)
            .withDictionaryEncoding(dictionary)
            .withPageWriteChecksumEnabled(false)
            .withPageRowCountLimit(100)
            .build()) {
      SimpleGroupFactory groups = new SimpleGroupFactory(TYPE);
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < 300; i++) {
        Group group = groups.newGroup().append("y", i % 2).append("t", "w" + random.nextInt(90));
        if (i % 5 > 0) {
          group.append("d", random.nextGaussian()).append("id", random.nextLong(50));
        }
        Group bag = group.addGroup("bag");
        for (int k = random.nextInt(4); k > 0; k--) {
          bag.addGroup("list").append("element", random.nextLong(1000));
        }
        writer.write(group);
      }
    }
    byte[] bytes = Files.readAllBytes(file);
    Files.delete(file);
    return bytes;
  }

  /** Reads the bytes as a file; true if that went well, false for a DataException. */
  private boolean reads(byte[] bytes, Columns columns, String what) throws IOException {
    Path file = Files.write(folder.resolve("damaged.parquet"), bytes);
    try {
      ParquetRows.allAndClose(
          ParquetReader.open(
              List.of(file), ParquetOptions.DEFAULT, columns, ReadPolicy.STRICT.withAnyLabel()));
      return true;
    } catch (DataException e) {
      assertThat(e).as(what).hasMessageContainingAll("damaged.parquet", "got ");
      return false;
    } catch (Throwable e) {
      throw new AssertionError(what + ": got " + e, e);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UNCOMPRESSED 1 dictionary",
        "SNAPPY 1 plain",
        "UNCOMPRESSED 2 delta",
        "UNCOMPRESSED 2 dictionary",
        "ZSTD 2 dictionary",
        "LZ4_RAW 2 delta"
      })
  void damageEndsInAFaultOrInRows(String kind) throws IOException {
    String[] parts = kind.split(" ");
    byte[] sound =
        sample(
            CompressionCodecName.valueOf(parts[0]),
            parts[1].equals("1")
                ? ParquetProperties.WriterVersion.PARQUET_1_0
                : ParquetProperties.WriterVersion.PARQUET_2_0,
            parts[2].equals("dictionary"));
    assertThat(reads(sound, COLUMNS, "sound")).isTrue();
    for (int length = 0; length < sound.length; length += Math.max(1, sound.length / 100)) {
      assertThat(reads(Arrays.copyOf(sound, length), COLUMNS, "cut to " + length)).isFalse();
    }
    int faults = 0;
    SplittableRandom random = new SplittableRandom(kind.hashCode());
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = sound.clone();
      int at = random.nextInt(bytes.length);
      byte value = (byte) (random.nextBoolean() ? bytes[at] ^ 1 << random.nextInt(8) : 0xFF);
      bytes[at] = value;
      if (round % 3 == 0) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      faults += reads(bytes, COLUMNS, kind + ": byte " + at + " as " + value) ? 0 : 1;
    }
    assertThat(faults).isGreaterThan(ROUNDS / 10);
  }

  @Test
  void everyDamagedByteOfAPageWithAChecksumIsFound() throws IOException {
    Schema schema = new Schema(List.of("y"), List.of("x"), List.of(Slot.oneHot("id")));
    Rows rows = Rows.random(3, 400, 1, 1, new int[] {1}, 100);
    Path file = folder.resolve("sound.parquet");
    new Rows(schema, rows.list())
        .write(ParquetWriter.create(file, schema, ParquetLayout.DEFAULT), 100);
    byte[] sound = Files.readAllBytes(file);
    int pagesEnd = sound.length - ParquetForge.footerLength(sound) - 8;
    List<Integer> unfound = new ArrayList<>();
    for (int at = 4; at < pagesEnd; at += 3) {
      byte[] bytes = sound.clone();
      bytes[at] ^= 0x10;
      if (reads(bytes, Columns.of(schema), "byte " + at)) {
        unfound.add(at);
      }
    }
    // What is left are bytes of page headers that nobody asks for.
    assertThat(unfound).hasSizeLessThan(8);
  }

  private byte[] forge(
      String fields, long rows, List<ParquetForge.Page> pages, Consumer<ColumnMetaData> change)
      throws IOException {
    return ParquetForge.oneColumn(folder, fields, rows, pages, change);
  }

  private void assertFault(byte[] bytes, String... parts) throws IOException {
    Path file = Files.write(folder.resolve("forged.parquet"), bytes);
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() ->
            ParquetRows.allAndClose(
                ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns)))
        .withMessageContaining("forged.parquet")
        .withMessageContainingAll(parts);
  }

  private void assertNotDamaged(byte[] bytes, String... parts) throws IOException {
    assertFault(bytes, parts);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> ParquetReader.columns(folder.resolve("forged.parquet")))
        .withMessageNotContaining("damaged");
  }

  private static final String SCALAR = "required int64 c;";
  private static final String LIST =
      "required group c (LIST) { repeated group list { required int64 element; } }";
  private static final byte[] EIGHT = new byte[8];

  @Test
  void pagesThatClaimTooMuchAreRefused() throws IOException {
    assertFault(
        forge(SCALAR, 2, List.of(ParquetForge.Page.data(2, Encoding.PLAIN, 8, EIGHT)), m -> {}),
        "column c, byte 4: got fewer values");
    assertFault(
        forge(SCALAR, 1, List.of(ParquetForge.Page.data(2, Encoding.PLAIN, 8, EIGHT)), m -> {}),
        "got a page of 2 values, expected at most the 1");
    assertFault(
        forge(SCALAR, 3, List.of(ParquetForge.Page.data(1, Encoding.PLAIN, 8, EIGHT)), m -> {}),
        "got 2 values less than the chunk's count");
    assertFault(
        forge(
            SCALAR,
            1,
            List.of(ParquetForge.Page.data(1, Encoding.RLE_DICTIONARY, 8, EIGHT)),
            m -> {}),
        "without its dictionary");
    assertFault(
        forge(
            SCALAR,
            1,
            List.of(ParquetForge.Page.data(1, Encoding.DELTA_BYTE_ARRAY, 8, EIGHT)),
            m -> {}),
        "got encoding DELTA_BYTE_ARRAY of INT64");
    assertFault(
        forge(
            SCALAR,
            1,
            List.of(
                ParquetForge.Page.dictionary(1, EIGHT),
                ParquetForge.Page.data(
                    1, Encoding.RLE_DICTIONARY, 3, (byte) 1, (byte) 2, (byte) 1)),
            m -> {}),
        "got dictionary index 1 of 1 entries");
    assertFault(
        forge(SCALAR, 1, List.of(ParquetForge.Page.dictionary(Integer.MAX_VALUE, EIGHT)), m -> {}),
        "got a dictionary of 2147483647 values in 8 bytes");
    assertFault(
        forge(SCALAR, 1, List.of(ParquetForge.Page.data(-1, Encoding.PLAIN, 8, EIGHT)), m -> {}),
        "got a page of -1 values");
    assertFault(
        forge(SCALAR, 1, List.of(), m -> m.setTotal_compressed_size(1L << 40)),
        "got a column chunk of 1099511627776 bytes");
    assertFault(
        forge(SCALAR, 1, List.of(), m -> m.setData_page_offset(-5)),
        "byte -5",
        "got a column chunk");
    assertFault(
        forge(SCALAR, 5, List.of(), m -> m.setNum_values(6)),
        "got 6 values of type INT64, expected 5");
  }

  @Test
  void decompressionBombsAreRefusedBeforeMemoryIsTaken() throws IOException {
    int huge = 200 << 20;
    for (CompressionCodec codec :
        List.of(
            CompressionCodec.SNAPPY,
            CompressionCodec.LZ4_RAW,
            CompressionCodec.GZIP,
            CompressionCodec.BROTLI)) {
      assertFault(
          forge(
              SCALAR,
              1,
              List.of(ParquetForge.Page.data(1, Encoding.PLAIN, huge, EIGHT)),
              m -> m.setCodec(codec)),
          "got 8 bytes of " + codec + " said to hold " + huge);
    }
    assertFault(
        forge(
            SCALAR,
            1,
            List.of(ParquetForge.Page.data(1, Encoding.PLAIN, Integer.MAX_VALUE, EIGHT)),
            m -> m.setCodec(CompressionCodec.ZSTD)),
        "got a page of 2147483647 bytes, expected at most 1073741824; raise data.largest_page");
    // A frame that does not state its size: one block, eight times the byte 7.
    byte[] frame = HexFormat.of().parseHex("28B52FFD" + "0000" + "430000" + "07");
    assertFault(
        forge(
            SCALAR,
            1,
            List.of(ParquetForge.Page.data(1, Encoding.PLAIN, huge, frame)),
            m -> m.setCodec(CompressionCodec.ZSTD)),
        "got 10 bytes of ZSTD said to hold " + huge);
    assertFault(
        forge(
            SCALAR,
            1,
            List.of(ParquetForge.Page.data(1, Encoding.PLAIN, 8, EIGHT)),
            m -> m.setCodec(CompressionCodec.LZO)),
        "got codec LZO");
  }

  @Test
  void aRowGroupThatClaimsManyRowsTakesNoMemoryForThem() throws IOException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    byte[] few =
        forge(
            SCALAR,
            1L << 40,
            List.of(ParquetForge.Page.data(1, Encoding.PLAIN, 8, EIGHT)),
            m -> {});
    long before = threads.getCurrentThreadAllocatedBytes();
    assertFault(few, "got 1099511627775 values less than the chunk's count");
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(16 << 20);
  }

  /** 9 bytes of levels that say: 2^30 rows of null, which are rows like any other. */
  @Test
  void veryManyRowsInFewBytesAreReadABatchAtATime() throws IOException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int rows = 1 << 30;
    byte[] levels = HexFormat.of().parseHex("06000000" + "8080808008" + "00");
    byte[] bytes =
        forge(
            "optional int64 c;",
            rows,
            List.of(ParquetForge.Page.data(rows, Encoding.PLAIN, 10, levels)),
            m -> {});
    Path file = Files.write(folder.resolve("many.parquet"), bytes);
    Columns columns = new Columns(List.of(), Set.of(), List.of(), List.of(SparseColumn.id("c")));
    long before = threads.getCurrentThreadAllocatedBytes();
    try (DataReader reader = ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns)) {
      for (int i = 0; i < 5; i++) {
        try (Batch batch = reader.next().orElseThrow()) {
          assertThat(batch.size()).isEqualTo(4096);
          assertThat(batch.idCount(0)).isZero();
        }
      }
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(16 << 20);
  }

  /** 30 bytes that say: one row of a billion ids. */
  @Test
  void listsOfMoreIdsThanThereIsMemoryForAreRefused() throws IOException {
    int count = 1_000_000_000;
    RecordBuffer body = new RecordBuffer();
    // Repetition: one 0, then 1 for ever; definition: 1 for ever; dictionary indices of no bits.
    putRuns(body, 1, 0, count - 1, 1);
    putRuns(body, count, 1, 0, 0);
    body.putByte(0);
    putVarint(body, (long) count << 1);
    byte[] bytes = Arrays.copyOf(body.bytes(), body.size());
    assertThat(bytes).hasSizeLessThan(40);
    assertFault(
        forge(
            LIST,
            1,
            List.of(
                ParquetForge.Page.dictionary(1, EIGHT),
                ParquetForge.Page.data(count, Encoding.RLE_DICTIONARY, bytes.length, bytes)),
            m -> m.setNum_values(count)),
        "row 1, column c: got more than " + ParquetSpan.MOST_IDS + " ids in a batch of 1 rows",
        "-Xmx8g",
        "cut the lists");
  }

  private static void putRuns(RecordBuffer out, int count, int value, int count2, int value2) {
    RecordBuffer runs = new RecordBuffer();
    putVarint(runs, count << 1);
    runs.putByte(value);
    if (count2 > 0) {
      putVarint(runs, (long) count2 << 1);
      runs.putByte(value2);
    }
    out.putInt(runs.size());
    for (int i = 0; i < runs.size(); i++) {
      out.putByte(runs.bytes()[i]);
    }
  }

  private static void putVarint(RecordBuffer out, long value) {
    long rest = value;
    for (; rest > 0x7F; rest >>>= 7) {
      out.putByte((int) (rest & 0x7F | 0x80));
    }
    out.putByte((int) rest);
  }

  @Test
  void listsThatDoNotFillTheirRowsAreRefused() throws IOException {
    RecordBuffer body = new RecordBuffer();
    putRuns(body, 3, 1, 0, 0);
    putRuns(body, 3, 1, 0, 0);
    for (int i = 0; i < 3; i++) {
      body.putLong(i);
    }
    byte[] bytes = Arrays.copyOf(body.bytes(), body.size());
    ParquetForge.Page page = ParquetForge.Page.data(3, Encoding.PLAIN, bytes.length, bytes);
    assertFault(forge(LIST, 1, List.of(page), m -> m.setNum_values(3)), "goes on before one began");
    body.clear();
    putRuns(body, 3, 0, 0, 0);
    putRuns(body, 3, 0, 0, 0);
    byte[] empties = Arrays.copyOf(body.bytes(), body.size());
    ParquetForge.Page three = ParquetForge.Page.data(3, Encoding.PLAIN, empties.length, empties);
    assertFault(
        forge(LIST, 2, List.of(three), m -> m.setNum_values(3)), "more rows than its group");
  }

  @Test
  void filesThatAreNoParquetAreRefused() throws IOException {
    assertFault(new byte[0], "got a file of 0 bytes");
    assertFault(
        "PAR1....PAR1".getBytes(), "got a footer of ", "in a file of 12; the file is damaged");
    assertNotDamaged("PARE........PARE".getBytes(), "got a Parquet file with an encrypted footer");
    assertNotDamaged("y,a\n1,2\n3,4\n5,6\n".getBytes(), "got a file of 16 bytes that does not");
    assertNotDamaged("PAR1\0\0\0 cut short".getBytes(), "got a Parquet file without its end");
    assertNotDamaged("PARE\0\0\0 cut short".getBytes(), "got a Parquet file without its end");
    assertNotDamaged("ORC\0\0\0 and more".getBytes(), "got an ORC file, expected a Parquet file");
    assertNotDamaged("\37\u008b\b\0\0".getBytes(ISO_8859_1), "gzip", "gunzip it first");
    assertNotDamaged(
        "version https://git-lfs.github.com/spec/v1\n".getBytes(), "a pointer of Git LFS");
    assertNotDamaged("<!DOCTYPE html><html></html>".getBytes(), "an HTML page");
    byte[] deep = new byte[1 << 20];
    Arrays.fill(deep, (byte) 0x1C);
    RecordBuffer tail = new RecordBuffer();
    tail.putInt(deep.length - 12);
    System.arraycopy(tail.bytes(), 0, deep, deep.length - 8, 4);
    System.arraycopy(ParquetFile.MAGIC, 0, deep, deep.length - 4, 4);
    assertFault(deep, "footer: got");
  }
}
