package dev.tern.files.parquet;

import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.TimeParser;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.TimeOrder;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Values that are bytes in the file but no text: DECIMAL, FLOAT16, INT96, UUID and other bytes of
 * one length. Each becomes what its {@link ParquetValues.Use} asks for, as a long: a number as the
 * bits of a double, an id, or a hash.
 */
final class ParquetBytes implements ParquetByteArrays.Reading {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int SHOWN = 40;
  private static final long EPOCH = 2_440_588; // the Julian day of 1970-01-01
  private static final long DAY_SECONDS = 86_400;
  private static final long NANOS = 1_000_000_000;
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private final ParquetType type;
  private final ParquetValues.Use use;
  private final ParquetTexts texts;
  private final ParquetMisfits misfits;
  private final ParquetDecimals decimals;
  private final TimeOrder order;
  private final NumberParser numbers = new NumberParser();
  private final byte[] scratch = new byte[ParquetTimes.LONGEST];

  ParquetBytes(
      ParquetType type,
      ParquetValues.Use use,
      TimeOrder order,
      ParquetTexts texts,
      ParquetMisfits misfits) {
    this.type = type;
    this.use = use;
    this.order = order;
    this.texts = texts;
    this.misfits = misfits;
    decimals = new ParquetDecimals(type.scale(), texts, misfits);
  }

  @Override
  public long read(int i, byte[] bytes, int from, int to) {
    return switch (type.kind()) {
      case DECIMAL -> decimal(i, bytes, from, to);
      case FLOAT16 ->
          Double.doubleToRawLongBits(Float.float16ToFloat((short) SHORT.get(bytes, from)));
      case TIMESTAMP -> instant(i, (int) INT.get(bytes, from + 8), (long) LONG.get(bytes, from));
      case UUID -> texts.of(scratch, 0, printUuid(bytes, from));
      case TEXT -> time(i, bytes, from, to);
      default -> texts.of(bytes, from, to);
    };
  }

  /** A text that is a time; an empty one is missing, and so is a marker. */
  private long time(int i, byte[] bytes, int from, int to) {
    if (from == to || texts.haveMarkers() && texts.isMarker(TextHash.of(bytes, from, to))) {
      misfits.missing(i);
      return 0;
    }
    boolean ordered = use == ParquetValues.Use.TIME;
    long time = ordered ? order.of(bytes, from, to, numbers) : TimeParser.parse(bytes, from, to);
    if (time == (ordered ? TimeOrder.NONE : TimeParser.NONE)) {
      int shown = Math.min(to, from + SHOWN);
      misfits.refuse(i, '"' + new String(bytes, from, shown - from, StandardCharsets.UTF_8) + '"');
      return 0;
    }
    return time;
  }

  private long decimal(int i, byte[] bytes, int from, int to) {
    return switch (use) {
      case NUMBER -> Double.doubleToRawLongBits(decimals.number(bytes, from, to));
      case TIME -> TimeOrder.of(decimals.number(bytes, from, to));
      case INSTANT -> misfits.time(i, decimals.number(bytes, from, to));
      case ID -> decimals.id(i, bytes, from, to);
      case TEXT, POSITIVE -> decimals.text(bytes, from, to);
    };
  }

  /** An INT96: a Julian day, and nanoseconds of it. */
  private long instant(int i, int julian, long nanos) {
    long day = julian - EPOCH;
    switch (use) {
      case NUMBER -> {
        return Double.doubleToRawLongBits(day + nanos / (double) (DAY_SECONDS * NANOS));
      }
      case TEXT, POSITIVE -> {
        long seconds = day * DAY_SECONDS + Math.floorDiv(nanos, NANOS);
        int part = (int) Math.floorMod(nanos, NANOS);
        return texts.of(scratch, 0, ParquetTimes.printInstant(scratch, seconds, part, true));
      }
      default -> {
        try {
          return Math.addExact(
              Math.multiplyExact(day, ParquetTimes.DAY), Math.floorDiv(nanos, 1000));
        } catch (ArithmeticException e) {
          misfits.refuse(i, "Julian day " + julian);
          return 0;
        }
      }
    }
  }

  /** 8-4-4-4-12 digits. */
  private int printUuid(byte[] bytes, int from) {
    int at = 0;
    for (int i = 0; i < 16; i++) {
      if (i == 4 || i == 6 || i == 8 || i == 10) {
        scratch[at] = '-';
        at++;
      }
      scratch[at] = HEX[bytes[from + i] >> 4 & 15];
      scratch[at + 1] = HEX[bytes[from + i] & 15];
      at += 2;
    }
    return at;
  }
}
