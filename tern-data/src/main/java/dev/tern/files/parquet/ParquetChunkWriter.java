package dev.tern.files.parquet;

import dev.tern.files.KeyType;
import dev.tern.internal.files.OutputFile;
import dev.tern.internal.files.RecordBuffer;
import io.airlift.compress.v3.Compressor;
import io.airlift.compress.v3.lz4.Lz4JavaCompressor;
import io.airlift.compress.v3.snappy.SnappyJavaCompressor;
import io.airlift.compress.v3.zstd.ZstdJavaCompressor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.Util;

/**
 * Writes column chunks: version 1 pages of whole rows, with checksums. Ids go by a dictionary where
 * few enough are different, else PLAIN as numbers do.
 */
final class ParquetChunkWriter {
  private static final int PAGE_ROWS = 1 << 14;
  private static final int PAGE_VALUES = 1 << 17;
  private static final int MAX_DICTIONARY = 1 << 16;

  private final OutputFile out;
  private CompressionCodec codec;
  private Compressor compressor = new SnappyJavaCompressor();
  private final RecordBuffer page = new RecordBuffer();
  private final ParquetRunWriter runs = new ParquetRunWriter(page);
  private final CRC32 crc = new CRC32();
  private byte[] compressed = {};
  private int[] levels = {};

  /** The dictionary being built: entries in order, and an open-addressing table of them. */
  private long[] entries = {};

  private int[] table = {};
  private int entryCount;
  private int[] indices = {};

  private ColumnMetaData meta = new ColumnMetaData();

  ParquetChunkWriter(OutputFile out, ParquetLayout.Codec codec) {
    this.out = out;
    this.codec = CompressionCodec.UNCOMPRESSED;
    compressBy(CompressionCodec.valueOf(codec.name()));
  }

  /** Chunks of which each says how it is compressed. */
  ParquetChunkWriter(OutputFile out) {
    this(out, ParquetLayout.Codec.UNCOMPRESSED);
  }

  /** The codec that pages compressed by {@code codec} are written with: itself, or one as dense. */
  static CompressionCodec written(CompressionCodec codec) {
    return switch (codec) {
      case BROTLI, LZO -> CompressionCodec.ZSTD;
      case LZ4 -> CompressionCodec.LZ4_RAW;
      default -> codec;
    };
  }

  private void compressBy(CompressionCodec next) {
    if (next != codec) {
      codec = next;
      compressor =
          switch (next) {
            case ZSTD -> new ZstdJavaCompressor();
            case LZ4_RAW -> new Lz4JavaCompressor();
            default -> new SnappyJavaCompressor();
          };
    }
  }

  /**
   * Starts a chunk whose pages {@link #page} is filled for.
   *
   * @param codec one that {@link #written} gives
   */
  void start(CompressionCodec codec) {
    compressBy(codec);
    start(Encoding.RLE);
    page.clear();
  }

  /** What the next page holds, levels and values. */
  RecordBuffer page() {
    return page;
  }

  /** Puts levels of {@code width} bits into the page. */
  void putLevels(int[] values, int count, int width) {
    int start = page.size();
    page.putInt(0);
    runs.write(values, 0, count, width);
    page.setInt(start, page.size() - start - 4);
  }

  /** Puts indices of a dictionary of {@code entries} into the page. */
  void putIndices(int[] values, int count, int entries) {
    int width = ParquetRunWriter.width(Math.max(0, entries - 1));
    page.putByte(width);
    runs.write(values, 0, count, width);
  }

  /** Writes the page as the dictionary of the chunk. */
  void endDictionary(int entries, Encoding encoding) {
    meta.setDictionary_page_offset(out.position());
    use(encoding);
    putDictionary(entries, encoding);
    meta.setData_page_offset(out.position());
    page.clear();
  }

  /** Writes the page as one of {@code places} entries. */
  void endPage(int places, Encoding encoding) {
    use(encoding);
    putDataPage(places, encoding);
    page.clear();
  }

  private void use(Encoding encoding) {
    if (!meta.getEncodings().contains(encoding)) {
      meta.addToEncodings(encoding);
    }
  }

  /** The chunk so far. */
  ColumnMetaData meta() {
    return meta;
  }

  /** Writes {@code count} numbers; with {@code nulls}, NaN is null. */
  ColumnMetaData numbers(float[] values, int count, boolean nulls) {
    start(Encoding.PLAIN);
    for (int from = 0; from < count; from += PAGE_ROWS) {
      int to = Math.min(count, from + PAGE_ROWS);
      page.clear();
      if (nulls) {
        int[] present = levels(to - from);
        for (int i = from; i < to; i++) {
          present[i - from] = Float.isNaN(values[i]) ? 0 : 1;
        }
        putLevels(present, to - from);
      }
      for (int i = from; i < to; i++) {
        if (!nulls || !Float.isNaN(values[i])) {
          page.putFloat(values[i]);
        }
      }
      putDataPage(to - from, Encoding.PLAIN);
    }
    return meta;
  }

  /** Writes one key a row. */
  ColumnMetaData keys(long[] keys, int rows, KeyType type) {
    Encoding encoding = startKeys(keys, rows, type);
    for (int from = 0; from < rows; from += PAGE_ROWS) {
      int to = Math.min(rows, from + PAGE_ROWS);
      page.clear();
      putKeys(keys, from, to, type, encoding);
      putDataPage(to - from, encoding);
    }
    return meta;
  }

  /** Writes a list of keys a row: row r holds {@code keys[ends[r - 1] .. ends[r])}. */
  ColumnMetaData lists(long[] keys, int[] ends, int rows, KeyType type) {
    Encoding encoding = startKeys(keys, rows == 0 ? 0 : ends[rows - 1], type);
    for (int row = 0; row < rows; ) {
      int from = row;
      int start = from == 0 ? 0 : ends[from - 1];
      do {
        row++;
      } while (row < rows && row - from < PAGE_ROWS && ends[row] - start <= PAGE_VALUES);
      page.clear();
      int places = putListLevels(ends, from, row);
      putKeys(keys, start, ends[row - 1], type, encoding);
      putDataPage(places, encoding);
    }
    return meta;
  }

  /** An element starts its row (repetition 0) or goes on; an empty list is a place without one. */
  private int putListLevels(int[] ends, int from, int to) {
    int start = from == 0 ? 0 : ends[from - 1];
    int[] repetition = levels(to - from + ends[to - 1] - start);
    int places = 0;
    for (int row = from; row < to; row++) {
      int count = Math.max(1, ends[row] - (row == 0 ? 0 : ends[row - 1]));
      repetition[places] = 0;
      Arrays.fill(repetition, places + 1, places + count, 1);
      places += count;
    }
    putLevels(repetition, places);
    places = 0;
    for (int row = from; row < to; row++) {
      int count = ends[row] - (row == 0 ? 0 : ends[row - 1]);
      Arrays.fill(levels, places, places + Math.max(1, count), count == 0 ? 0 : 1);
      places += Math.max(1, count);
    }
    putLevels(levels, places);
    return places;
  }

  private int[] levels(int count) {
    if (levels.length < count) {
      levels = new int[count + count / 2];
    }
    return levels;
  }

  private void putLevels(int[] values, int count) {
    putLevels(values, count, 1);
  }

  private void putKeys(long[] keys, int from, int to, KeyType type, Encoding encoding) {
    if (encoding == Encoding.RLE_DICTIONARY) {
      int width = ParquetRunWriter.width(entryCount - 1);
      page.putByte(width);
      runs.write(indices, from, to, width);
      return;
    }
    for (int i = from; i < to; i++) {
      page.putKey(type, keys[i]);
    }
  }

  private void start(Encoding encoding) {
    meta = new ColumnMetaData();
    meta.setCodec(codec);
    meta.addToEncodings(Encoding.RLE);
    use(encoding);
    meta.setNum_values(0);
    meta.setTotal_uncompressed_size(0);
    meta.setTotal_compressed_size(0);
    meta.setData_page_offset(out.position());
  }

  /** Starts a chunk of keys, with its dictionary if there is to be one. */
  private Encoding startKeys(long[] keys, int count, KeyType type) {
    if (!index(keys, count)) {
      start(Encoding.PLAIN);
      return Encoding.PLAIN;
    }
    start(Encoding.RLE_DICTIONARY);
    meta.addToEncodings(Encoding.PLAIN);
    meta.setDictionary_page_offset(out.position());
    page.clear();
    for (int i = 0; i < entryCount; i++) {
      page.putKey(type, entries[i]);
    }
    putDictionary(entryCount, Encoding.PLAIN);
    meta.setData_page_offset(out.position());
    return Encoding.RLE_DICTIONARY;
  }

  private void putDictionary(int count, Encoding encoding) {
    PageHeader header = new PageHeader();
    header.setType(PageType.DICTIONARY_PAGE);
    header.setDictionary_page_header(new DictionaryPageHeader(count, encoding));
    put(header);
  }

  /** Numbers the keys in the order they come; false where too many are different. */
  private boolean index(long[] keys, int count) {
    if (entries.length == 0) {
      entries = new long[MAX_DICTIONARY];
      table = new int[4 * MAX_DICTIONARY];
    }
    int limit = Math.min(MAX_DICTIONARY, count / 2);
    // At most half full; a power of two.
    int places = Integer.highestOneBit(Math.max(1, limit)) * 4;
    Arrays.fill(table, 0, places, 0);
    entryCount = 0;
    if (indices.length < count) {
      indices = new int[count];
    }
    int mask = places - 1;
    for (int i = 0; i < count; i++) {
      int place = (int) ((keys[i] * 0x9E3779B97F4A7C15L) >>> 40) & mask;
      while (table[place] != 0 && entries[table[place] - 1] != keys[i]) {
        place = place + 1 & mask;
      }
      if (table[place] == 0) {
        if (entryCount == limit) {
          return false;
        }
        entries[entryCount] = keys[i];
        entryCount++;
        table[place] = entryCount;
      }
      indices[i] = table[place] - 1;
    }
    return entryCount > 0;
  }

  private void putDataPage(int places, Encoding encoding) {
    PageHeader header = new PageHeader();
    header.setType(PageType.DATA_PAGE);
    header.setData_page_header(new DataPageHeader(places, encoding, Encoding.RLE, Encoding.RLE));
    put(header);
    meta.setNum_values(meta.getNum_values() + places);
  }

  /** Writes the page under {@code header}, to which it adds sizes and checksum. */
  private void put(PageHeader header) {
    byte[] body = page.bytes();
    int size = page.size();
    if (codec == CompressionCodec.GZIP) {
      body = gzip();
      size = body.length;
    } else if (codec != CompressionCodec.UNCOMPRESSED) {
      int most = compressor.maxCompressedLength(page.size());
      if (compressed.length < most) {
        compressed = new byte[most + most / 4];
      }
      size = compressor.compress(page.bytes(), 0, page.size(), compressed, 0, compressed.length);
      body = compressed;
    }
    crc.reset();
    crc.update(body, 0, size);
    header.setUncompressed_page_size(page.size());
    header.setCompressed_page_size(size);
    header.setCrc((int) crc.getValue());
    byte[] head = bytes(stream -> Util.writePageHeader(header, stream));
    out.write(head, 0, head.length);
    out.write(body, 0, size);
    meta.setTotal_compressed_size(meta.getTotal_compressed_size() + head.length + size);
    meta.setTotal_uncompressed_size(meta.getTotal_uncompressed_size() + head.length + page.size());
  }

  private byte[] gzip() {
    return bytes(stream -> {
      try (GZIPOutputStream packed = new GZIPOutputStream(stream, 1 << 13)) {
        packed.write(page.bytes(), 0, page.size());
      }
    });
  }

  /** Puts a Thrift structure into a stream. */
  @FunctionalInterface
  interface Part {
    void write(ByteArrayOutputStream stream) throws IOException;
  }

  static byte[] bytes(Part part) {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    try {
      part.write(stream);
    } catch (IOException e) {
      throw new IllegalStateException("parquet: got " + e + " writing to memory", e);
    }
    return stream.toByteArray();
  }
}
