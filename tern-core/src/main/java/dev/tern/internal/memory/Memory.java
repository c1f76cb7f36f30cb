package dev.tern.internal.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Raw access to off-heap memory by absolute address. Every kernel sees the same one segment, so its
 * access sites meet a single kind of segment and the bounds test folds to a constant. Callers hold
 * the proof that an address lies inside a live allocation; nothing here checks it.
 */
public final class Memory {
  /** All of the address space; offset = absolute address. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final int ZERO_BYTES = 4096;
  private static final long ZEROS = Arena.global().allocate(ZERO_BYTES, 64).address();

  /** From here on the object that a slice may be does not matter. */
  private static final long MANY_BYTES = 1L << 20;

  static {
    loadEveryKindOfSegment();
  }

  private Memory() {}

  /**
   * While the native kind is the only one loaded, HotSpot compiles access for it alone, and throws
   * all compiled kernels away when some library loads another.
   */
  private static void loadEveryKindOfSegment() {
    List<MemorySegment> _ =
        List.of(
            MemorySegment.ofArray(new byte[1]),
            MemorySegment.ofArray(new char[1]),
            MemorySegment.ofArray(new short[1]),
            MemorySegment.ofArray(new int[1]),
            MemorySegment.ofArray(new long[1]),
            MemorySegment.ofArray(new float[1]),
            MemorySegment.ofArray(new double[1]));
    try {
      Class.forName("jdk.internal.foreign.MappedMemorySegmentImpl");
    } catch (ClassNotFoundException e) {
      // Of another JDK, with other kinds: then kernels may be compiled twice.
    }
  }

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
    if (bytes >= MANY_BYTES) {
      ALL.asSlice(address, bytes).fill((byte) 0);
      return;
    }
    for (long done = 0; done < bytes; done += ZERO_BYTES) {
      copy(ZEROS, address + done, Math.min(ZERO_BYTES, bytes - done));
    }
  }
}
