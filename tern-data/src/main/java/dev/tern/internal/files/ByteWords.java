package dev.tern.internal.files;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Eight bytes of text at a time in a long, the first in the lowest byte (Warren, "Hacker's
 * Delight", 2nd edition, section 6-1).
 */
public final class ByteWords {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x7F7F_7F7F_7F7F_7F7FL;

  private ByteWords() {}

  /** Eight times {@code value}. */
  public static long repeat(byte value) {
    return (value & 0xFF) * 0x0101_0101_0101_0101L;
  }

  /** The eight bytes from {@code at} on. */
  public static long word(byte[] bytes, int at) {
    return (long) LONG.get(bytes, at);
  }

  /** The highest bit of each byte in which {@code word} and {@code other} are equal, no other. */
  public static long equal(long word, long other) {
    long differ = word ^ other;
    return ~((differ & LOW_BITS) + LOW_BITS | differ | LOW_BITS);
  }

  /**
   * Where the first byte equal to one of {@code one} or {@code other}, each {@link #repeat}ed, is
   * in {@code bytes[from, to)}; {@code to} where there is none, or where it is among the last
   * seven.
   */
  public static int find(byte[] bytes, int from, int to, long one, long other) {
    for (int p = from; p <= to - Long.BYTES; p += Long.BYTES) {
      long word = word(bytes, p);
      long found = equal(word, one) | equal(word, other);
      if (found != 0) {
        return p + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    return to;
  }
}
