package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.PageHeader;

/**
 * A column chunk as a stream of entries. An entry is a row of a scalar column, or a place in a list
 * column: a value, a null, or the sign of an empty list. {@link #next} takes the next few; then
 * {@link #starts}, {@link #present} and {@link #element} say what each is, and the values present
 * stand one after the other in {@link #values}.
 *
 * <p>Levels (Dremel): repetition 0 starts a row; the definition level tells how much of the path to
 * the value is there.
 */
final class ParquetColumn<V extends ParquetColumn.Decoder> {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** Takes the values of pages. */
  interface Decoder {
    /** Forgets the chunk before. */
    void startChunk();

    /** Takes a dictionary page of {@code count} values. */
    void dictionary(Encoding encoding, byte[] data, int from, int to, int count);

    /** Starts on the values of a data page, {@code data[from, to)}. */
    void open(Encoding encoding, byte[] data, int from, int to);

    /** Takes {@code count} values, at most {@link ParquetValues#CHUNK}. */
    void read(int count);
  }

  private final ParquetFile file;
  private final ParquetField field;
  private final ParquetPages pages;
  private final V values;
  private final ParquetRuns repetitions = new ParquetRuns();
  private final ParquetRuns definitions = new ParquetRuns();
  private final int[] repetition;
  private final int[] definition;
  private final int repetitionWidth;
  private final int definitionWidth;

  /** Entries of the chunk not yet in a page that was begun. */
  private long entriesLeft;

  /** Entries of the page at hand whose levels are not yet taken. */
  private int pageLeft;

  /** Levels taken from the page: the run that {@link #next} gave, then those not given yet. */
  private int runFrom;

  private int runTo;
  private int levelsTo;
  private boolean dense;
  private boolean begun;

  /** A column of {@code file} whose pages have at most {@code largestPage} bytes. */
  ParquetColumn(ParquetFile file, ParquetField field, V values, long largestPage) {
    this.file = file;
    this.field = field;
    this.values = values;
    pages = new ParquetPages(file, largestPage);
    repetition = new int[field.list() ? ParquetValues.CHUNK : 0];
    definition = new int[field.maxDefinition() > 0 ? ParquetValues.CHUNK : 0];
    repetitionWidth = 32 - Integer.numberOfLeadingZeros(field.lists());
    definitionWidth = 32 - Integer.numberOfLeadingZeros(field.maxDefinition());
  }

  /** Goes to the start of a chunk. */
  void open(ColumnMetaData chunk) {
    pages.open(chunk);
    values.startChunk();
    entriesLeft = chunk.getNum_values();
    pageLeft = 0;
    runFrom = 0;
    runTo = 0;
    levelsTo = 0;
    begun = false;
  }

  /**
   * Takes the next entries, as many as convenient: of at most {@code rows} more rows, and what
   * remains of the row before. Returns how many; 0 when the rows are complete.
   */
  int next(int rows) {
    try {
      int count = field.list() ? nextElements(rows) : nextScalars(rows);
      begun |= count > 0;
      return count;
    } catch (DataException e) {
      throw file.fault(field.name(), pages.pageOffset(), e);
    } catch (IndexOutOfBoundsException e) {
      throw located("got a broken page (" + e + ")" + ParquetFile.REWRITE);
    }
  }

  /** A fault in the page at hand. */
  DataException located(String message) {
    return file.fault(field.name(), pages.pageOffset(), message);
  }

  private int nextScalars(int rows) {
    if (rows == 0 || !hasPage()) {
      return 0;
    }
    int count = Math.min(ParquetValues.CHUNK, Math.min(rows, pageLeft));
    pageLeft -= count;
    runFrom = 0;
    runTo = count;
    levelsTo = count;
    dense = definitionWidth == 0 || definitions.takeRepeated(field.maxDefinition(), count);
    values.read(dense ? count : readDefinitions(count));
    return count;
  }

  private int nextElements(int rows) {
    if (runTo == levelsTo && !readLevels()) {
      return 0;
    }
    runFrom = runTo;
    int started = 0;
    int present = 0;
    int at = runFrom;
    for (; at < levelsTo; at++) {
      if (repetition[at] == 0) {
        if (started == rows) {
          break;
        }
        started++;
      } else if (!begun && at == 0) {
        throw new DataException("got a list that goes on before one began" + ParquetFile.REWRITE);
      }
      if (definition[at] == field.maxDefinition()) {
        present++;
      }
    }
    runTo = at;
    dense = false;
    values.read(present);
    return runTo - runFrom;
  }

  private boolean readLevels() {
    if (!hasPage()) {
      return false;
    }
    int count = Math.min(ParquetValues.CHUNK, pageLeft);
    pageLeft -= count;
    repetitions.read(repetition, count);
    readDefinitions(count);
    runTo = 0;
    levelsTo = count;
    return true;
  }

  /** Reads definition levels; returns how many values are present. */
  private int readDefinitions(int count) {
    definitions.read(definition, count);
    int highest = 0;
    int present = 0;
    for (int i = 0; i < count; i++) {
      highest = Math.max(highest, definition[i]);
      present += definition[i] == field.maxDefinition() ? 1 : 0;
    }
    if (highest > field.maxDefinition()) {
      throw new DataException(
          "got definition level "
              + highest
              + ", expected at most "
              + field.maxDefinition()
              + ParquetFile.REWRITE);
    }
    return present;
  }

  /** Whether a row holds any number of values. */
  boolean isList() {
    return field.list();
  }

  /** Whether values are unsigned integers. */
  boolean isUnsigned() {
    return field.kind() == ParquetType.Kind.UINT64 || field.kind() == ParquetType.Kind.UINT32;
  }

  /** Whether entry {@code i} of the run starts a row. */
  boolean starts(int i) {
    return repetition.length == 0 || repetition[runFrom + i] == 0;
  }

  /** Whether all entries of the run have a value: no need to ask {@link #present}. */
  boolean dense() {
    return dense;
  }

  /** The repetition level of entry {@code i} of the run. */
  int repetition(int i) {
    return repetition.length == 0 ? 0 : repetition[runFrom + i];
  }

  /** The definition level of entry {@code i} of the run. */
  int definition(int i) {
    return dense ? field.maxDefinition() : definition[runFrom + i];
  }

  /** Whether entry {@code i} of the run has a value. */
  boolean present(int i) {
    return definition[runFrom + i] == field.maxDefinition();
  }

  /** Whether entry {@code i} of the run is an element of a list, null or not. */
  boolean element(int i) {
    return definition[runFrom + i] >= field.elementDefinition();
  }

  /** Whether entry {@code i} of the run is a row's list that is null, not empty. */
  boolean nullList(int i) {
    return definition[runFrom + i] < field.listDefinition() - 1;
  }

  /** The values present in the run. */
  V values() {
    return values;
  }

  /** Whether nothing of the chunk is left. */
  boolean finished() {
    return entriesLeft == 0 && pageLeft == 0 && runTo == levelsTo;
  }

  /** Goes over {@code rows} rows; pages of scalars that lie within them are not read. */
  void skip(long rows) {
    long left = rows;
    try {
      left -= skipPages(left);
    } catch (DataException e) {
      throw file.fault(field.name(), pages.pageOffset(), e);
    }
    while (left > 0) {
      int count = next((int) Math.min(left, ParquetValues.CHUNK));
      if (count == 0) {
        throw located("got fewer rows than its group" + ParquetFile.REWRITE);
      }
      for (int i = 0; i < count; i++) {
        left -= starts(i) ? 1 : 0;
      }
    }
    // What remains of the last row, in a list column.
    while (next(0) > 0) {}
  }

  private long skipPages(long rows) {
    long skipped = 0;
    // Where texts share prefixes over pages (PARQUET-246), none can be left out.
    boolean apart = !field.list() && !file.sharesOverPages();
    while (apart && pageLeft == 0 && skipped < rows && entriesLeft > 0) {
      nextPage();
      PageHeader header = pages.header();
      int entries =
          switch (header.getType()) {
            case DATA_PAGE -> header.getData_page_header().getNum_values();
            case DATA_PAGE_V2 -> header.getData_page_header_v2().getNum_values();
            default -> -1; // a dictionary, which later pages need
          };
      if (entries < 0 || entries > rows - skipped) {
        openPage(header);
      } else {
        claim(entries);
        pageLeft = 0;
        pages.skip();
        skipped += entries;
      }
    }
    return skipped;
  }

  private void nextPage() {
    if (!pages.next()) {
      throw new DataException(
          "got " + entriesLeft + " values less than the chunk's count" + ParquetFile.REWRITE);
    }
  }

  private boolean hasPage() {
    while (pageLeft == 0) {
      if (entriesLeft == 0) {
        return false;
      }
      nextPage();
      openPage(pages.header());
    }
    return true;
  }

  private void openPage(PageHeader header) {
    try {
      open(header);
    } catch (OutOfMemoryError e) {
      throw new DataException(
          "got a page of "
              + header.getUncompressed_page_size()
              + " bytes, expected one that the Java heap of "
              + Runtime.getRuntime().maxMemory()
              + " bytes has room for; raise it, as TERN_JAVA_OPTS=-Xmx8g does, or write the file"
              + " with smaller pages",
          e);
    }
  }

  private void open(PageHeader header) {
    switch (header.getType()) {
      case DICTIONARY_PAGE -> {
        pages.load();
        DictionaryPageHeader page = header.getDictionary_page_header();
        values.dictionary(
            page.getEncoding(),
            pages.data(),
            pages.dataFrom(),
            pages.dataTo(),
            page.getNum_values());
      }
      case DATA_PAGE -> openVersion1(header.getData_page_header());
      case DATA_PAGE_V2 -> openVersion2(header.getData_page_header_v2());
      case INDEX_PAGE -> pages.skip();
    }
  }

  private void openVersion1(DataPageHeader page) {
    claim(page.getNum_values());
    pages.load();
    int at = pages.dataFrom();
    if (field.list()) {
      at = openLevels(repetitions, page.getRepetition_level_encoding(), at, repetitionWidth);
    }
    if (definitionWidth > 0) {
      at = openLevels(definitions, page.getDefinition_level_encoding(), at, definitionWidth);
    }
    values.open(page.getEncoding(), pages.data(), at, pages.dataTo());
  }

  private int openLevels(ParquetRuns levels, Encoding encoding, int at, int width) {
    if (encoding == Encoding.BIT_PACKED) {
      return openPackedLevels(levels, at, width);
    }
    if (encoding != Encoding.RLE) {
      throw new DataException(
          "got levels in " + encoding + ", expected RLE or BIT_PACKED; write the file again");
    }
    int left = pages.dataTo() - at - 4;
    int length = left < 0 ? -1 : (int) INT.get(pages.data(), at);
    if (length < 0 || length > left) {
      throw new DataException(
          "got levels of "
              + length
              + " bytes, "
              + left
              + " left in the page"
              + ParquetFile.REWRITE);
    }
    levels.open(pages.data(), at + 4, at + 4 + length, width);
    return at + 4 + length;
  }

  /** Levels as parquet-mr 1.0 and Impala wrote them: as many as the page has entries. */
  private int openPackedLevels(ParquetRuns levels, int at, int width) {
    long bytes = ((long) pageLeft * width + 7) / 8;
    if (bytes > pages.dataTo() - at) {
      throw new DataException(
          "got levels of "
              + bytes
              + " bytes, "
              + (pages.dataTo() - at)
              + " left in the page"
              + ParquetFile.REWRITE);
    }
    levels.openBitPacked(pages.data(), at, pageLeft, width);
    return at + (int) bytes;
  }

  private void openVersion2(DataPageHeaderV2 page) {
    claim(page.getNum_values());
    pages.load();
    int levels = pages.dataFrom() + page.getRepetition_levels_byte_length();
    int data = levels + page.getDefinition_levels_byte_length();
    repetitions.open(pages.data(), pages.dataFrom(), levels, repetitionWidth);
    definitions.open(pages.data(), levels, data, definitionWidth);
    values.open(page.getEncoding(), pages.data(), data, pages.dataTo());
  }

  private void claim(int count) {
    if (count < 0 || count > entriesLeft) {
      throw new DataException(
          "got a page of "
              + count
              + " values, expected at most the "
              + entriesLeft
              + " left in its chunk"
              + ParquetFile.REWRITE);
    }
    entriesLeft -= count;
    pageLeft = count;
  }
}
