package dev.tern.files.parquet;

import dev.tern.data.encode.TimeParser;
import dev.tern.internal.files.TimeOrder;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;

/** Turns decoded values of a column into what its {@link ParquetValues.Use} asks for. */
final class ParquetConversion {
  /** The largest whole number up to which all of them are floats, and doubles. */
  private static final double LARGEST_FLOAT = 0x1p24;

  private static final double LARGEST_DOUBLE = 0x1p53;

  private final ParquetType type;
  private final ParquetValues.Use use;
  private final long[] positive;
  private final ParquetTexts texts;
  private final ParquetMisfits misfits;
  private final ParquetDecimals decimals;
  private final double unitsOfDay;
  private final long trueHash;
  private final long falseHash;
  private final byte[] scratch = new byte[ParquetTimes.LONGEST];

  ParquetConversion(
      ParquetType type,
      ParquetValues.Use use,
      List<Long> positive,
      ParquetTexts texts,
      ParquetMisfits misfits) {
    this.type = type;
    this.use = use;
    this.positive = positive.stream().mapToLong(Long::longValue).sorted().toArray();
    this.texts = texts;
    this.misfits = misfits;
    decimals = new ParquetDecimals(type.scale(), texts, misfits);
    unitsOfDay = type.unitsOfDay();
    boolean text = type.kind() == ParquetType.Kind.BOOLEAN;
    trueHash = text ? texts.ofText("true") : 0;
    falseHash = text ? texts.ofText("false") : 0;
  }

  /** Whether values of {@code type} may have no form as {@code use} asks for. */
  static boolean mayFail(ParquetType type, ParquetValues.Use use) {
    ParquetType.Kind kind = type.kind();
    boolean instant = kind == ParquetType.Kind.TIMESTAMP;
    boolean fraction = kind == ParquetType.Kind.DECIMAL && (type.scale() > 0 || type.isBytes());
    return switch (use) {
      case NUMBER -> false;
      case TEXT, POSITIVE -> kind.isFloating();
      case ID -> kind.isFloating() || fraction || instant;
      case TIME ->
          kind.isFloating()
              || kind == ParquetType.Kind.DATE
              || kind == ParquetType.Kind.TEXT
              || instant;
      case INSTANT -> true;
    };
  }

  /**
   * Whether FLOAT and DOUBLE are taken as floats; else they are as the bits of doubles in longs.
   */
  boolean takesFloats() {
    return use == ParquetValues.Use.NUMBER;
  }

  /**
   * Converts {@code count} decoded values: FLOAT and DOUBLE as {@link #takesFloats} says, {@link
   * ParquetBytes} as it reads them, texts as hashes in longs, all others as longs. Numbers are left
   * in {@code floats}, ids and hashes in {@code longs}.
   */
  void convert(long[] longs, float[] floats, int count) {
    switch (use) {
      case NUMBER -> toFloats(longs, floats, count);
      case POSITIVE -> {
        toHashes(longs, count);
        for (int i = 0; i < count; i++) {
          floats[i] = Arrays.binarySearch(positive, longs[i]) >= 0 ? 1 : 0;
        }
      }
      case TEXT -> toHashes(longs, count);
      case ID -> toIds(longs, count);
      case TIME -> toTimes(longs, count);
      case INSTANT -> toInstants(longs, count);
    }
  }

  private void toFloats(long[] longs, float[] floats, int count) {
    if (type.isBytes()) {
      for (int i = 0; i < count; i++) {
        floats[i] = (float) Double.longBitsToDouble(longs[i]);
      }
      return;
    }
    switch (type.kind()) {
      case FLOAT, DOUBLE -> {}
      case UINT64 -> {
        for (int i = 0; i < count; i++) {
          long value = longs[i];
          // Halving keeps the lowest bit, so that rounding stays right.
          floats[i] = value >= 0 ? value : 2f * ((value >>> 1) | (value & 1));
        }
      }
      case DECIMAL -> {
        for (int i = 0; i < count; i++) {
          floats[i] = (float) decimals.number(longs[i]);
        }
      }
      case DATE, TIME, TIMESTAMP -> {
        for (int i = 0; i < count; i++) {
          floats[i] = (float) (longs[i] / unitsOfDay);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          floats[i] = longs[i];
        }
      }
    }
  }

  private void toHashes(long[] longs, int count) {
    if (type.isBytes() && !type.kind().isFloating()) {
      return;
    }
    switch (type.kind()) {
      case BOOLEAN -> {
        for (int i = 0; i < count; i++) {
          longs[i] = longs[i] == 0 ? falseHash : trueHash;
        }
      }
      case FLOAT16, FLOAT, DOUBLE -> {
        for (int i = 0; i < count; i++) {
          longs[i] = text(i, Double.longBitsToDouble(longs[i]));
        }
      }
      case DECIMAL -> {
        for (int i = 0; i < count; i++) {
          longs[i] = decimals.text(longs[i]);
        }
      }
      case DATE, TIME, TIMESTAMP -> {
        for (int i = 0; i < count; i++) {
          longs[i] = texts.of(scratch, 0, ParquetTimes.print(scratch, type, longs[i]));
        }
      }
      default -> {
        boolean unsigned = type.kind() == ParquetType.Kind.UINT64;
        for (int i = 0; i < count; i++) {
          longs[i] = texts.ofInteger(longs[i], unsigned);
        }
      }
    }
  }

  private void toIds(long[] longs, int count) {
    if (type.kind().isFloating()) {
      for (int i = 0; i < count; i++) {
        longs[i] = whole(i, Double.longBitsToDouble(longs[i]));
      }
    } else if (!type.isBytes()) {
      switch (type.kind()) {
        case DECIMAL -> {
          for (int i = 0; i < count; i++) {
            longs[i] = decimals.id(i, longs[i]);
          }
        }
        case TIME, TIMESTAMP -> toMicros(longs, count);
        default -> {}
      }
    }
  }

  private void toTimes(long[] longs, int count) {
    if (type.kind().isFloating()) {
      for (int i = 0; i < count; i++) {
        double value = Double.longBitsToDouble(longs[i]);
        longs[i] = TimeOrder.of(value);
        if (Double.isNaN(value)) {
          misfits.missing(i);
        }
      }
    } else if (!type.isBytes()) {
      switch (type.kind()) {
        case DECIMAL -> {
          for (int i = 0; i < count; i++) {
            longs[i] = TimeOrder.of(decimals.number(longs[i]));
          }
        }
        case DATE, TIME, TIMESTAMP -> toMicros(longs, count);
        default -> {}
      }
    }
  }

  /** Microseconds since 1970; numbers count by their size. */
  private void toInstants(long[] longs, int count) {
    if (type.kind().isFloating()) {
      for (int i = 0; i < count; i++) {
        longs[i] = misfits.time(i, Double.longBitsToDouble(longs[i]));
      }
    } else if (type.kind().isTime() && !type.isBytes()) {
      toMicros(longs, count);
    } else if (type.kind() == ParquetType.Kind.DECIMAL && !type.isBytes()) {
      for (int i = 0; i < count; i++) {
        longs[i] = misfits.time(i, decimals.number(longs[i]));
      }
    } else if (type.kind().isInteger()) {
      for (int i = 0; i < count; i++) {
        long number = longs[i];
        longs[i] = TimeParser.ofNumber(number);
        if (longs[i] == TimeParser.NONE) {
          misfits.refuse(i, Long.toString(number));
        }
      }
    }
  }

  /** Microseconds, those within which a nanosecond lies; units are of a second or longer. */
  private void toMicros(long[] longs, int count) {
    long shorter =
        type.kind() == ParquetType.Kind.DATE ? 1 : Math.max(1, type.second() / 1_000_000);
    long longer =
        type.kind() == ParquetType.Kind.DATE
            ? ParquetTimes.DAY
            : Math.max(1, 1_000_000 / type.second());
    for (int i = 0; i < count; i++) {
      long value = Math.floorDiv(longs[i], shorter);
      longs[i] = value * longer;
      if (Math.multiplyHigh(value, longer) != longs[i] >> 63) {
        misfits.refuse(i, Long.toString(value));
      }
    }
  }

  private long whole(int i, double value) {
    double largest = type.kind() == ParquetType.Kind.DOUBLE ? LARGEST_DOUBLE : LARGEST_FLOAT;
    if (Math.abs(value) <= largest && value == (long) value) {
      return (long) value;
    }
    if (Double.isNaN(value)) {
      misfits.missing(i);
    } else {
      misfits.refuse(i, decimalText(value));
    }
    return 0;
  }

  /** Whole numbers as integers, so that 16.0 and 16 are one category. */
  private long text(int i, double value) {
    if (Math.abs(value) <= LARGEST_DOUBLE && value == (long) value) {
      return texts.ofInteger((long) value, false);
    }
    if (Double.isNaN(value)) {
      misfits.missing(i);
      return 0;
    }
    if (Double.isInfinite(value)) {
      misfits.refuse(i, decimalText(value));
      return 0;
    }
    return texts.ofText(decimalText(value));
  }

  /** The fewest digits that tell the value from its neighbours in its own type. */
  private String decimalText(double value) {
    String shortest =
        type.kind() == ParquetType.Kind.DOUBLE
            ? Double.toString(value)
            : Float.toString((float) value);
    return Double.isInfinite(value) ? shortest : ParquetDecimals.plain(new BigDecimal(shortest));
  }
}
