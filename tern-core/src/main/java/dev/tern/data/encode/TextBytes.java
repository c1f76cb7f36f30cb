package dev.tern.data.encode;

import java.nio.charset.StandardCharsets;

/** A text at a time as UTF-8, in an array that is used again. One thread at a time. */
final class TextBytes {
  private static final int MOST_SHOWN = 64;

  private byte[] array = new byte[256];
  private byte[] own = array;
  private int from;
  private int to;

  /** The text lies in {@link #from} to {@link #to}. */
  byte[] array() {
    return array;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  boolean isEmpty() {
    return from == to;
  }

  /** Takes UTF-8 where it lies. */
  void set(byte[] utf8, int start, int end) {
    array = utf8;
    from = start;
    to = end;
  }

  /** Takes a text; half of a pair of surrogates becomes {@code ?}. Whether there is none. */
  @SuppressWarnings("deprecation") // getBytes copies the low bytes, which ASCII texts are
  boolean set(String text) {
    int length = text.length();
    int all = 0;
    for (int i = 0; i < length; i++) {
      all |= text.charAt(i);
    }
    if (all < 0x80) {
      room(length);
      text.getBytes(0, length, own, 0);
      set(own, 0, length);
      return true;
    }
    char[] characters = text.toCharArray();
    return set(characters, 0, length);
  }

  /** Takes characters; false where half of a pair of surrogates is among them. */
  boolean set(char[] text, int start, int end) {
    room(3 * (end - start));
    int at = 0;
    int i = start;
    while (i < end && text[i] < 0x80) {
      own[at++] = (byte) text[i++];
    }
    boolean whole = true;
    while (i < end) {
      char c = text[i++];
      if (c < 0x80) {
        own[at++] = (byte) c;
      } else if (c < 0x800) {
        own[at++] = (byte) (0xC0 | c >> 6);
        own[at++] = (byte) (0x80 | c & 0x3F);
      } else if (!Character.isSurrogate(c)) {
        own[at++] = (byte) (0xE0 | c >> 12);
        own[at++] = (byte) (0x80 | c >> 6 & 0x3F);
        own[at++] = (byte) (0x80 | c & 0x3F);
      } else if (Character.isHighSurrogate(c) && i < end && Character.isLowSurrogate(text[i])) {
        at = pair(Character.toCodePoint(c, text[i++]), at);
      } else {
        own[at++] = '?';
        whole = false;
      }
    }
    set(own, 0, at);
    return whole;
  }

  private int pair(int point, int at) {
    own[at] = (byte) (0xF0 | point >> 18);
    own[at + 1] = (byte) (0x80 | point >> 12 & 0x3F);
    own[at + 2] = (byte) (0x80 | point >> 6 & 0x3F);
    own[at + 3] = (byte) (0x80 | point & 0x3F);
    return at + 4;
  }

  private void room(int count) {
    if (count > own.length) {
      own = new byte[Math.max(count, 2 * own.length)];
    }
  }

  /** The beginning of the text, in quotation marks. */
  String shown() {
    int end = Math.min(to, from + 4 * MOST_SHOWN);
    String text = new String(array, from, end - from, StandardCharsets.UTF_8);
    boolean whole = end == to && text.length() <= MOST_SHOWN;
    return "\"" + (whole ? text : text.substring(0, MOST_SHOWN - 3) + "...") + "\"";
  }

  /** Whether bytes are an integer of at most 18 digits, which is {@link #small}. */
  boolean isSmall(int start, int end) {
    int first = start < end && array[start] == '-' ? start + 1 : start;
    if (first == end || end - first > 18) {
      return false;
    }
    for (int i = first; i < end; i++) {
      if (array[i] < '0' || array[i] > '9') {
        return false;
      }
    }
    return true;
  }

  long small(int start, int end) {
    boolean negative = array[start] == '-';
    long value = 0;
    for (int i = negative ? start + 1 : start; i < end; i++) {
      value = 10 * value + array[i] - '0';
    }
    return negative ? -value : value;
  }

  String part(int start, int end) {
    return new String(array, start, end - start, StandardCharsets.UTF_8);
  }
}
