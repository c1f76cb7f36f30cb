package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextDictionary;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Set;
import org.apache.parquet.format.Encoding;

/**
 * Walks over the byte arrays of a page: texts, which become hashes without a String for any, or
 * other values, of which {@link ParquetBytes} makes sense.
 */
final class ParquetByteArrays {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /**
   * Bytes of all values of a page, at most. Where values share prefixes, a few bytes can ask for
   * much work: a page of 1 MiB for 2^39 bytes.
   */
  private static final long MAX_WORK = 4L << 30;

  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

  private final boolean text;
  private final int width;
  private final boolean sharesOverPages;
  private final ParquetTexts texts;
  private final Reading reading;
  private final ParquetDelta prefixes = new ParquetDelta();
  private final ParquetDelta lengths = new ParquetDelta();
  private final long[] prefix = new long[1];
  private final long[] length = new long[1];
  private Encoding encoding = Encoding.PLAIN;
  private byte[] data = {};
  private int position;
  private int end;

  /** The value before this one, where values share prefixes. */
  private byte[] shared = new byte[64];

  private int sharedLength;
  private long work;

  /**
   * Arrays of {@code type}: texts become hashes, unless they are used as times, others what {@code
   * reading} makes of them.
   *
   * @param sharesOverPages whether the first value of a page shares a prefix with the last of the
   *     page before, as early parquet-mr wrote (PARQUET-246)
   */
  ParquetByteArrays(
      ParquetType type,
      ParquetValues.Use use,
      boolean sharesOverPages,
      ParquetTexts texts,
      ParquetBytes reading) {
    this.sharesOverPages = sharesOverPages;
    text = type.kind() == ParquetType.Kind.TEXT && !use.isTime();
    width = type.width();
    this.texts = texts;
    this.reading = reading;
  }

  /** Arrays that {@code reading} takes, all of {@code width} bytes unless that is 0. */
  ParquetByteArrays(int width, boolean sharesOverPages, Reading reading) {
    this.width = width;
    this.sharesOverPages = sharesOverPages;
    this.reading = reading;
    text = false;
    texts = new ParquetTexts(TextDictionary.none(), Set.of());
  }

  /** What becomes of arrays that are no texts. */
  @FunctionalInterface
  interface Reading {
    /** Value {@code i}, which is {@code bytes[from, to)}. */
    long read(int i, byte[] bytes, int from, int to);
  }

  /** Forgets the pages of the chunk before. */
  void startChunk() {
    sharedLength = 0;
  }

  /** Starts on {@code data[from, to)}. */
  void open(Encoding encoding, byte[] data, int from, int to) {
    this.encoding = encoding;
    this.data = data;
    position = from;
    end = to;
    sharedLength = sharesOverPages ? sharedLength : 0;
    work = 0;
    if (encoding == Encoding.DELTA_BYTE_ARRAY) {
      prefixes.open(data, position, end);
      int lengthsFrom = prefixes.skipAll();
      prefixes.open(data, position, end);
      position = lengthsFrom;
    }
    if (encoding != Encoding.PLAIN) {
      lengths.open(data, position, end);
      int textsFrom = lengths.skipAll();
      lengths.open(data, position, end);
      position = textsFrom;
    }
  }

  /** Takes {@code count} values into {@code out} from index 0. */
  void read(long[] out, int count) {
    switch (encoding) {
      case PLAIN -> {
        for (int i = 0; i < count; i++) {
          require(4);
          int bytes = (int) INT.get(data, position);
          position += 4;
          out[i] = take(i, bytes);
        }
      }
      case DELTA_LENGTH_BYTE_ARRAY -> {
        for (int i = 0; i < count; i++) {
          lengths.read(length, 0, 1);
          out[i] = take(i, length[0]);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          prefixes.read(prefix, 0, 1);
          lengths.read(length, 0, 1);
          out[i] = takeShared(i, prefix[0], length[0]);
        }
      }
    }
  }

  private long take(int i, long bytes) {
    require(bytes);
    int from = position;
    position += (int) bytes;
    return text ? texts.of(data, from, position) : reading.read(i, data, from, position);
  }

  private long takeShared(int i, long kept, long added) {
    require(added);
    if (kept < 0 || kept > sharedLength) {
      throw new DataException(
          "got a value that keeps "
              + kept
              + " bytes of "
              + sharedLength
              + " before it, expected at most those"
              + ParquetFile.REWRITE);
    }
    int total = (int) (kept + added); // each byte of it is one of the page
    requireWork(total);
    if (width > 0 && total != width) {
      throw new DataException(
          "got a value of " + total + " bytes, expected " + width + ParquetFile.REWRITE);
    }
    if (total > shared.length) {
      shared =
          Arrays.copyOf(shared, (int) Math.min(MAX_ARRAY, Math.max(total, 2L * shared.length)));
    }
    System.arraycopy(data, position, shared, (int) kept, (int) added);
    position += (int) added;
    sharedLength = total;
    return text ? texts.of(shared, 0, total) : reading.read(i, shared, 0, total);
  }

  private void requireWork(int bytes) {
    work += bytes;
    if (work > MAX_WORK) {
      throw new DataException(
          "got a page whose values share so much that they hold more than "
              + MAX_WORK
              + " bytes, expected at most that in a page; write smaller pages");
    }
  }

  private void require(long bytes) {
    if (bytes < 0 || bytes > end - position) {
      throw new DataException(
          "got a text of "
              + bytes
              + " bytes with "
              + (end - position)
              + " left in its page"
              + ParquetFile.REWRITE);
    }
  }
}
