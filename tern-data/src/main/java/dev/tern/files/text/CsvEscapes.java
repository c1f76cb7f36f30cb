package dev.tern.files.text;

import java.util.Arrays;

/** Characters of a field that stand for others: doubled quotes, and backslashes. */
final class CsvEscapes {
  /** Whether a backslash escapes something in a field without quotes. */
  final boolean bare;

  /** Whether it does so in a quoted field. */
  final boolean quoted;

  private final boolean quotes;
  private final byte[] delimiter;

  CsvEscapes(CsvOptions options, byte[] delimiter) {
    bare = options.escapes() == CsvOptions.Escapes.ANYWHERE;
    quoted = options.escapes() != CsvOptions.Escapes.NONE;
    quotes = options.quotes();
    this.delimiter = delimiter;
  }

  /**
   * Bytes from {@code at} on that a backslash before them makes a part of the field: a quote or a
   * backslash, or if it escapes anywhere an end of line or the delimiter; 0 before any other
   * character.
   */
  int length(byte[] bytes, int at, int limit) {
    if (at >= limit) {
      return 0;
    }
    byte next = bytes[at];
    if (next == '"' || next == '\\') {
      return 1;
    }
    if (!bare) {
      return 0;
    }
    if (next == '\n') {
      return 1;
    }
    if (next == '\r' && at + 1 < limit && bytes[at + 1] == '\n') {
      return 2;
    }
    int end = at + delimiter.length;
    boolean delimits =
        end <= limit && Arrays.equals(bytes, at, end, delimiter, 0, delimiter.length);
    return delimits ? delimiter.length : 0;
  }

  /** Copies an escaped field {@code bytes[from, to)} to {@code out} as it is meant. */
  int unescape(byte[] bytes, int from, int to, byte[] out) {
    return quoted ? unslash(bytes, from, to, out) : unquote(bytes, from, to, out);
  }

  /** Copies {@code bytes[from, to)} to {@code out}, each doubled quote as one; returns how many. */
  private static int unquote(byte[] bytes, int from, int to, byte[] out) {
    int length = 0;
    for (int i = from; i < to; i++) {
      out[length] = bytes[i];
      length++;
      if (bytes[i] == '"') {
        i++;
      }
    }
    return length;
  }

  /**
   * Copies {@code bytes[from, to)} to {@code out} without the backslashes that escape something;
   * where fields have quotes, each doubled quote as one. Returns how many bytes that are.
   */
  private int unslash(byte[] bytes, int from, int to, byte[] out) {
    int length = 0;
    int i = from;
    while (i < to) {
      int escaped = bytes[i] == '\\' ? length(bytes, i + 1, to) : 0;
      if (escaped > 0) {
        System.arraycopy(bytes, i + 1, out, length, escaped);
        length += escaped;
        i += 1 + escaped;
      } else {
        out[length] = bytes[i];
        length++;
        i += quotes && bytes[i] == '"' ? 2 : 1;
      }
    }
    return length;
  }
}
