package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * What a gzip file holds (RFC 1952): the data of its members, one after the other. Each member's
 * header, checksum and length are checked. Behind the last member may stand zeros, as tapes and
 * disks leave them; anything else is a fault. {@link java.util.zip.GZIPInputStream} takes a damaged
 * header of a later member for the end of the file.
 */
public final class GzipInput extends InputStream {
  private static final int BUFFER = 1 << 16;
  private static final int HEADER_CHECK = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;
  private static final int RESERVED = 0xE0;
  private static final int DEFLATE = 8;

  private final Path file;
  private final InputStream in;
  private final byte[] buffer;
  private final Inflater inflater = new Inflater(true);
  private final CRC32 sum = new CRC32();
  private int position;
  private int limit;

  /** Where in the file {@link #buffer} starts. */
  private long base;

  private long member;
  private long memberStart;
  private boolean ended;

  private GzipInput(Path file, InputStream in, int room) {
    this.file = file;
    this.in = in;
    buffer = new byte[room];
  }

  /**
   * Opens {@code file} and reads the header of its first member.
   *
   * @throws DataException where it is no gzip file
   */
  public static GzipInput open(Path file) throws IOException {
    InputStream in = Files.newInputStream(file);
    try {
      return open(file, in, Files.size(file));
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /**
   * Reads the header of the first member of {@code in}, which is taken over where that does not
   * fail.
   *
   * @param file its name, for messages
   * @param size bytes that it is thought to have
   */
  static GzipInput open(Path file, InputStream in, long size) throws IOException {
    GzipInput gzip = new GzipInput(file, in, (int) Math.clamp(size, 64, BUFFER));
    gzip.header();
    return gzip;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  /** {@inheritDoc} Never 0 where {@code length} is above 0. */
  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (!ended) {
      int got = inflate(bytes, offset, length);
      if (got > 0) {
        sum.update(bytes, offset, got);
        return got;
      }
      if (inflater.finished()) {
        position = limit - inflater.getRemaining();
        trailer();
        next();
      } else if (inflater.needsDictionary()) {
        throw fault("got data that need a dictionary, expected none");
      } else {
        position = limit;
        if (!fill()) {
          throw cut("its data");
        }
        inflater.setInput(buffer, position, limit - position);
      }
    }
    return -1;
  }

  private int inflate(byte[] bytes, int offset, int length) {
    try {
      return inflater.inflate(bytes, offset, length);
    } catch (DataFormatException e) {
      position = limit - inflater.getRemaining();
      String reason = e.getMessage() == null ? "" : " (" + e.getMessage() + ")";
      throw fault("got damaged data" + reason + ", expected whole gzip data");
    }
  }

  /** Reads the header of a member, the next byte being its first. */
  private void header() throws IOException {
    member++;
    memberStart = base + position;
    sum.reset();
    int first = headerByte();
    int second = headerByte();
    if (first != 0x1f || second != 0x8b) {
      throw new DataException(
          ("%s: byte %d: got %02x %02x behind gzip member %d, expected the next member (1f 8b),"
                  + " zeros or the end; the file is damaged there, copy or compress it again")
              .formatted(file, memberStart, first, second, member - 1));
    }
    int method = headerByte();
    int flags = headerByte();
    if (method != DEFLATE || (flags & RESERVED) != 0) {
      throw fault(
          "got the method %d and flags %02x, expected 8 and 00 to 1f".formatted(method, flags));
    }
    for (int i = 0; i < 6; i++) {
      headerByte();
    }
    if ((flags & EXTRA) != 0) {
      for (int left = headerByte() | headerByte() << 8; left > 0; left--) {
        headerByte();
      }
    }
    skipText(flags & NAME);
    skipText(flags & COMMENT);
    if ((flags & HEADER_CHECK) != 0) {
      int computed = (int) sum.getValue() & 0xFFFF;
      int stored = headerByte() | headerByte() << 8;
      if (stored != computed) {
        throw fault(
            "got the checksum %04x of its header, expected %04x as stored"
                .formatted(computed, stored));
      }
    }
    sum.reset();
    inflater.reset();
    inflater.setInput(buffer, position, limit - position);
  }

  private void skipText(int flag) throws IOException {
    while (flag != 0 && headerByte() != 0) {
      // The name of the file or a comment, which ends with a 0.
    }
  }

  private int headerByte() throws IOException {
    int value = next("its header");
    sum.update(value);
    return value;
  }

  private void trailer() throws IOException {
    int stored = word();
    int length = word();
    if (stored != (int) sum.getValue()) {
      throw fault(
          "got the checksum %08x of its text, expected %08x as stored"
              .formatted((int) sum.getValue(), stored));
    }
    if (length != (int) inflater.getBytesWritten()) {
      throw fault(
          "got %d bytes of data, expected %s as stored"
              .formatted(inflater.getBytesWritten(), Integer.toUnsignedString(length)));
    }
  }

  private int word() throws IOException {
    int word = 0;
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      word |= next("its checksum and length") << shift;
    }
    return word;
  }

  /** Goes to the next member, or over zeros to the end. */
  private void next() throws IOException {
    if (position == limit && !fill()) {
      ended = true;
    } else if (buffer[position] != 0) {
      header();
    } else {
      do {
        int zero = position;
        while (zero < limit && buffer[zero] == 0) {
          zero++;
        }
        position = zero;
        if (zero < limit) {
          throw new DataException(
              ("%s: byte %d: got %02x behind gzip member %d and zeros, expected zeros or the end;"
                      + " the file is damaged there, copy or compress it again")
                  .formatted(file, base + zero, buffer[zero] & 0xFF, member));
        }
      } while (fill());
      ended = true;
    }
  }

  private int next(String part) throws IOException {
    if (position == limit && !fill()) {
      throw cut(part);
    }
    int value = buffer[position] & 0xFF;
    position++;
    return value;
  }

  /** Reads more where all before is used up; false at the end of the file. */
  private boolean fill() throws IOException {
    base += limit;
    position = 0;
    limit = Math.max(0, in.read(buffer));
    return limit > 0;
  }

  private DataException cut(String part) {
    return fault("got the end of the file, expected the rest of " + part);
  }

  private DataException fault(String message) {
    return new DataException(
        "%s: byte %d: gzip member %d from byte %d: %s; copy or compress the file again"
            .formatted(file, base + position, member, memberStart, message));
  }

  @Override
  public void close() throws IOException {
    ended = true;
    inflater.end();
    in.close();
  }
}
