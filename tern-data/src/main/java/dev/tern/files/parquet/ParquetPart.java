package dev.tern.files.parquet;

import dev.tern.internal.files.OutputFile;
import dev.tern.internal.files.RecordBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.RowGroup;

/**
 * A Parquet file in the making that takes rows of others, one column chunk after the other. Pages
 * are of version 1, with checksums and without statistics, which would be those of other rows.
 */
final class ParquetPart implements AutoCloseable {
  private static final String CREATED_BY = "tern version 0.1.0";
  private static final int PAGE_ENTRIES = 1 << 16;
  private static final int PAGE_BYTES = 1 << 20;

  private final OutputFile out;
  private final ParquetChunkWriter chunks;
  private final List<RowGroup> groups = new ArrayList<>();
  private long rows;

  /** Where the row group at hand begins. */
  private long groupStart;

  private RowGroup group = new RowGroup();

  private int repetitionWidth;
  private int definitionWidth;

  /** Levels and values of the page at hand. */
  private int[] repetitions = new int[64];

  private int[] definitions = new int[64];
  private int entries;
  private int[] ints = new int[64];
  private int intCount;
  private final RecordBuffer bytes = new RecordBuffer();
  private Encoding encoding = Encoding.PLAIN;
  private boolean begun;

  ParquetPart(Path file) {
    out = OutputFile.create(file);
    out.write(ParquetFile.MAGIC, 0, ParquetFile.MAGIC.length);
    chunks = new ParquetChunkWriter(out);
  }

  /** Starts a row group; the one before is complete or given up. */
  void beginGroup() {
    groupStart = out.position();
    group = new RowGroup();
    group.setColumns(new ArrayList<>());
    group.setTotal_byte_size(0);
  }

  /** Starts a chunk like {@code chunk} of {@code field}. */
  void beginChunk(ColumnMetaData chunk, ParquetField field) {
    repetitionWidth = ParquetRunWriter.width(field.lists());
    definitionWidth = ParquetRunWriter.width(field.maxDefinition());
    chunks.start(ParquetChunkWriter.written(chunk.getCodec()));
    begun = false;
    clear();
  }

  private void clear() {
    entries = 0;
    intCount = 0;
    bytes.clear();
  }

  /** Appends an entry that starts a row, as {@link #addEntry}; ends the page before if full. */
  void beginRow(ParquetPlainValues values, int definition) {
    if (entries >= PAGE_ENTRIES || bytes.size() >= PAGE_BYTES) {
      endPage(values);
    }
    use(values);
    addEntry(0, definition);
  }

  /** Appends an entry without its value. */
  void addEntry(int repetition, int definition) {
    if (entries == definitions.length) {
      repetitions = Arrays.copyOf(repetitions, 2 * entries);
      definitions = Arrays.copyOf(definitions, 2 * entries);
    }
    repetitions[entries] = repetition;
    definitions[entries] = definition;
    entries++;
  }

  /** Appends value {@code i} of those last read. */
  void addValue(ParquetPlainValues values, int i) {
    if (values.isIndexed() || values.isBoolean()) {
      if (intCount == ints.length) {
        ints = Arrays.copyOf(ints, 2 * intCount);
      }
      ints[intCount] = values.ints()[i];
      intCount++;
    } else {
      bytes.putBytes(values.bytes(), values.offsets()[i], values.offsets()[i + 1]);
    }
  }

  /** Takes values as the last read are: indices and plain values are in pages apart. */
  void use(ParquetPlainValues values) {
    Encoding next =
        values.isIndexed() && values.entries() >= 0 ? values.encoding() : Encoding.PLAIN;
    if (next != encoding && entries > 0) {
      endPage(values);
    }
    encoding = next;
  }

  private void endPage(ParquetPlainValues values) {
    if (!begun && values.entries() >= 0) {
      chunks.page().putBytes(values.dictionary());
      chunks.endDictionary(values.entries(), values.dictionaryEncoding());
    }
    begun = true;
    if (repetitionWidth > 0) {
      chunks.putLevels(repetitions, entries, repetitionWidth);
    }
    if (definitionWidth > 0) {
      chunks.putLevels(definitions, entries, definitionWidth);
    }
    boolean indexed = encoding != Encoding.PLAIN;
    if (indexed) {
      chunks.putIndices(ints, intCount, values.entries());
    } else if (intCount > 0) {
      putBooleans();
    } else {
      chunks.page().putBytes(bytes.bytes(), 0, bytes.size());
    }
    chunks.endPage(entries, encoding);
    clear();
  }

  private void putBooleans() {
    RecordBuffer page = chunks.page();
    for (int from = 0; from < intCount; from += Byte.SIZE) {
      int packed = 0;
      for (int i = from; i < Math.min(intCount, from + Byte.SIZE); i++) {
        packed |= ints[i] << i - from;
      }
      page.putByte(packed);
    }
  }

  /** Ends the chunk that was like {@code chunk}. */
  void endChunk(ColumnMetaData chunk, ParquetPlainValues values) {
    if (entries > 0) {
      endPage(values);
    }
    ColumnMetaData meta = chunks.meta();
    meta.setType(chunk.getType());
    meta.setPath_in_schema(chunk.getPath_in_schema());
    if (chunk.isSetKey_value_metadata()) {
      meta.setKey_value_metadata(chunk.getKey_value_metadata());
    }
    ColumnChunk made = new ColumnChunk(meta.getData_page_offset());
    made.setMeta_data(meta);
    group.addToColumns(made);
    group.setTotal_byte_size(group.getTotal_byte_size() + meta.getTotal_uncompressed_size());
  }

  /** Ends the row group, of {@code count} rows in the order of {@code like}. */
  void endGroup(RowGroup like, long count) {
    group.setNum_rows(count);
    if (like.isSetSorting_columns()) {
      group.setSorting_columns(like.getSorting_columns());
    }
    groups.add(group);
    rows += count;
  }

  /** Takes back what was written of the row group. */
  void abandonGroup() {
    out.rewind(groupStart);
  }

  long rows() {
    return rows;
  }

  /** Writes the footer, which keeps what {@code footer}, a file's, says of all its rows. */
  void complete(Map<Integer, byte[]> footer) {
    byte[] own = ParquetThrift.footer(footer, rows, groups, CREATED_BY);
    RecordBuffer tail = new RecordBuffer();
    tail.putBytes(own);
    tail.putInt(own.length);
    tail.putBytes(ParquetFile.MAGIC);
    out.write(tail);
    out.complete();
  }

  void finish() {
    out.finish();
  }

  @Override
  public void close() {
    out.close();
  }
}
