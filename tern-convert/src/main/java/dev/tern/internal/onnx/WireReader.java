package dev.tern.internal.onnx;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Reads the fields of a protocol buffer from a file, of any size, with a small buffer. Messages
 * within it are entered by their ends. Errors name the file and the byte.
 */
final class WireReader implements AutoCloseable {
  static final int VARINT = 0;
  static final int FIXED64 = 1;
  static final int LENGTH = 2;
  static final int FIXED32 = 5;

  private static final int BUFFER = 1 << 16;

  /** The longest text that is read: a recipe has all values of vocabularies. */
  private static final long MOST_TEXT = 1L << 30;

  /** The longest name that is read. */
  private static final long MOST_NAME = 1L << 16;

  private final Path path;
  private final FileChannel file;
  private final long size;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER).limit(0);

  /** The byte of the file that the buffer begins with. */
  private long bufferAt;

  private int type;
  private long tagAt;

  private WireReader(Path path, FileChannel file) throws IOException {
    this.path = path;
    this.file = file;
    size = file.size();
  }

  static WireReader open(Path path) throws IOException {
    FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
    try {
      return new WireReader(path, file);
    } catch (IOException | RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  /** Bytes of the file. */
  long size() {
    return size;
  }

  /** The byte that is read next. */
  long position() {
    return bufferAt + buffer.position();
  }

  private void seek(long position) {
    if (position >= bufferAt && position <= bufferAt + buffer.limit()) {
      buffer.position((int) (position - bufferAt));
    } else {
      bufferAt = position;
      buffer.limit(0);
    }
  }

  /** The error of a file that has something else than expected at the byte {@code at}. */
  DataException fault(long at, String got, String expected) {
    return new DataException(
        "%s: got %s at byte %d, expected %s; the file is damaged or no model of ONNX"
            .formatted(path, got, at, expected));
  }

  private int next() throws IOException {
    if (!buffer.hasRemaining()) {
      bufferAt += buffer.limit();
      buffer.clear();
      int read = file.read(buffer, bufferAt);
      buffer.flip();
      if (read <= 0) {
        buffer.limit(0);
        throw fault(bufferAt, "the end of the file", "the rest of a message");
      }
    }
    return buffer.get() & 0xFF;
  }

  /** An integer, of up to 10 bytes. */
  long varint() throws IOException {
    long at = position();
    long value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      int next = next();
      value |= shift < 64 ? (long) (next & 0x7F) << shift : 0;
      if (next < 0x80) {
        return value;
      }
    }
    throw fault(at, "an integer of more than 10 bytes", "an end of it");
  }

  /** Whether there is another field before the byte {@code end} of the message. */
  boolean hasField(long end) {
    if (position() > end) {
      throw fault(
          position(), "a field that ends behind its message", "one that ends at byte " + end);
    }
    return position() < end;
  }

  /** The number of the next field. */
  int field() throws IOException {
    tagAt = position();
    long tag = varint();
    type = (int) (tag & 7);
    long field = tag >>> 3;
    boolean known = type == VARINT || type == FIXED64 || type == LENGTH || type == FIXED32;
    if (!known || field < 1 || field >= 1 << 29) {
      throw fault(tagAt, "the tag " + tag, "a field of a known type");
    }
    return (int) field;
  }

  private void require(int expected, String what) {
    if (type != expected) {
      throw fault(tagAt, what + " of the wire type " + type, "the wire type " + expected);
    }
  }

  /** The integer of the field. */
  long number(String what) throws IOException {
    require(VARINT, what);
    return varint();
  }

  /** Whether the field has bytes of some length. */
  boolean hasLength() {
    return type == LENGTH;
  }

  /** The end of the field's bytes, which come next. */
  long end(String what, long end) throws IOException {
    require(LENGTH, what);
    long at = position();
    long length = varint();
    long from = position();
    if (length < 0 || length > end - from) {
      throw fault(
          at, what + " of " + Long.toUnsignedString(length) + " bytes", (end - from) + " at most");
    }
    return from + length;
  }

  /** The float of the field. */
  float real(String what) throws IOException {
    require(FIXED32, what);
    int bits = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      bits |= next() << shift;
    }
    return Float.intBitsToFloat(bits);
  }

  /** The text of the field, which may be long. */
  String text(String what, long messageEnd) throws IOException {
    return text(what, messageEnd, MOST_TEXT);
  }

  /** The text of the field, which is a name. */
  String name(String what, long messageEnd) throws IOException {
    return text(what, messageEnd, MOST_NAME);
  }

  private String text(String what, long messageEnd, long most) throws IOException {
    long to = end(what, messageEnd);
    long at = position();
    if (to - at > most) {
      throw fault(at, what + " of " + (to - at) + " bytes", most + " at most");
    }
    byte[] bytes = new byte[(int) (to - at)];
    for (int from = 0; from < bytes.length; ) {
      bytes[from++] = (byte) next();
      int more = Math.min(buffer.remaining(), bytes.length - from);
      buffer.get(bytes, from, more);
      from += more;
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw fault(at, what + " of bytes that are not UTF-8", "UTF-8");
    }
  }

  /** Goes behind the field. */
  void skip(long messageEnd) throws IOException {
    long to =
        switch (type) {
          case LENGTH -> end("a field", messageEnd);
          case FIXED32 -> position() + 4;
          case FIXED64 -> position() + 8;
          default -> {
            varint();
            yield position();
          }
        };
    if (to > messageEnd) {
      throw fault(
          tagAt, "a field that ends behind its message", "one that ends at byte " + messageEnd);
    }
    seek(to);
  }

  /** Goes on at the byte {@code position}. */
  void goTo(long position) {
    seek(position);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
