package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.internal.files.RecordBuffer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.Type;

/**
 * Values of one column as they are, to be written again: indices of the dictionary, booleans, or
 * bytes in the encoding PLAIN, whatever the encoding that they come in.
 */
final class ParquetPlainValues implements ParquetColumn.Decoder {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int CHUNK = ParquetValues.CHUNK;
  private static final int MOST_BYTES = 1 << 30;

  private final Type type;
  private final int width;
  private final ParquetByteArrays arrays;
  private final ParquetRuns runs = new ParquetRuns();
  private final ParquetDelta delta = new ParquetDelta();
  private final RecordBuffer decoded = new RecordBuffer();
  private final int[] ints = new int[CHUNK];
  private final int[] offsets = new int[CHUNK + 1];
  private final long[] longs = new long[CHUNK];
  private Encoding encoding = Encoding.PLAIN;
  private byte[] data = {};
  private int start;
  private int position;
  private int end;
  private int taken;
  private byte[] bytes = {};

  private byte[] dictionary = {};

  /** Entries of the dictionary, or -1 for none. */
  private int entries = -1;

  private Encoding dictionaryEncoding = Encoding.PLAIN;

  /**
   * Values of {@code type}.
   *
   * @param sharesOverPages as of {@link ParquetByteArrays}
   */
  ParquetPlainValues(ParquetType type, boolean sharesOverPages) {
    this.type = type.physical();
    width = type.width();
    arrays = new ParquetByteArrays(width, sharesOverPages, this::append);
  }

  private long append(int i, byte[] value, int from, int to) {
    if (decoded.size() > MOST_BYTES - (to - from)) {
      throw new DataException(
          "got values that share so much that %s of them have more than %s bytes, expected fewer; write smaller pages"
              .formatted(i + 1, MOST_BYTES));
    }
    if (type == Type.BYTE_ARRAY) {
      decoded.putInt(to - from);
    }
    decoded.putBytes(value, from, to);
    offsets[i + 1] = decoded.size();
    return 0;
  }

  @Override
  public void startChunk() {
    entries = -1;
    arrays.startChunk();
  }

  @Override
  public void dictionary(Encoding encoding, byte[] data, int from, int to, int count) {
    if (encoding != Encoding.PLAIN && encoding != Encoding.PLAIN_DICTIONARY) {
      throw new DataException("got a dictionary in " + encoding + ", expected PLAIN");
    }
    if (entries >= 0 || count < 0 || type == Type.BOOLEAN) {
      throw new DataException(
          "got a dictionary of %s values, expected one a chunk%s"
              .formatted(count, ParquetFile.REWRITE));
    }
    open(Encoding.PLAIN, data, from, to);
    for (int done = 0; done < count; done += CHUNK) {
      read(Math.min(CHUNK, count - done)); // for what is wrong with it
    }
    dictionary = Arrays.copyOfRange(data, from, position);
    entries = count;
    dictionaryEncoding = encoding;
  }

  @Override
  public void open(Encoding encoding, byte[] data, int from, int to) {
    ParquetValues.requireKnown(encoding, type);
    if (type == Type.FIXED_LEN_BYTE_ARRAY && width < 1) {
      throw new DataException("got bytes of length " + width + ParquetFile.REWRITE);
    }
    this.encoding = encoding;
    this.data = data;
    start = from;
    position = from;
    end = to;
    taken = 0;
    if (from == to) {
      return; // a page of nulls only
    }
    switch (encoding) {
      case PLAIN_DICTIONARY, RLE_DICTIONARY -> openIndices();
      case RLE -> ParquetValues.openBooleans(runs, data, from, to);
      case DELTA_BINARY_PACKED -> delta.open(data, from, to);
      case DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY -> arrays.open(encoding, data, from, to);
      default -> {}
    }
  }

  private void openIndices() {
    if (entries < 0) {
      throw new DataException("got a page without its dictionary" + ParquetFile.REWRITE);
    }
    if (data[position] == 0 && end == position + 1) {
      runs.openZeros(); // of one entry, some writers write no indices at all
    } else {
      runs.open(data, position + 1, end, data[position]);
    }
  }

  @Override
  public void read(int count) {
    if (count > 0 && start == end) {
      throw exhausted();
    }
    if (count == 0) {
      return;
    }
    if (isIndexed()) {
      runs.read(ints, count);
      requireWithin(count);
    } else if (type == Type.BOOLEAN) {
      readBooleans(count);
    } else {
      decoded.clear();
      readBytes(count);
    }
  }

  private void requireWithin(int count) {
    for (int i = 0; i < count; i++) {
      if (Integer.compareUnsigned(ints[i], entries) >= 0) {
        throw new DataException(
            "got dictionary index %s of %s entries%s"
                .formatted(Integer.toUnsignedString(ints[i]), entries, ParquetFile.REWRITE));
      }
    }
  }

  private void readBooleans(int count) {
    if (encoding == Encoding.RLE) {
      runs.read(ints, count);
      return;
    }
    if (taken + count > 8L * (end - position)) {
      throw exhausted();
    }
    for (int i = 0; i < count; i++) {
      int bit = taken + i;
      ints[i] = data[position + (bit >>> 3)] >>> (bit & 7) & 1;
    }
    taken += count;
  }

  private void readBytes(int count) {
    switch (encoding) {
      case PLAIN -> {
        bytes = data;
        for (int i = 0; i < count; i++) {
          offsets[i] = position;
          position += claim(type == Type.BYTE_ARRAY ? byteArray() : width);
        }
        offsets[count] = position;
        return;
      }
      case DELTA_BINARY_PACKED -> {
        delta.read(longs, 0, count);
        for (int i = 0; i < count; i++) {
          if (width == Long.BYTES) {
            decoded.putLong(longs[i]);
          } else {
            decoded.putInt((int) longs[i]);
          }
        }
        putOffsets(count);
      }
      case BYTE_STREAM_SPLIT -> {
        gather(count);
        putOffsets(count);
      }
      default -> {
        offsets[0] = 0;
        arrays.read(longs, count);
      }
    }
    bytes = decoded.bytes();
  }

  /** Bytes of the array at hand, with those of its length. */
  private long byteArray() {
    claim(Integer.BYTES);
    int length = (int) INT.get(data, position);
    return length < 0 ? Long.MAX_VALUE : Integer.BYTES + (long) length;
  }

  private int claim(long count) {
    if (count > end - position) {
      throw exhausted();
    }
    return (int) count;
  }

  /** Byte k of all values lies in the k-th part of the page: puts the values side by side. */
  private void gather(int count) {
    int values = (end - position) / width;
    if (count > values - taken) {
      throw exhausted();
    }
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < width; k++) {
        decoded.putByte(data[position + k * values + taken + i]);
      }
    }
    taken += count;
  }

  private void putOffsets(int count) {
    for (int i = 0; i <= count; i++) {
      offsets[i] = i * width;
    }
  }

  /** Whether the values last read are {@link #ints} into the dictionary. */
  boolean isIndexed() {
    return encoding == Encoding.RLE_DICTIONARY || encoding == Encoding.PLAIN_DICTIONARY;
  }

  /** Whether the values last read are {@link #ints} that are 0 or 1. */
  boolean isBoolean() {
    return type == Type.BOOLEAN;
  }

  /** The encoding of the page that the values last read are from. */
  Encoding encoding() {
    return encoding;
  }

  int[] ints() {
    return ints;
  }

  /** Holds value {@code i} from {@code offsets()[i]} to {@code offsets()[i + 1]}. */
  byte[] bytes() {
    return bytes;
  }

  int[] offsets() {
    return offsets;
  }

  /** Entries of the dictionary; -1 where the chunk has none. */
  int entries() {
    return entries;
  }

  /** The dictionary's page. */
  byte[] dictionary() {
    return dictionary;
  }

  Encoding dictionaryEncoding() {
    return dictionaryEncoding;
  }

  private static DataException exhausted() {
    return new DataException("got fewer values than the page's count" + ParquetFile.REWRITE);
  }
}
