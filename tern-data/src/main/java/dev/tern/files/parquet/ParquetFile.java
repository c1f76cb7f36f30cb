package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.FileKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.jspecify.annotations.Nullable;

/** An open Parquet file: its footer, checked, and reads at any offset. */
final class ParquetFile implements AutoCloseable {
  static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  static final String REWRITE = "; the file is damaged or no Parquet file, write or copy it again";
  private static final int TAIL = 8;
  private static final int MAX_FOOTER = 128 << 20;
  private static final int MAX_DICTIONARY_HEADER = 100;

  private final Path path;
  private final FileChannel channel;
  private final long size;
  private final FileMetaData footer;
  private final Writer writer;
  private final ParquetSchema schema;

  private ParquetFile(Path path, FileChannel channel) throws IOException {
    this.path = path;
    this.channel = channel;
    size = channel.size();
    requireWhole();
    try {
      footer = readFooter();
      writer = Writer.of(footer.getCreated_by());
      schema = ParquetSchema.of(footer.getSchema());
      checkRowGroups();
    } catch (DataException e) {
      throw new DataException(path + ": footer: " + e.getMessage(), e);
    }
  }

  /** Opens a file and reads its footer; without that nobody knows how many rows a fault costs. */
  static ParquetFile open(Path path) {
    try {
      return opened(path);
    } catch (DataException e) {
      throw e.losing(DataException.UNKNOWN_ROWS);
    }
  }

  private static ParquetFile opened(Path path) {
    if (!Files.isRegularFile(path)) {
      throw new DataException(
          path
              + ": got "
              + (Files.exists(path) ? "a folder or device" : "no such file")
              + ", expected a Parquet file; check the path");
    }
    try {
      FileChannel channel = FileChannel.open(path, StandardOpenOption.READ);
      try {
        return new ParquetFile(path, channel);
      } catch (Throwable e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      throw BinaryInput.unreadable(path, e);
    }
  }

  /** Says what the file is if it does not end as a Parquet file does. */
  private void requireWhole() {
    String end = magic(size - MAGIC.length);
    String start = magic(0);
    if (end.equals("PARE")) {
      throw whole(
          "a Parquet file with an encrypted footer, expected a plain one; decrypt it first");
    }
    if (end.equals("PAR1") && size >= MAGIC.length + TAIL) {
      return;
    }
    if (start.equals("PAR1") || start.equals("PARE")) {
      throw whole(
          "a Parquet file without its end, expected that, which says what is where; its writer or"
              + " its copy was cut short, write or copy it again");
    }
    FileKind kind = FileKind.of(path);
    if (kind.isLines()) {
      throw whole(
          "a file of "
              + size
              + " bytes that does not end with PAR1, expected a Parquet file; check the path and"
              + " the format");
    }
    throw kind.refused(path, "a Parquet file");
  }

  private DataException whole(String got) {
    return new DataException(path + ": got " + got);
  }

  /** The four bytes at {@code offset}; none where the file has none there. */
  private String magic(long offset) {
    if (offset < 0 || offset > size - MAGIC.length) {
      return "";
    }
    byte[] bytes = new byte[MAGIC.length];
    read(offset, bytes, 0, bytes.length);
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  /** The fields of the footer as they lie in the file, by their numbers. */
  Map<Integer, byte[]> footerFields() {
    try {
      return ParquetThrift.fields(footerBytes());
    } catch (DataException e) {
      throw new DataException(path + ": footer: " + e.getMessage(), e);
    }
  }

  private byte[] footerBytes() {
    ByteBuffer tail = ByteBuffer.wrap(new byte[TAIL]).order(ByteOrder.LITTLE_ENDIAN);
    read(size - TAIL, tail.array(), 0, TAIL);
    int length = tail.getInt(0);
    if (length < 1 || length > size - MAGIC.length - TAIL) {
      throw new DataException(
          "got a footer of "
              + Integer.toUnsignedLong(length)
              + " bytes in a file of "
              + size
              + REWRITE);
    }
    if (length > MAX_FOOTER) {
      throw new DataException(
          "got a footer of "
              + length
              + " bytes, expected at most "
              + MAX_FOOTER
              + "; write fewer row groups or fewer columns into a file");
    }
    byte[] bytes = new byte[length];
    read(size - TAIL - length, bytes, 0, length);
    return bytes;
  }

  private FileMetaData readFooter() {
    byte[] bytes = footerBytes();
    return ParquetThrift.footer(bytes, 0, bytes.length);
  }

  private void checkRowGroups() {
    long rows = 0;
    int leaves = schema.leaves().size();
    for (RowGroup group : footer.getRow_groups()) {
      if (group.getNum_rows() < 0 || group.getColumnsSize() != leaves) {
        throw new DataException(
            "got a row group of "
                + group.getNum_rows()
                + " rows and "
                + group.getColumnsSize()
                + " columns, expected 0 rows or more and the "
                + leaves
                + " columns of the schema"
                + REWRITE);
      }
      rows += group.getNum_rows();
    }
    if (rows < 0 || rows != footer.getNum_rows()) {
      throw new DataException(
          "got "
              + footer.getNum_rows()
              + " rows, expected the "
              + rows
              + " of its row groups"
              + REWRITE);
    }
  }

  /** Runs {@code check}, whose fault costs {@code rows} rows. */
  static void costing(long rows, Runnable check) {
    try {
      check.run();
    } catch (DataException e) {
      throw e.losing(rows);
    }
  }

  Path path() {
    return path;
  }

  long rows() {
    return footer.getNum_rows();
  }

  ParquetSchema schema() {
    return schema;
  }

  /** All leaves, nested ones too, in the order of their column chunks. */
  List<ParquetField> leaves() {
    return schema.leaves();
  }

  /** Refuses {@code other} if it has other columns than this file, in order or in type. */
  void requireSameColumns(ParquetFile other) {
    List<SchemaElement> own = footer.getSchema();
    List<SchemaElement> others = other.footer.getSchema();
    boolean alike = own.getFirst().getNum_children() == others.getFirst().getNum_children();
    // The first is the whole, whose name says nothing.
    int at = 1;
    while (alike && at < own.size() && at < others.size() && own.get(at).equals(others.get(at))) {
      at++;
    }
    if (!alike || at < own.size() || at < others.size()) {
      String differs = at < others.size() ? "another column " + others.get(at).getName() : "fewer";
      throw new DataException(
          "%s: got %s, expected the columns of %s, whose schema all parts get; give files with the same columns in the same order, or split them one by one"
              .formatted(other.path, differs, path));
    }
  }

  List<RowGroup> rowGroups() {
    return footer.getRow_groups();
  }

  /** Where and what the column chunk of {@code field} in {@code group} is, checked. */
  ColumnMetaData chunk(RowGroup group, ParquetField field) {
    ColumnChunk chunk = group.getColumns().get(field.leaf());
    ColumnMetaData data = chunk.getMeta_data();
    if (chunk.isSetFile_path()) {
      throw fault(
          field.name(),
          0,
          "got a column kept in "
              + chunk.getFile_path()
              + ", expected it in the file itself; read that file");
    }
    if (data == null || chunk.isSetCrypto_metadata()) {
      throw fault(
          field.name(),
          0,
          "got an encrypted column, expected a plain one; decrypt the file, or leave the column"
              + " out");
    }
    long start = start(data);
    long length = data.getTotal_compressed_size();
    if (start < MAGIC.length || length < 0 || length > size - TAIL - start) {
      throw fault(
          field.name(),
          start,
          "got a column chunk of " + length + " bytes in a file of " + size + REWRITE);
    }
    boolean counted =
        field.list()
            ? data.getNum_values() >= group.getNum_rows()
            : data.getNum_values() == group.getNum_rows();
    if (!counted || data.getType() != field.type().physical()) {
      throw fault(
          field.name(),
          start,
          "got "
              + data.getNum_values()
              + " values of type "
              + data.getType()
              + ", expected "
              + group.getNum_rows()
              + " of type "
              + field.type().physical()
              + REWRITE);
    }
    return data;
  }

  /** Where the first page of a column chunk begins: the dictionary's if there is one. */
  static long start(ColumnMetaData data) {
    long pages = data.getData_page_offset();
    long dictionary = data.isSetDictionary_page_offset() ? data.getDictionary_page_offset() : 0;
    return dictionary > 0 && dictionary < pages ? dictionary : pages;
  }

  /**
   * Where the pages of a column chunk end. Early parquet-mr did not count the header of the
   * dictionary's page (PARQUET-816), so that they may end a little later than the footer says.
   */
  long end(ColumnMetaData data) {
    long end = start(data) + data.getTotal_compressed_size();
    return writer.isBefore("parquet-mr", 1, 2, 9)
        ? Math.min(size - TAIL, end + MAX_DICTIONARY_HEADER)
        : end;
  }

  /** Whether the first text of a page shares a prefix with the page before (PARQUET-246). */
  boolean sharesOverPages() {
    return writer.isBefore("parquet-mr", 1, 8, 0);
  }

  /** What wrote the file. */
  Writer writer() {
    return writer;
  }

  /** Reads exactly {@code length} bytes from {@code offset} of the file. */
  void read(long offset, byte[] target, int at, int length) {
    ByteBuffer buffer = ByteBuffer.wrap(target, at, length);
    try {
      while (buffer.hasRemaining()) {
        int got = channel.read(buffer, offset + buffer.position() - at);
        if (got < 0) {
          throw new DataException(
              path
                  + ": byte "
                  + offset
                  + ": got the end of the file, expected "
                  + length
                  + " bytes"
                  + REWRITE);
        }
      }
    } catch (IOException e) {
      throw BinaryInput.unreadable(path, e);
    }
  }

  /** {@code cause} as a fault at byte {@code offset}, in {@code column}. */
  DataException fault(String column, long offset, DataException cause) {
    return new DataException(where(column, offset) + cause.getMessage(), cause);
  }

  private String where(String column, long offset) {
    return path + ": column " + column + ", byte " + offset + ": ";
  }

  /** A fault at byte {@code offset}, in {@code column}. */
  DataException fault(String column, long offset, String message) {
    return new DataException(where(column, offset) + message);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw BinaryInput.unreadable(path, e);
    }
  }

  /**
   * What wrote a file, by its own word, such as "parquet-mr version 1.8.0 (build 0fda28af84)". Some
   * writers had faults that readers know how to read.
   */
  record Writer(String application, int major, int minor, int patch) {
    private static final Pattern TEXT =
        Pattern.compile(
            "(\\S+)(?: version (\\d{1,6})(?:\\.(\\d{1,6}))?(?:\\.(\\d{1,6}))?)?.*", Pattern.DOTALL);

    /** The writer that {@code createdBy} names; version 0 where it names none. */
    static Writer of(@Nullable String createdBy) {
      Matcher matcher = TEXT.matcher(createdBy == null ? "" : createdBy.strip());
      return matcher.matches()
          ? new Writer(
              matcher.group(1),
              number(matcher.group(2)),
              number(matcher.group(3)),
              number(matcher.group(4)))
          : new Writer("", 0, 0, 0);
    }

    private static int number(@Nullable String digits) {
      return digits == null ? 0 : Integer.parseInt(digits);
    }

    /** Whether this is {@code application} of a version before the one given. */
    boolean isBefore(String application, int major, int minor, int patch) {
      int[] difference = {this.major - major, this.minor - minor, this.patch - patch};
      for (int part : difference) {
        if (part != 0) {
          return part < 0 && this.application.equals(application);
        }
      }
      return false;
    }
  }
}
