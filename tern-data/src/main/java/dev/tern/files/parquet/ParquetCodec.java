package dev.tern.files.parquet;

import dev.tern.base.DataException;
import io.airlift.compress.v3.MalformedInputException;
import io.airlift.compress.v3.lz4.Lz4JavaDecompressor;
import io.airlift.compress.v3.snappy.SnappyJavaDecompressor;
import io.airlift.compress.v3.zstd.ZstdJavaDecompressor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.GZIPInputStream;
import org.apache.parquet.format.CompressionCodec;
import org.brotli.dec.BrotliInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Uncompresses pages, in Java alone. What a codec needs is made when the first page comes: it is
 * more than 100 kB for some, and each column has a codec of its own.
 */
final class ParquetCodec {
  private static final int BROTLI_FREE = 8 << 20;
  private static final String REWRITE =
      "; write the file with SNAPPY, ZSTD, LZ4_RAW, LZ4, GZIP or BROTLI";

  private static final VarHandle BIG_INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private @Nullable SnappyJavaDecompressor snappy;
  private @Nullable Lz4JavaDecompressor lz4;
  private @Nullable ZstdJavaDecompressor zstd;

  /**
   * Refuses sizes no compressor reaches, before memory is taken for them: Snappy and LZ4 gain at
   * most 64 / 3 and 255 bytes a byte, deflate 1032; a block of Zstandard has a header of 3 bytes,
   * at least one more and at most 128 KiB in it, and its frames mostly state their size. A few
   * bytes of Brotli may be 16 MiB; pages that large are let through from 4 KiB for each byte on.
   */
  void checkSizes(CompressionCodec codec, byte[] source, int from, int length, int size) {
    boolean possible =
        switch (codec) {
          case UNCOMPRESSED -> size == length;
          case SNAPPY -> size <= 32L * length + 64;
          case LZ4_RAW, LZ4 -> size <= 256L * length + 64;
          case GZIP -> size <= 1040L * length + 64;
          case ZSTD -> size <= (length / 4 + 1L) << 17 && zstdSize(source, from, length, size);
          case BROTLI -> size <= BROTLI_FREE + 4096L * length;
          case LZO -> throw new DataException("got codec LZO, expected another" + REWRITE);
        };
    if (!possible) {
      throw new DataException(
          "got " + length + " bytes of " + codec + " said to hold " + size + ParquetFile.REWRITE);
    }
  }

  private SnappyJavaDecompressor snappy() {
    SnappyJavaDecompressor made = snappy == null ? new SnappyJavaDecompressor() : snappy;
    snappy = made;
    return made;
  }

  private Lz4JavaDecompressor lz4() {
    Lz4JavaDecompressor made = lz4 == null ? new Lz4JavaDecompressor() : lz4;
    lz4 = made;
    return made;
  }

  private ZstdJavaDecompressor zstd() {
    ZstdJavaDecompressor made = zstd == null ? new ZstdJavaDecompressor() : zstd;
    zstd = made;
    return made;
  }

  private boolean zstdSize(byte[] source, int from, int length, int size) {
    try {
      long stated = zstd().getDecompressedSize(source, from, length);
      return stated < 0 || stated <= size;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** Uncompresses {@code length} bytes to exactly {@code size}. */
  void uncompress(
      CompressionCodec codec,
      byte[] source,
      int from,
      int length,
      byte[] target,
      int at,
      int size) {
    int got;
    try {
      got =
          switch (codec) {
            case UNCOMPRESSED -> {
              System.arraycopy(source, from, target, at, size);
              yield size;
            }
            case SNAPPY -> snappy().decompress(source, from, length, target, at, size);
            case LZ4_RAW -> lz4().decompress(source, from, length, target, at, size);
            case ZSTD -> zstd().decompress(source, from, length, target, at, size);
            case GZIP -> gunzip(source, from, length, target, at, size);
            case BROTLI -> unbrotli(source, from, length, target, at, size);
            case LZ4 -> unLz4(source, from, length, target, at, size);
            case LZO -> throw new DataException("got codec LZO, expected another" + REWRITE);
          };
    } catch (DataException e) {
      throw e;
    } catch (IOException | MalformedInputException e) {
      throw new DataException(
          "got bytes that are no " + codec + " (" + e.getMessage() + ")" + ParquetFile.REWRITE, e);
    } catch (RuntimeException e) {
      // Such as of an index: compiled code throws them with no message, other code with one.
      throw new DataException("got bytes that are no " + codec + ParquetFile.REWRITE, e);
    }
    if (got != size) {
      throw new DataException(
          "got " + got + " bytes from " + codec + ", expected " + size + ParquetFile.REWRITE);
    }
  }

  /** LZ4 in the frames of Hadoop, or as a block without any, as early parquet-cpp wrote it. */
  private int unLz4(byte[] source, int from, int length, byte[] target, int at, int size) {
    return isInFrames(source, from, length, target, at, size)
        ? size
        : lz4().decompress(source, from, length, target, at, size);
  }

  /**
   * Uncompresses frames one after the other: each the size of what is in it, then blocks that come
   * to it, each after its own size. Sizes have four bytes, the highest first. False where sizes do
   * not add up.
   */
  private boolean isInFrames(byte[] source, int from, int length, byte[] target, int at, int size) {
    int in = from;
    int end = from + length;
    int out = at;
    try {
      while (in < end) {
        int plain = end - in < 4 ? -1 : (int) BIG_INT.get(source, in);
        in += 4;
        if (plain < 0 || plain > at + size - out) {
          return false;
        }
        int frameEnd = out + plain;
        while (out < frameEnd) {
          int packed = end - in < 4 ? -1 : (int) BIG_INT.get(source, in);
          in += 4;
          if (packed < 0 || packed > end - in) {
            return false;
          }
          int got = lz4().decompress(source, in, packed, target, out, frameEnd - out);
          if (got == 0) {
            return false;
          }
          in += packed;
          out += got;
        }
      }
    } catch (MalformedInputException e) {
      return false;
    }
    return out == at + size;
  }

  private static int unbrotli(byte[] source, int from, int length, byte[] target, int at, int size)
      throws IOException {
    try (InputStream in = new BrotliInputStream(new ByteArrayInputStream(source, from, length))) {
      int got = in.readNBytes(target, at, size);
      return in.read() < 0 ? got : got + 1;
    }
  }

  private static int gunzip(byte[] source, int from, int length, byte[] target, int at, int size)
      throws IOException {
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(source, from, length), 8192)) {
      int got = in.readNBytes(target, at, size);
      return in.read() < 0 ? got : got + 1;
    }
  }
}
