package dev.tern.bench.memory;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Loops over off-heap memory, written once through {@link Memory} and once on a plain segment. */
interface MemoryLoops {
  /** Adds {@code count} floats to others. */
  void floats(long from, long to, int count);

  /** Sums {@code count} longs. */
  long longs(long from, int count);

  /** Moves {@code count} numbers of 2 bytes and of 1 byte, in turn. */
  void small(long from, long to, int count);

  /** Copies {@code count} rows of 64 bytes in reverse order. */
  void rows(long from, long to, int count);

  /** As all code of Tern does. */
  final class Checkable implements MemoryLoops {
    @Override
    public void floats(long from, long to, int count) {
      for (int i = 0; i < count; i++) {
        long at = 4L * i;
        Memory.setFloat(to + at, Memory.getFloat(from + at) + Memory.getFloat(to + at));
      }
    }

    @Override
    public long longs(long from, int count) {
      long sum = 0;
      for (int i = 0; i < count; i++) {
        sum += Memory.getLong(from + 8L * i);
      }
      return sum;
    }

    @Override
    public void small(long from, long to, int count) {
      for (int i = 0; i < count; i++) {
        long at = 4L * i;
        Memory.setShort(to + at, Memory.getShort(from + at));
        Memory.setByte(to + at + 2, Memory.getByte(from + at + 2));
      }
    }

    @Override
    public void rows(long from, long to, int count) {
      for (int i = 0; i < count; i++) {
        Memory.copy(from + 64L * i, to + 64L * (count - 1 - i), 64);
      }
    }
  }

  /** As it would be without a checked mode. */
  final class Plain implements MemoryLoops {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    @Override
    public void floats(long from, long to, int count) {
      for (int i = 0; i < count; i++) {
        long at = 4L * i;
        setFloat(to + at, getFloat(from + at) + getFloat(to + at));
      }
    }

    @Override
    public long longs(long from, int count) {
      long sum = 0;
      for (int i = 0; i < count; i++) {
        sum += getLong(from + 8L * i);
      }
      return sum;
    }

    @Override
    public void small(long from, long to, int count) {
      for (int i = 0; i < count; i++) {
        long at = 4L * i;
        setShort(to + at, getShort(from + at));
        setByte(to + at + 2, getByte(from + at + 2));
      }
    }

    @Override
    public void rows(long from, long to, int count) {
      for (int i = 0; i < count; i++) {
        copy(from + 64L * i, to + 64L * (count - 1 - i), 64);
      }
    }

    private static float getFloat(long address) {
      return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
    }

    private static void setFloat(long address, float value) {
      ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
    }

    private static long getLong(long address) {
      return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    private static short getShort(long address) {
      return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
    }

    private static void setShort(long address, short value) {
      ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
    }

    private static byte getByte(long address) {
      return ALL.get(ValueLayout.JAVA_BYTE, address);
    }

    private static void setByte(long address, byte value) {
      ALL.set(ValueLayout.JAVA_BYTE, address, value);
    }

    private static void copy(long source, long target, long bytes) {
      MemorySegment.copy(ALL, source, ALL, target, bytes);
    }
  }
}
