package dev.tern.files.parquet;

import dev.tern.internal.files.RecordBuffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Util;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Parquet files as parquet-java writes them, and ones put together by hand, true or not. */
final class ParquetForge {
  private ParquetForge() {}

  /** Writes {@code count} rows of a message with these {@code fields}. */
  static Path write(Path file, String fields, int count, BiConsumer<Group, Integer> row)
      throws IOException {
    return write(file, fields, count, row, builder -> builder);
  }

  /** As above, with {@code options} of the writer. */
  static Path write(
      Path file,
      String fields,
      int count,
      BiConsumer<Group, Integer> row,
      UnaryOperator<ExampleParquetWriter.Builder> options)
      throws IOException {
    MessageType type = MessageTypeParser.parseMessageType("message m {" + fields + "}");
    Files.createDirectories(file.toAbsolutePath().getParent());
    var builder =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withConf(new PlainParquetConfiguration())
            .withType(type);
    try (var writer = options.apply(builder).build()) {
      SimpleGroupFactory groups = new SimpleGroupFactory(type);
      for (int i = 0; i < count; i++) {
        Group group = groups.newGroup();
        row.accept(group, i);
        writer.write(group);
      }
    }
    return file;
  }

  static int footerLength(byte[] file) {
    int end = file.length - 8;
    return file[end] & 0xFF | (file[end + 1] & 0xFF) << 8 | (file[end + 2] & 0xFF) << 16;
  }

  /** {@code file} with another footer. */
  static byte[] withFooter(byte[] file, Consumer<FileMetaData> change) throws IOException {
    int footerAt = file.length - 8 - footerLength(file);
    FileMetaData footer = ParquetThrift.footer(file, footerAt, file.length - 8);
    change.accept(footer);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(file, 0, footerAt);
    putFooter(out, footer);
    return out.toByteArray();
  }

  private static void putFooter(ByteArrayOutputStream out, FileMetaData footer) throws IOException {
    int before = out.size();
    Util.writeFileMetaData(footer, out);
    int length = out.size() - before;
    RecordBuffer tail = new RecordBuffer();
    tail.putInt(length);
    out.write(tail.bytes(), 0, 4);
    out.write(ParquetFile.MAGIC);
  }

  /** A one-column file with whatever pages and counts. */
  static byte[] oneColumn(
      Path folder, String fields, long rows, List<Page> pages, Consumer<ColumnMetaData> change)
      throws IOException {
    return oneColumn(folder, fields, rows, pages, change, footer -> {});
  }

  /** As above, with {@code changeFooter} applied to the footer at last. */
  static byte[] oneColumn(
      Path folder,
      String fields,
      long rows,
      List<Page> pages,
      Consumer<ColumnMetaData> change,
      Consumer<FileMetaData> changeFooter)
      throws IOException {
    Path empty = write(folder.resolve("empty.parquet"), fields, 0, (group, i) -> {});
    byte[] bytes = Files.readAllBytes(empty);
    Files.delete(empty);
    int footerAt = bytes.length - 8 - footerLength(bytes);
    FileMetaData footer = ParquetThrift.footer(bytes, footerAt, bytes.length - 8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(ParquetFile.MAGIC);
    for (Page page : pages) {
      Util.writePageHeader(page.header(), out);
      out.write(page.body());
    }
    ColumnMetaData meta = new ColumnMetaData();
    var leaf = footer.getSchema().getLast();
    meta.setType(leaf.getType());
    meta.setEncodings(List.of(Encoding.PLAIN));
    meta.setPath_in_schema(List.of(leaf.getName()));
    meta.setCodec(CompressionCodec.UNCOMPRESSED);
    meta.setNum_values(rows);
    meta.setTotal_uncompressed_size(out.size() - 4);
    meta.setTotal_compressed_size(out.size() - 4);
    meta.setData_page_offset(4);
    change.accept(meta);
    var chunk = new ColumnChunk(4);
    chunk.setMeta_data(meta);
    footer.setRow_groups(List.of(new RowGroup(List.of(chunk), 100, rows)));
    footer.setNum_rows(rows);
    changeFooter.accept(footer);
    putFooter(out, footer);
    return out.toByteArray();
  }

  record Page(PageHeader header, byte[] body) {
    static Page data(int values, Encoding encoding, int size, byte... body) {
      PageHeader header = new PageHeader(PageType.DATA_PAGE, size, body.length);
      header.setData_page_header(new DataPageHeader(values, encoding, Encoding.RLE, Encoding.RLE));
      return new Page(header, body);
    }

    static Page dictionary(int values, byte... body) {
      PageHeader header = new PageHeader(PageType.DICTIONARY_PAGE, body.length, body.length);
      header.setDictionary_page_header(new DictionaryPageHeader(values, Encoding.PLAIN));
      return new Page(header, body);
    }
  }
}
