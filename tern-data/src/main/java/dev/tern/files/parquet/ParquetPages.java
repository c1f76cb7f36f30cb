package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.util.zip.CRC32;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeaderV2;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;

/**
 * The pages of one column chunk, one after the other: read ahead, checked, uncompressed. First
 * {@link #next}, which reads a header, then {@link #load} or nothing to jump over the page.
 */
final class ParquetPages {
  private static final int READ_AHEAD = 128 << 10;
  private static final int FIRST_HEADER = 1 << 10;
  private static final int MAX_HEADER = 16 << 20;
  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8 - ParquetRuns.SLACK;

  /** More room than a page needs, so that the next, a little larger, fits too. */
  private static final int MAX_SPARE = 16 << 20;

  private final ParquetFile file;
  private final long largestPage;
  private final ParquetCodec codecs = new ParquetCodec();
  private final CRC32 crc = new CRC32();
  private CompressionCodec codec = CompressionCodec.UNCOMPRESSED;

  /** Bytes of the file read ahead: {@code window[from, to)} begin at {@code offset} of the file. */
  private byte[] window = new byte[ParquetRuns.SLACK];

  private int from;
  private int to;
  private long offset;

  /** End of the chunk in the file. */
  private long end;

  private PageHeader header = new PageHeader();
  private long pageOffset;
  private byte[] page = new byte[ParquetRuns.SLACK];
  private byte[] data = page;
  private int dataFrom;
  private int dataTo;

  /** Pages of a column of {@code file}, of at most {@code largestPage} bytes each. */
  ParquetPages(ParquetFile file, long largestPage) {
    this.file = file;
    this.largestPage = largestPage;
  }

  /** Goes to the first page of a chunk. */
  void open(ColumnMetaData chunk) {
    codec = chunk.getCodec();
    offset = ParquetFile.start(chunk);
    pageOffset = offset;
    end = file.end(chunk);
    from = 0;
    to = 0;
  }

  /** Offset in the file of the page at hand, for messages. */
  long pageOffset() {
    return pageOffset;
  }

  PageHeader header() {
    return header;
  }

  /** The array holding the page {@link #load}ed, with slack behind. */
  byte[] data() {
    return data;
  }

  int dataFrom() {
    return dataFrom;
  }

  int dataTo() {
    return dataTo;
  }

  /** Reads the next page's header; false at the end of the chunk. */
  boolean next() {
    pageOffset = offset;
    if (offset >= end) {
      return false;
    }
    for (int wanted = FIRST_HEADER; ; wanted *= 4) {
      int available = (int) Math.min(wanted, end - offset);
      ensure(available);
      PageHeader parsed = new PageHeader();
      int after = ParquetThrift.pageHeader(parsed, window, from, from + available);
      if (after != ParquetThrift.TRUNCATED) {
        header = parsed;
        advance(after - from);
        checkHeader();
        return true;
      }
      if (available < wanted || wanted >= MAX_HEADER) {
        throw new DataException("got a page header that does not end" + ParquetFile.REWRITE);
      }
    }
  }

  private void checkHeader() {
    int compressed = header.getCompressed_page_size();
    int size = header.getUncompressed_page_size();
    if (compressed < 0 || compressed > end - offset || size < 0) {
      throw new DataException(
          "got a page of "
              + compressed
              + " bytes, "
              + size
              + " uncompressed, with "
              + (end - offset)
              + " left in its chunk; expected at most that"
              + ParquetFile.REWRITE);
    }
    boolean complete =
        switch (header.getType()) {
          case DATA_PAGE -> header.isSetData_page_header();
          case DATA_PAGE_V2 -> header.isSetData_page_header_v2();
          case DICTIONARY_PAGE -> header.isSetDictionary_page_header();
          case INDEX_PAGE -> true;
        };
    if (!complete) {
      throw new DataException(
          "got a page of type " + header.getType() + " without its header" + ParquetFile.REWRITE);
    }
  }

  /** Jumps over the page whose header {@link #next} read. */
  void skip() {
    int size = header.getCompressed_page_size();
    if (size <= to - from) {
      advance(size);
    } else {
      offset += size;
      from = 0;
      to = 0;
    }
  }

  /** Reads, checks and uncompresses the page whose header {@link #next} read. */
  void load() {
    int compressed = header.getCompressed_page_size();
    int size = header.getUncompressed_page_size();
    requireWithinLimit(Math.max(compressed, size));
    ensure(compressed);
    checkCrc(compressed);
    // Version 2 keeps the levels before the values as they are.
    int plain = 0;
    boolean packed = codec != CompressionCodec.UNCOMPRESSED;
    if (header.getType() == PageType.DATA_PAGE_V2) {
      DataPageHeaderV2 v2 = header.getData_page_header_v2();
      plain = levelBytes(v2, Math.min(compressed, size));
      // Early parquet-cpp compressed such pages and said that it did not (ARROW-10353).
      boolean wrong = file.writer().isBefore("parquet-cpp", 2, 0, 0);
      packed = packed && (wrong || !v2.isSetIs_compressed() || v2.isIs_compressed());
    }
    if (packed && compressed > plain) {
      unpack(plain, compressed, size);
    } else if (compressed != size) {
      throw new DataException(
          "got " + compressed + " plain bytes said to be " + size + ParquetFile.REWRITE);
    } else {
      data = window;
      dataFrom = from;
      dataTo = from + size;
    }
    advance(compressed);
  }

  private void requireWithinLimit(int size) {
    if (size > largestPage) {
      throw new DataException(
          "got a page of "
              + size
              + " bytes, expected at most "
              + largestPage
              + "; raise data.largest_page, or write the file with smaller pages");
    }
  }

  private void unpack(int plain, int compressed, int size) {
    codecs.checkSizes(codec, window, from + plain, compressed - plain, size - plain);
    if (page.length < size + ParquetRuns.SLACK) {
      int spare = Math.clamp((long) MAX_ARRAY - size, 0, Math.min(size / 4, MAX_SPARE));
      page = new byte[size + ParquetRuns.SLACK + spare];
    }
    System.arraycopy(window, from, page, 0, plain);
    codecs.uncompress(codec, window, from + plain, compressed - plain, page, plain, size - plain);
    data = page;
    dataFrom = 0;
    dataTo = size;
  }

  private static int levelBytes(DataPageHeaderV2 v2, int size) {
    int repetition = v2.getRepetition_levels_byte_length();
    int definition = v2.getDefinition_levels_byte_length();
    if (repetition < 0 || definition < 0 || (long) repetition + definition > size) {
      throw new DataException(
          "got levels of "
              + repetition
              + " and "
              + definition
              + " bytes in a page of "
              + size
              + ParquetFile.REWRITE);
    }
    return repetition + definition;
  }

  private void checkCrc(int compressed) {
    if (!header.isSetCrc()) {
      return;
    }
    crc.reset();
    crc.update(window, from, compressed);
    if ((int) crc.getValue() != header.getCrc()) {
      throw new DataException(
          "got a page with checksum "
              + Integer.toHexString((int) crc.getValue())
              + ", expected "
              + Integer.toHexString(header.getCrc())
              + "; the file is damaged, copy or write it again");
    }
  }

  private void advance(int count) {
    from += count;
    offset += count;
  }

  /** Makes {@code count} bytes from {@code offset} available, which the chunk must hold. */
  private void ensure(int count) {
    int held = to - from;
    if (held >= count) {
      return;
    }
    int wanted = (int) Math.min(Math.max(count, READ_AHEAD), end - offset);
    byte[] target = window;
    if (target.length < wanted + ParquetRuns.SLACK) {
      target = new byte[wanted + ParquetRuns.SLACK];
    }
    System.arraycopy(window, from, target, 0, held);
    window = target;
    from = 0;
    to = held;
    file.read(offset + held, window, held, wanted - held);
    to = wanted;
  }
}
