package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.parquet.format.Encoding;

/** Texts of a page as 64-bit hashes, without a String for any. */
final class ParquetTexts {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** Bounds the work a few bytes can ask for where values share prefixes. */
  private static final int MAX_SHARED = 1 << 16;

  private final TextDictionary dictionary;
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

  ParquetTexts(TextDictionary dictionary) {
    this.dictionary = dictionary;
  }

  /** Starts on {@code data[from, to)}. */
  void open(Encoding encoding, byte[] data, int from, int to) {
    this.encoding = encoding;
    this.data = data;
    position = from;
    end = to;
    sharedLength = 0;
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

  /** Takes the hashes of {@code count} texts into {@code out} from index 0. */
  void read(long[] out, int count) {
    switch (encoding) {
      case PLAIN -> {
        for (int i = 0; i < count; i++) {
          require(4);
          int bytes = (int) INT.get(data, position);
          position += 4;
          out[i] = take(bytes);
        }
      }
      case DELTA_LENGTH_BYTE_ARRAY -> {
        for (int i = 0; i < count; i++) {
          lengths.read(length, 0, 1);
          out[i] = take(length[0]);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          prefixes.read(prefix, 0, 1);
          lengths.read(length, 0, 1);
          out[i] = takeShared(prefix[0], length[0]);
        }
      }
    }
  }

  private long take(long bytes) {
    require(bytes);
    int from = position;
    position += (int) bytes;
    return hash(data, from, position);
  }

  private long takeShared(long kept, long added) {
    require(added);
    long total = kept + added;
    if (kept < 0 || kept > sharedLength || total > MAX_SHARED) {
      throw new DataException(
          "got a text that keeps "
              + kept
              + " bytes of "
              + sharedLength
              + " before it and adds "
              + added
              + ", expected at most "
              + MAX_SHARED
              + ParquetFile.REWRITE);
    }
    if (total > shared.length) {
      shared = Arrays.copyOf(shared, (int) Math.max(total, 2L * shared.length));
    }
    System.arraycopy(data, position, shared, (int) kept, (int) added);
    position += (int) added;
    sharedLength = (int) total;
    return hash(shared, 0, sharedLength);
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

  private long hash(byte[] bytes, int from, int to) {
    long hash = TextHash.of(bytes, from, to);
    dictionary.saw(hash, bytes, from, to);
    return hash;
  }

  /** The hash of an integer's decimal text. */
  long ofInteger(long value, boolean unsigned) {
    if (unsigned && value < 0) {
      return ofText(Long.toUnsignedString(value));
    }
    long hash = TextHash.ofInteger(value);
    dictionary.sawInteger(hash, value);
    return hash;
  }

  /** The hash of {@code text}. */
  long ofText(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return hash(bytes, 0, bytes.length);
  }
}
