package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.files.KeyType;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Little-endian numbers from a file through one buffer. {@link #has} brings bytes into the buffer;
 * every read or peek must lie within what it last promised.
 */
public final class BinaryInput implements AutoCloseable {
  /** The most bytes {@link #has} can be asked for. */
  public static final int MAX_CONTIGUOUS = 1 << 30;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int BUFFER = 1 << 18;

  private final Path file;
  private final FileChannel channel;
  private final long size;
  private byte[] buffer;
  private long base;
  private int position;
  private int limit;

  private BinaryInput(Path file, FileChannel channel, long size) {
    this.file = file;
    this.channel = channel;
    this.size = size;
    buffer = new byte[Math.clamp(size, Long.BYTES, BUFFER)];
  }

  public static BinaryInput open(Path file) {
    if (Files.isDirectory(file)) {
      throw new DataException(file + ": got a folder, expected a file; name the files in it");
    }
    try {
      FileChannel channel = FileChannel.open(file);
      return new BinaryInput(file, channel, channel.size());
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** The fault of a file that cannot be opened or read. */
  public static DataException unreadable(Path file, IOException e) {
    String got =
        switch (e) {
          case NoSuchFileException _ -> "no such file, expected data; check the path";
          case AccessDeniedException _ ->
              "a file that may not be read, expected data; check its permissions";
          default ->
              "an error reading it (%s), expected a file; check the path and its disk"
                  .formatted(DataException.reason(e));
        };
    return new DataException(Shown.path(file) + ": got " + got, e);
  }

  /** Bytes of the file. */
  public long size() {
    return size;
  }

  /** Where in the file the next read is. */
  public long offset() {
    return base + position;
  }

  /** Bytes from the next read to the end of the file. */
  public long remaining() {
    return size - offset();
  }

  /** Brings the next {@code count} bytes into the buffer; false where the file ends before. */
  public boolean has(int count) {
    return limit - position >= count || fill(count);
  }

  /** Brings the next {@code most} bytes, or what is left of them; returns how many are there. */
  public int bring(int most) {
    int count = (int) Math.min(most, remaining());
    return has(count) ? count : limit - position;
  }

  /** The buffer, in which {@link #position} is the next read; valid until more is brought. */
  public byte[] bytes() {
    return buffer;
  }

  /** Index in {@link #bytes} of the next read. */
  public int position() {
    return position;
  }

  private boolean fill(int count) {
    if (count > MAX_CONTIGUOUS || count > remaining()) {
      return false;
    }
    int kept = limit - position;
    byte[] target = count <= buffer.length ? buffer : new byte[Math.max(count, 2 * buffer.length)];
    System.arraycopy(buffer, position, target, 0, kept);
    buffer = target;
    base += position;
    position = 0;
    limit = kept;
    try {
      ByteBuffer free = ByteBuffer.wrap(buffer, limit, buffer.length - limit);
      while (limit < count) {
        int read = channel.read(free, base + limit);
        if (read < 0) {
          return false;
        }
        limit += read;
      }
    } catch (IOException e) {
      throw unreadable(file, e);
    }
    return true;
  }

  public int readInt() {
    int value = (int) INT.get(buffer, position);
    position += 4;
    return value;
  }

  public long readLong() {
    long value = (long) LONG.get(buffer, position);
    position += 8;
    return value;
  }

  public float readFloat() {
    return Float.intBitsToFloat(readInt());
  }

  /** One id of {@code type}. */
  public long readKey(KeyType type) {
    return switch (type) {
      case U32 -> Integer.toUnsignedLong(readInt());
      case I32 -> readInt();
      case I64 -> readLong();
    };
  }

  public byte readByte() {
    byte value = buffer[position];
    position++;
    return value;
  }

  /** The byte {@code ahead} bytes after the next read, of bytes that {@link #has} brought. */
  public byte peekByte(int ahead) {
    return buffer[position + ahead];
  }

  /** The int {@code ahead} bytes after the next read, of bytes that {@link #has} brought. */
  public int peekInt(int ahead) {
    return (int) INT.get(buffer, position + ahead);
  }

  /** The long {@code ahead} bytes after the next read, of bytes that {@link #has} brought. */
  public long peekLong(int ahead) {
    return (long) LONG.get(buffer, position + ahead);
  }

  /**
   * Sum modulo 256 of {@code count} bytes that {@link #has} brought, {@code ahead} bytes after the
   * next read. Eight bytes at a time, in two sets of 16-bit lanes emptied before they overflow.
   */
  public byte sum(int ahead, int count) {
    long lanes = 0x00FF00FF00FF00FFL;
    int p = position + ahead;
    int end = p + count;
    long total = 0;
    while (end - p >= 8) {
      long even = 0;
      int stop = p + Math.min((end - p) & ~7, 8 * 128);
      for (; p < stop; p += 8) {
        long word = (long) LONG.get(buffer, p);
        even += (word & lanes) + ((word >>> 8) & lanes);
      }
      total += (even & 0xFFFF) + (even >>> 16 & 0xFFFF) + (even >>> 32 & 0xFFFF) + (even >>> 48);
    }
    for (; p < end; p++) {
      total += buffer[p];
    }
    return (byte) total;
  }

  /** Moves the next read to {@code offset}. */
  public void seek(long offset) {
    if (offset >= base && offset <= base + limit) {
      position = (int) (offset - base);
    } else {
      base = offset;
      position = 0;
      limit = 0;
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }
}
