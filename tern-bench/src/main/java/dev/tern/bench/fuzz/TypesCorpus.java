package dev.tern.bench.fuzz;

import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import io.airlift.compress.v3.lz4.Lz4JavaCompressor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetFileWriter.Mode;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Small sound Parquet files of the types and the codec that tables of Hadoop and Spark have. */
final class TypesCorpus {
  private static final int ROWS = 24;

  private static final MessageType TYPES =
      MessageTypeParser.parseMessageType(
          """
          message row {
            required int32 y;
            optional int32 d9 (DECIMAL(9,2));
            optional int64 d18 (DECIMAL(18,4));
            optional fixed_len_byte_array(5) d11 (DECIMAL(11,3));
            optional binary d30 (DECIMAL(30,2));
            optional int32 date (DATE);
            optional int64 millis (TIMESTAMP(MILLIS,true));
            optional int64 nanos (TIMESTAMP(NANOS,false));
            optional int96 old;
            optional int32 clock (TIME(MILLIS,true));
            optional fixed_len_byte_array(2) half (FLOAT16);
            optional fixed_len_byte_array(16) uuid (UUID);
            optional int64 unsigned (INTEGER(64,false));
            optional int32 small (INTEGER(8,true));
            optional binary word (STRING);
          }
          """);

  private static final Columns NUMBERS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of(
              "d9", "d18", "d11", "d30", "date", "millis", "old", "half", "date@year", "old@days"),
          List.of(
              SparseColumn.id("small"),
              SparseColumn.unsigned("unsigned"),
              SparseColumn.id("date"),
              SparseColumn.id("uuid"),
              SparseColumn.id("millis@hour"),
              SparseColumn.id("old@weekday"),
              SparseColumn.text("nanos@month")));

  private static final Columns TEXTS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("small"),
          List.of(
              SparseColumn.text("d9"),
              SparseColumn.text("d11"),
              SparseColumn.text("d30"),
              SparseColumn.text("date"),
              SparseColumn.text("nanos"),
              SparseColumn.text("old"),
              SparseColumn.text("clock"),
              SparseColumn.text("half"),
              SparseColumn.text("uuid"),
              SparseColumn.text("unsigned")));

  private final ReaderCorpus corpus;

  private TypesCorpus(ReaderCorpus corpus) {
    this.corpus = corpus;
  }

  /** Adds the files, in an order that never changes. */
  static void addTo(ReaderCorpus corpus) {
    TypesCorpus types = new TypesCorpus(corpus);
    for (WriterVersion version : WriterVersion.values()) {
      String name = "types-" + version + ".parquet";
      types.write(name, builder -> builder.withWriterVersion(version));
      types.add(name, NUMBERS);
      types.add(name, TEXTS);
    }
    types.write(
        "lz4.parquet",
        builder ->
            builder
                .withDictionaryEncoding(false)
                .withCompressionCodec(CompressionCodecName.LZ4)
                .withCodecFactory(new HadoopLz4()));
    types.add("lz4.parquet", TEXTS);
    types.addFolder();
  }

  private void add(String name, Columns columns) {
    corpus.add(
        name,
        false,
        (file, policy) ->
            ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns, policy));
  }

  private void addFolder() {
    String name = "lake/day=2026-01-31/part-0.parquet";
    corpus.write(name, new byte[0]);
    write(name, builder -> builder);
    Columns columns =
        new Columns(
            List.of("y"),
            Set.of(),
            List.of("small", "day@days"),
            List.of(SparseColumn.text("day"), SparseColumn.id("day@weekday")));
    corpus.add(
        name,
        false,
        (file, policy) ->
            ParquetReader.open(
                List.of(TextCorpus.above(file, 2)), ParquetOptions.DEFAULT, columns, policy));
  }

  private void write(String name, UnaryOperator<ExampleParquetWriter.Builder> options) {
    ExampleParquetWriter.Builder builder =
        ExampleParquetWriter.builder(new LocalOutputFile(corpus.path(name)))
            .withConf(new PlainParquetConfiguration())
            .withType(TYPES)
            .withWriteMode(Mode.OVERWRITE)
            .withPageSize(150)
            .withPageWriteChecksumEnabled(false);
    try (var writer = options.apply(builder).build()) {
      SimpleGroupFactory groups = new SimpleGroupFactory(TYPES);
      for (int row = 0; row < ROWS; row++) {
        Group group = groups.newGroup().append("y", row % 2);
        if (row % 5 != 4) {
          append(group, row);
        }
        writer.write(group);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void append(Group group, int row) {
    long seconds = 1_769_848_200L + 90_000L * row;
    group.append("d9", 1_234 * row - 5_000).append("d18", 123_456_789L * row);
    group.append("d11", bytes(5, -1 - row)).append("d30", bytes(1 + row % 13, row));
    group.append("date", 20_000 + row).append("millis", seconds * 1_000);
    group.append("nanos", seconds * 1_000_000_000L + row).append("old", int96(seconds));
    group.append("clock", row * 3_600_000).append("half", bytes(2, row));
    group.append("uuid", bytes(16, row)).append("unsigned", -1L - row);
    group.append("small", row - 12).append("word", "w" + row % 7);
  }

  /** {@code length} bytes, of which the last are {@code value}. */
  private static Binary bytes(int length, int value) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[length - 1 - i] = (byte) (i < 4 ? value >> 8 * i : value >> 31);
    }
    return Binary.fromConstantByteArray(bytes);
  }

  /** Nanoseconds of the day and its Julian number. */
  private static Binary int96(long seconds) {
    ByteBuffer bytes = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(seconds % 86_400 * 1_000_000_000L).putInt((int) (seconds / 86_400 + 2_440_588));
    return Binary.fromConstantByteArray(bytes.array());
  }

  /** LZ4 as Hadoop writes it: before each frame stand its size and the size of its one block. */
  private static final class HadoopLz4 implements CompressionCodecFactory {
    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName codec) {
      return new BytesInputCompressor() {
        @Override
        public BytesInput compress(BytesInput bytes) throws IOException {
          return BytesInput.from(frame(bytes.toByteArray()));
        }

        @Override
        public CompressionCodecName getCodecName() {
          return codec;
        }

        @Override
        public void release() {}
      };
    }

    private static byte[] frame(byte[] data) {
      byte[] room = new byte[data.length + 100];
      int size = new Lz4JavaCompressor().compress(data, 0, data.length, room, 0, room.length);
      ByteBuffer frame = ByteBuffer.allocate(size + 8).putInt(data.length).putInt(size);
      return frame.put(Arrays.copyOf(room, size)).array();
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
      throw new UnsupportedOperationException("corpus: is only written");
    }

    @Override
    public void release() {}
  }
}
