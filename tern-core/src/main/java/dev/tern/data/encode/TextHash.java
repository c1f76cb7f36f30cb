package dev.tern.data.encode;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * The 64-bit id of a text value: XXH64 with seed 0 of its UTF-8 bytes. Readers of every format use
 * it, so equal text has the same id whatever file it came from.
 *
 * <p>Source: the xxHash fast digest algorithm, specification 0.1.1, section XXH64.
 */
public final class TextHash {
  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** The id of the empty text. */
  public static final long EMPTY = of(new byte[0], 0, 0);

  private TextHash() {}

  /** The id of the text in {@code utf8[from .. to)}. */
  @SuppressWarnings("ConstantOverflow") // XXH64 counts modulo 2^64
  public static long of(byte[] utf8, int from, int to) {
    Objects.checkFromToIndex(from, to, utf8.length);
    int at = from;
    long hash;
    if (to - from >= 32) {
      long a = P1 + P2;
      long b = P2;
      long c = 0;
      long d = -P1;
      for (; at <= to - 32; at += 32) {
        a = round(a, (long) LONG.get(utf8, at));
        b = round(b, (long) LONG.get(utf8, at + 8));
        c = round(c, (long) LONG.get(utf8, at + 16));
        d = round(d, (long) LONG.get(utf8, at + 24));
      }
      hash =
          Long.rotateLeft(a, 1)
              + Long.rotateLeft(b, 7)
              + Long.rotateLeft(c, 12)
              + Long.rotateLeft(d, 18);
      hash = merge(merge(merge(merge(hash, a), b), c), d);
    } else {
      hash = P5;
    }
    hash += to - from;
    for (; at <= to - 8; at += 8) {
      hash = eight(hash, (long) LONG.get(utf8, at));
    }
    if (at <= to - 4) {
      hash = four(hash, (int) INT.get(utf8, at));
      at += 4;
    }
    for (; at < to; at++) {
      hash = one(hash, utf8[at]);
    }
    return avalanche(hash);
  }

  /** The id of {@code text}; an unpaired surrogate counts as {@code ?}. */
  public static long of(String text) {
    if (text.length() < 32 && isAscii(text)) {
      return ofShortAscii(text);
    }
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return of(utf8, 0, utf8.length);
  }

  private static boolean isAscii(String text) {
    int all = 0;
    for (int i = 0; i < text.length(); i++) {
      all |= text.charAt(i);
    }
    return all < 0x80;
  }

  /** Most values of columns are such texts; their bytes need no array. */
  private static long ofShortAscii(String text) {
    int length = text.length();
    long hash = P5 + length;
    int at = 0;
    for (; at <= length - 8; at += 8) {
      hash = eight(hash, word(text, at, 8));
    }
    if (at <= length - 4) {
      hash = four(hash, (int) word(text, at, 4));
      at += 4;
    }
    for (; at < length; at++) {
      hash = one(hash, (byte) text.charAt(at));
    }
    return avalanche(hash);
  }

  private static long word(String text, int at, int bytes) {
    long word = 0;
    for (int i = 0; i < bytes; i++) {
      word |= (long) text.charAt(at + i) << 8 * i;
    }
    return word;
  }

  /**
   * The id of the decimal text of {@code value} ({@code -7} is the text "-7"), so that a column of
   * integers and a column of the same digits agree.
   */
  public static long ofInteger(long value) {
    // The text, at most 20 characters, is built from its end in three words; the first character is
    // the lowest byte.
    long first = 0;
    long second = 0;
    long third = 0;
    int length = 0;
    long rest = value;
    do {
      third = third << 8 | second >>> 56;
      second = second << 8 | first >>> 56;
      first = first << 8 | ('0' + Math.abs(rest % 10));
      rest /= 10;
      length++;
    } while (rest != 0);
    if (value < 0) {
      third = third << 8 | second >>> 56;
      second = second << 8 | first >>> 56;
      first = first << 8 | '-';
      length++;
    }
    long hash = P5 + length;
    int left = length;
    for (; left >= 8; left -= 8) {
      hash = eight(hash, first);
      first = second;
      second = third;
    }
    if (left >= 4) {
      hash = four(hash, (int) first);
      first >>>= 32;
      left -= 4;
    }
    for (; left > 0; left--) {
      hash = one(hash, (byte) first);
      first >>>= 8;
    }
    return avalanche(hash);
  }

  private static long round(long lane, long word) {
    return Long.rotateLeft(lane + word * P2, 31) * P1;
  }

  private static long merge(long hash, long lane) {
    return (hash ^ round(0, lane)) * P1 + P4;
  }

  private static long eight(long hash, long word) {
    return Long.rotateLeft(hash ^ round(0, word), 27) * P1 + P4;
  }

  private static long four(long hash, int word) {
    return Long.rotateLeft(hash ^ Integer.toUnsignedLong(word) * P1, 23) * P2 + P3;
  }

  private static long one(long hash, byte value) {
    return Long.rotateLeft(hash ^ (value & 0xFF) * P5, 11) * P1;
  }

  private static long avalanche(long hash) {
    long mixed = (hash ^ hash >>> 33) * P2;
    mixed = (mixed ^ mixed >>> 29) * P3;
    return mixed ^ mixed >>> 32;
  }
}
