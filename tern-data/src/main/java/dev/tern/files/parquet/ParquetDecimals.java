package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.math.BigDecimal;
import java.math.BigInteger;

/** Values of DECIMAL columns: an integer of any width, the value times 10^scale. */
final class ParquetDecimals {
  /** More bytes than any writer's widest number has. */
  private static final int MAX_BYTES = 64;

  private static final int MAX_LONG_SCALE = 18;

  private final int scale;
  private final double unit;

  /** 10^scale, or 0 where that is more than 64 bits hold. */
  private final long divisor;

  private final ParquetTexts texts;
  private final ParquetMisfits misfits;

  ParquetDecimals(int scale, ParquetTexts texts, ParquetMisfits misfits) {
    this.scale = scale;
    this.texts = texts;
    this.misfits = misfits;
    unit = Math.pow(10, scale);
    divisor = scale > MAX_LONG_SCALE ? 0 : BigInteger.TEN.pow(scale).longValueExact();
  }

  double number(long unscaled) {
    return unscaled / unit;
  }

  /** The number that {@code bytes[from, to)} hold, the highest first. */
  double number(byte[] bytes, int from, int to) {
    if (to - from <= Long.BYTES) {
      return number(integer(bytes, from, to));
    }
    if (to - from <= 2 * Long.BYTES) {
      return wide(integer(bytes, from, to - Long.BYTES), integer(bytes, to - Long.BYTES, to));
    }
    return wide(bytes, from, to).doubleValue();
  }

  /** The whole number {@code unscaled} stands for; value {@code i} does not fit if it is none. */
  long id(int i, long unscaled) {
    if (scale == 0) {
      return unscaled;
    }
    if (divisor != 0 && unscaled % divisor == 0) {
      return unscaled / divisor;
    }
    if (unscaled != 0) {
      misfits.refuse(i, plain(BigDecimal.valueOf(unscaled, scale)));
    }
    return 0;
  }

  long id(int i, byte[] bytes, int from, int to) {
    if (to - from <= Long.BYTES) {
      return id(i, integer(bytes, from, to));
    }
    BigDecimal value = wide(bytes, from, to);
    try {
      return value.longValueExact();
    } catch (ArithmeticException e) {
      misfits.refuse(i, plain(value));
      return 0;
    }
  }

  /** The hash of the number's text, which has no zeros at the end of a fraction. */
  long text(long unscaled) {
    return divisor != 0 && unscaled % divisor == 0
        ? texts.ofInteger(unscaled / divisor, false)
        : texts.ofText(plain(BigDecimal.valueOf(unscaled, scale)));
  }

  long text(byte[] bytes, int from, int to) {
    return to - from <= Long.BYTES
        ? text(integer(bytes, from, to))
        : texts.ofText(plain(wide(bytes, from, to)));
  }

  /** {@code value} without exponent and without zeros at the end of its fraction. */
  static String plain(BigDecimal value) {
    return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
  }

  /** high * 2^64 + low, low without a sign; as a magnitude, for -1 is -2^64 + (2^64 - 1). */
  private double wide(long high, long low) {
    boolean negative = high < 0;
    long lower = negative ? -low : low;
    long upper = negative ? ~high + (lower == 0 ? 1 : 0) : high;
    double number = (unsigned(upper) * 0x1p64 + unsigned(lower)) / unit;
    return negative ? -number : number;
  }

  private BigDecimal wide(byte[] bytes, int from, int to) {
    if (to - from > MAX_BYTES) {
      throw new DataException(
          "got a DECIMAL of "
              + (to - from)
              + " bytes, expected at most "
              + MAX_BYTES
              + ParquetFile.REWRITE);
    }
    return new BigDecimal(new BigInteger(bytes, from, to - from), scale);
  }

  private static long integer(byte[] bytes, int from, int to) {
    long value = from < to ? bytes[from] >> 7 : 0; // the sign in all bits
    for (int at = from; at < to; at++) {
      value = value << 8 | bytes[at] & 0xFF;
    }
    return value;
  }

  private static double unsigned(long value) {
    return value >= 0 ? value : 2.0 * (value >>> 1 | value & 1);
  }
}
