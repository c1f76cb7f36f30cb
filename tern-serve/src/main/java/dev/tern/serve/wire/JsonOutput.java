package dev.tern.serve.wire;

import java.util.Arrays;
import java.util.function.LongPredicate;

/** JSON as UTF-8, written by hand into an array that is used again. One thread at a time. */
public final class JsonOutput {
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private static final int FIRST = 1024;

  /** Bytes that it may have without asking, and keeps for what is written next. */
  private static final int SMALL = 1 << 16;

  private static final int MOST = Integer.MAX_VALUE - 8;

  private final LongPredicate memory;
  private byte[] bytes = new byte[FIRST];
  private int size;

  /** One that may become as long as it needs to. */
  public JsonOutput() {
    this(_ -> true);
  }

  /**
   * One that asks for memory.
   *
   * @param memory takes so many bytes more, or says that there is no room for them
   */
  public JsonOutput(LongPredicate memory) {
    this.memory = memory;
  }

  public void clear() {
    size = 0;
  }

  /** Begins anew, and lets go of memory that it asked for. */
  public void shrink() {
    size = 0;
    if (bytes.length > SMALL) {
      bytes = new byte[FIRST];
    }
  }

  public int size() {
    return size;
  }

  public byte[] copy() {
    return Arrays.copyOf(bytes, size);
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      grow((long) size + more);
    }
  }

  private void grow(long least) {
    long wanted = Math.min(MOST, Math.max(2L * bytes.length, least));
    boolean asks = wanted > SMALL;
    if (least > MOST || asks && !memory.test(wanted - Math.max(SMALL, bytes.length))) {
      throw new RefusedException(
          503,
          "answer: got one of over %,d bytes, for which no memory is left; ask again, or for less at once"
              .formatted(size));
    }
    bytes = Arrays.copyOf(bytes, (int) wanted);
  }

  /** Writes ASCII as it stands. */
  @SuppressWarnings("deprecation") // getBytes copies the low bytes, which ASCII texts are
  public JsonOutput raw(String ascii) {
    int length = ascii.length();
    room(length);
    ascii.getBytes(0, length, bytes, size);
    size += length;
    return this;
  }

  public JsonOutput put(char ascii) {
    room(1);
    bytes[size++] = (byte) ascii;
    return this;
  }

  /** Writes bytes of a binary tensor. */
  public void little(int bits) {
    room(4);
    for (int i = 0; i < 4; i++) {
      bytes[size++] = (byte) (bits >>> 8 * i);
    }
  }

  public void bytes(byte[] more) {
    room(more.length);
    System.arraycopy(more, 0, bytes, size, more.length);
    size += more.length;
  }

  public JsonOutput integer(long value) {
    room(20);
    if (value >= 0 && value < 10) {
      bytes[size++] = (byte) ('0' + value);
      return this;
    }
    return raw(Long.toString(value));
  }

  /** The fewest digits that read back as the same number; {@code null} for what is none. */
  public JsonOutput number(float value) {
    return raw(Float.isFinite(value) ? Float.toString(value) : "null");
  }

  /** A text in quotation marks; half of a pair of surrogates becomes {@code ?}. */
  public JsonOutput text(String text) {
    put('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        put('\\').put(c);
      } else if (c < 0x20) {
        raw("\\u00");
        put((char) HEX[c >> 4]).put((char) HEX[c & 15]);
      } else if (c < 0x80) {
        put(c);
      } else {
        i += wide(text, i) - 1;
      }
    }
    return put('"');
  }

  /** Writes a character outside ASCII; returns its length in the text. */
  private int wide(String text, int at) {
    room(4);
    int point = text.codePointAt(at);
    if (point < 0x800) {
      bytes[size++] = (byte) (0xC0 | point >> 6);
    } else if (point >= 0x10000) {
      bytes[size++] = (byte) (0xF0 | point >> 18);
      bytes[size++] = (byte) (0x80 | point >> 12 & 0x3F);
      bytes[size++] = (byte) (0x80 | point >> 6 & 0x3F);
    } else if (Character.isSurrogate((char) point)) {
      put('?');
      return 1;
    } else {
      bytes[size++] = (byte) (0xE0 | point >> 12);
      bytes[size++] = (byte) (0x80 | point >> 6 & 0x3F);
    }
    bytes[size++] = (byte) (0x80 | point & 0x3F);
    return Character.charCount(point);
  }
}
