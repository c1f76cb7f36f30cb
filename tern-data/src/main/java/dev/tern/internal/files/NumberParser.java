package dev.tern.internal.files;

import java.nio.charset.StandardCharsets;

/**
 * Numbers from bytes of text, with no object per number. Holds the last number parsed; not
 * thread-safe.
 *
 * <p>Floats: {@code [+-] digits [. digits] [e [+-] digits]} or {@code nan}, {@code inf}, {@code
 * infinity} in any case, rounded correctly, to the same bits as {@link Float#parseFloat}. Up to 19
 * digits and powers of ten to 22 take the path of Clinger ("How to Read Floating Point Numbers
 * Accurately", 1990): significand and power are exact doubles, so one operation gives the nearest
 * double; that double rounds to the nearest float unless it lies midway between two floats. All
 * else goes to the JDK's parser.
 */
public final class NumberParser {
  private static final double[] POWERS = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };
  private static final long ZEROS = ByteWords.repeat((byte) '0');
  private static final long SIXES = ByteWords.repeat((byte) 6);
  private static final long HIGH_HALVES = ByteWords.repeat((byte) 0xF0);
  private static final long ABOVE_NINE = ByteWords.repeat((byte) (0x80 - ':'));
  private static final long HIGH_BITS = ByteWords.repeat((byte) 0x80);
  private static final long[] WHOLE_POWERS = {
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000
  };
  private static final int UNSIGNED_DIGITS = 19;
  private static final int BEYOND_FLOAT = 1_000_000;
  private static final long DOUBLE_EXACT = 1L << 53;
  private static final long BELOW_FLOAT = (1L << 29) - 1;
  private static final long MIDWAY = 1L << 28;

  private float number;
  private long integer;

  /** The float last parsed. */
  public float number() {
    return number;
  }

  /** The integer last parsed. */
  public long integer() {
    return integer;
  }

  /** Parses all of {@code bytes[from, to)} as a float; false where it is not one. */
  public boolean parseFloat(byte[] bytes, int from, int to) {
    if (parseDigits(bytes, from, to)) {
      number = integer;
      return true;
    }
    int p = from;
    boolean negative = p < to && bytes[p] == '-';
    if (p < to && (bytes[p] == '-' || bytes[p] == '+')) {
      p++;
    }
    int first = p;
    long significand = 0;
    while (p < to && isDigit(bytes[p])) {
      significand = 10 * significand + (bytes[p] - '0');
      p++;
    }
    int digits = p - first;
    int scale = 0;
    if (p < to && bytes[p] == '.') {
      p++;
      int point = p;
      while (p < to && isDigit(bytes[p])) {
        significand = 10 * significand + (bytes[p] - '0');
        p++;
      }
      scale = point - p;
      digits -= scale;
    }
    if (digits == 0) {
      return parseName(bytes, first, to, negative);
    }
    if (p < to) {
      int end = exponentEnd(bytes, p, to);
      if (end != to) {
        return false;
      }
      scale += exponent(bytes, p + 1, to);
    }
    return (digits <= 19 && fast(significand, scale, negative)) || slow(bytes, from, to);
  }

  /** Rounds {@code significand * 10^scale}; false where this path cannot tell the nearest float. */
  private boolean fast(long significand, int scale, boolean negative) {
    if (significand < 0 || significand > DOUBLE_EXACT || scale < -22 || scale > 22) {
      return false;
    }
    double value = scale < 0 ? significand / POWERS[-scale] : significand * POWERS[scale];
    boolean normal = value >= Float.MIN_NORMAL && value <= Float.MAX_VALUE;
    if (significand != 0
        && (!normal || (Double.doubleToRawLongBits(value) & BELOW_FLOAT) == MIDWAY)) {
      return false;
    }
    number = negative ? -(float) value : (float) value;
    return true;
  }

  private boolean slow(byte[] bytes, int from, int to) {
    number = Float.parseFloat(new String(bytes, from, to - from, StandardCharsets.ISO_8859_1));
    return true;
  }

  /** Where the exponent that starts at {@code p} ends; -1 where there is none. */
  private static int exponentEnd(byte[] bytes, int p, int to) {
    if (bytes[p] != 'e' && bytes[p] != 'E') {
      return -1;
    }
    int first = p + 1;
    if (first < to && (bytes[first] == '-' || bytes[first] == '+')) {
      first++;
    }
    int end = first;
    while (end < to && isDigit(bytes[end])) {
      end++;
    }
    return end == first ? -1 : end;
  }

  /** The value of an exponent's text, cut to a size at which every float is 0 or infinite. */
  private static int exponent(byte[] bytes, int from, int to) {
    boolean negative = bytes[from] == '-';
    int p = negative || bytes[from] == '+' ? from + 1 : from;
    int value = 0;
    while (p < to) {
      value = Math.min(10 * value + (bytes[p] - '0'), BEYOND_FLOAT);
      p++;
    }
    return negative ? -value : value;
  }

  private boolean parseName(byte[] bytes, int from, int to, boolean negative) {
    if (equalsIgnoreCase(bytes, from, to, "nan")) {
      number = Float.NaN;
      return true;
    }
    if (equalsIgnoreCase(bytes, from, to, "inf") || equalsIgnoreCase(bytes, from, to, "infinity")) {
      number = negative ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY;
      return true;
    }
    return false;
  }

  private static boolean equalsIgnoreCase(byte[] bytes, int from, int to, String lower) {
    if (to - from != lower.length()) {
      return false;
    }
    for (int i = 0; i < lower.length(); i++) {
      if ((bytes[from + i] | 0x20) != lower.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Parses all of {@code bytes[from, to)} as a decimal integer of 64 bits, signed or, from
   * 2<sup>63</sup> on, unsigned; false where it is not one.
   */
  public boolean parseInteger(byte[] bytes, int from, int to) {
    if (parseDigits(bytes, from, to)) {
      return true;
    }
    int p = from;
    boolean negative = p < to && bytes[p] == '-';
    if (p < to && (bytes[p] == '-' || bytes[p] == '+')) {
      p++;
    }
    if (p == to) {
      return false;
    }
    long value = 0;
    for (; p < to; p++) {
      int digit = bytes[p] - '0';
      if (digit < 0 || digit > 9 || overflows(value, digit)) {
        return false;
      }
      value = 10 * value + digit;
    }
    if (negative && value < 0 && value != Long.MIN_VALUE) {
      return false;
    }
    integer = negative ? -value : value;
    return true;
  }

  /** Parses one to eight digits with seven more bytes behind them; false where there are not. */
  private boolean parseDigits(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length < 1 || length > Long.BYTES || from > bytes.length - Long.BYTES) {
      return false;
    }
    // The digits become the highest bytes, the last the highest; zeros lead.
    int spare = 64 - 8 * length;
    long text = ByteWords.word(bytes, from) << spare | ZEROS & ~(-1L << spare);
    if (((text & HIGH_HALVES) ^ ZEROS | ((text + SIXES) & HIGH_HALVES) ^ ZEROS) != 0) {
      return false;
    }
    integer = eightDigits(text);
    return true;
  }

  /** The number that the digits in {@code text}, the first in the lowest byte, stand for. */
  private static long eightDigits(long text) {
    // Pairs of digits, then of pairs, then of fours are put together.
    long digits = text - ZEROS;
    digits = 10 * digits + (digits >>> 8) & 0x00FF_00FF_00FF_00FFL;
    digits = 100 * digits + (digits >>> 16) & 0x0000_FFFF_0000_FFFFL;
    return 10_000 * digits + (digits >>> 32) & 0xFFFF_FFFFL;
  }

  /**
   * Parses the digits from {@code from} on as an unsigned 64-bit integer; returns where they end,
   * or {@code from} where there are none or they need more bits. Behind them stand a byte that is
   * no digit and seven more.
   */
  public int parseWhole(byte[] bytes, int from) {
    long value = 0;
    int p = from;
    int count;
    do {
      long word = ByteWords.word(bytes, p);
      // The first byte that is no digit sets the lowest bit: borrow and carry go up only.
      long other = (word + ABOVE_NINE | word - ZEROS) & HIGH_BITS;
      count = other == 0 ? Long.BYTES : Long.numberOfTrailingZeros(other) >>> 3;
      if (count > 0) {
        int spare = 64 - 8 * count;
        value = WHOLE_POWERS[count] * value + eightDigits(word << spare | ZEROS & ~(-1L << spare));
        p += count;
      }
    } while (count == Long.BYTES);
    if (p - from > UNSIGNED_DIGITS) {
      return parseInteger(bytes, from, p) ? p : from;
    }
    integer = value;
    return p;
  }

  /** True where ten times {@code value} plus {@code digit} needs more than 64 bits, unsigned. */
  private static boolean overflows(long value, int digit) {
    if (value >= 0 && value < Long.MAX_VALUE / 10) {
      return false;
    }
    long limit = Long.divideUnsigned(-1L, 10);
    int order = Long.compareUnsigned(value, limit);
    return order > 0 || (order == 0 && digit > 5);
  }

  private static boolean isDigit(byte value) {
    return value >= '0' && value <= '9';
  }
}
