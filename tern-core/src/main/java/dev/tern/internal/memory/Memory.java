package dev.tern.internal.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Raw access to off-heap memory by absolute address. Every kernel sees the same one segment, so its
 * access sites meet a single kind of segment and the bounds test folds to a constant. Callers hold
 * the proof that an address lies inside a live allocation; nothing here checks it.
 */
public final class Memory {
  /** All of the address space; offset = absolute address. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private Memory() {}

  public static float getFloat(long address) {
    return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
  }

  public static void setFloat(long address, float value) {
    ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
  }

  public static int getInt(long address) {
    return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
  }

  public static void setInt(long address, int value) {
    ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  public static long getLong(long address) {
    return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
  }

  public static void setLong(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  public static byte getByte(long address) {
    return ALL.get(ValueLayout.JAVA_BYTE, address);
  }

  public static void setByte(long address, byte value) {
    ALL.set(ValueLayout.JAVA_BYTE, address, value);
  }

  public static short getShort(long address) {
    return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
  }

  public static void setShort(long address, short value) {
    ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
  }

  /** Copies {@code count} floats of {@code source} from index {@code from} to {@code address}. */
  public static void copyIn(float[] source, int from, long address, int count) {
    MemorySegment.copy(source, from, ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, address, count);
  }

  /** Copies {@code count} floats from {@code address} into {@code target} from index {@code to}. */
  public static void copyOut(long address, float[] target, int to, int count) {
    MemorySegment.copy(ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, address, target, to, count);
  }

  /** Copies bytes between addresses; the ranges may overlap. */
  public static void copy(long source, long target, long bytes) {
    MemorySegment.copy(ALL, source, ALL, target, bytes);
  }

  /** Sets bytes to zero. */
  public static void zero(long address, long bytes) {
    ALL.asSlice(address, bytes).fill((byte) 0);
  }
}
