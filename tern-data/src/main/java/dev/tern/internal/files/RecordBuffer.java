package dev.tern.internal.files;

import dev.tern.files.KeyType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Bytes being put together before they are written: little-endian numbers and ASCII text. */
public final class RecordBuffer {
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final float EXACT_INTEGER = 1 << 24;
  private static final long TEN_TO_18 = 1_000_000_000_000_000_000L;

  private byte[] bytes = new byte[1 << 16];
  private int size;

  public byte[] bytes() {
    return bytes;
  }

  public int size() {
    return size;
  }

  public void clear() {
    size = 0;
  }

  public void putByte(int value) {
    reserve(1);
    bytes[size] = (byte) value;
    size++;
  }

  public void putInt(int value) {
    reserve(4);
    INT.set(bytes, size, value);
    size += 4;
  }

  public void putLong(long value) {
    reserve(8);
    LONG.set(bytes, size, value);
    size += 8;
  }

  public void putFloat(float value) {
    putInt(Float.floatToRawIntBits(value));
  }

  /** Puts {@code id} in the width of {@code type}, which must hold it. */
  public void putKey(KeyType type, long id) {
    if (type == KeyType.I64) {
      putLong(id);
    } else {
      putInt((int) id);
    }
  }

  /** Puts text of ASCII characters. */
  public void putAscii(String text) {
    int length = text.length();
    reserve(length);
    for (int i = 0; i < length; i++) {
      bytes[size + i] = (byte) text.charAt(i);
    }
    size += length;
  }

  public void putBytes(byte[] source) {
    putBytes(source, 0, source.length);
  }

  /** Puts {@code source[from, to)}. */
  public void putBytes(byte[] source, int from, int to) {
    reserve(to - from);
    System.arraycopy(source, from, bytes, size, to - from);
    size += to - from;
  }

  /** Puts {@code value} as decimal digits. */
  public void putDecimal(long value) {
    if (value == Long.MIN_VALUE) {
      putAscii("-9223372036854775808");
      return;
    }
    reserve(20);
    long rest = value;
    if (rest < 0) {
      bytes[size] = '-';
      size++;
      rest = -rest;
    }
    int digits = 1;
    for (long bound = 10; digits < 19 && rest >= bound; bound *= 10) {
      digits++;
    }
    for (int i = size + digits - 1; i >= size; i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size += digits;
  }

  /** Puts {@code value}, taken as unsigned, as decimal digits. */
  public void putUnsigned(long value) {
    if (value >= 0) {
      putDecimal(value);
      return;
    }
    // 19 or 20 digits: the first one or two, then 18.
    putDecimal(Long.divideUnsigned(value, TEN_TO_18));
    long rest = Long.remainderUnsigned(value, TEN_TO_18);
    reserve(18);
    for (int i = size + 17; i >= size; i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size += 18;
  }

  /** Puts {@code value} in the fewest decimal digits that read back to the same bits. */
  public void putNumber(float value) {
    boolean integer = value == Math.rint(value) && Math.abs(value) <= EXACT_INTEGER;
    if (integer && Float.floatToRawIntBits(value) != Float.floatToRawIntBits(-0f)) {
      putDecimal((long) value);
    } else {
      putAscii(Float.toString(value));
    }
  }

  /** Overwrites the int at {@code index}. */
  public void setInt(int index, int value) {
    INT.set(bytes, index, value);
  }

  /** Sum modulo 256 of the bytes from index {@code from} on. */
  public byte sum(int from) {
    int total = 0;
    for (int i = from; i < size; i++) {
      total += bytes[i];
    }
    return (byte) total;
  }

  private void reserve(int more) {
    int needed = Math.addExact(size, more);
    if (needed > bytes.length) {
      bytes =
          Arrays.copyOf(
              bytes, Math.max(needed, (int) Math.min(Integer.MAX_VALUE - 16, 2L * bytes.length)));
    }
  }
}
