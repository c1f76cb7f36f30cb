package dev.tern.internal.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Raw access to off-heap memory by absolute address. All kernels access memory through the one
 * segment {@link #ALL}. The JIT therefore knows the kind of segment at each access and leaves out
 * the test of bounds.
 *
 * <p>The caller must know that the address lies in a live block. The system property {@code
 * tern.memory=checked} turns a check on: each access is compared with the live blocks, and one
 * outside throws an {@link AssertionError} that names the nearest block, its holder and the offset.
 * Without the property the JIT removes the check, as {@link #CHECKED} is a constant. Vector code
 * accesses {@link #ALL} directly and is not checked; in checked mode kernels are therefore scalar
 * unless {@code tern.vector.bits} is given. Both forms give the same bits.
 */
public final class Memory {
  /** Whether accesses are checked. */
  public static final boolean CHECKED = "checked".equals(System.getProperty("tern.memory"));

  /** The whole address space: an offset is an absolute address. Accesses are never checked. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final int ZERO_BYTES = 4096;
  private static final long ZEROS = Arena.global().allocate(ZERO_BYTES, 64).address();

  /** Zeroing this much takes so long that an object for a slice costs nothing beside it. */
  private static final long MANY_BYTES = 1L << 20;

  static {
    loadEveryKindOfSegment();
  }

  private Memory() {}

  /**
   * Loads all implementations of segments. While the native one is the only one loaded, HotSpot
   * compiles accesses for it alone, and discards all compiled kernels when some library loads
   * another.
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
      // Another JDK may have other implementations: then kernels may be compiled twice.
    }
  }

  public static float getFloat(long address) {
    if (CHECKED) {
      LiveBlocks.require(address, Float.BYTES);
    }
    return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
  }

  public static void setFloat(long address, float value) {
    if (CHECKED) {
      LiveBlocks.require(address, Float.BYTES);
    }
    ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
  }

  public static int getInt(long address) {
    if (CHECKED) {
      LiveBlocks.require(address, Integer.BYTES);
    }
    return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
  }

  public static void setInt(long address, int value) {
    if (CHECKED) {
      LiveBlocks.require(address, Integer.BYTES);
    }
    ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  public static long getLong(long address) {
    if (CHECKED) {
      LiveBlocks.require(address, Long.BYTES);
    }
    return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
  }

  public static void setLong(long address, long value) {
    if (CHECKED) {
      LiveBlocks.require(address, Long.BYTES);
    }
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  public static byte getByte(long address) {
    if (CHECKED) {
      LiveBlocks.require(address, Byte.BYTES);
    }
    return ALL.get(ValueLayout.JAVA_BYTE, address);
  }

  public static void setByte(long address, byte value) {
    if (CHECKED) {
      LiveBlocks.require(address, Byte.BYTES);
    }
    ALL.set(ValueLayout.JAVA_BYTE, address, value);
  }

  public static short getShort(long address) {
    if (CHECKED) {
      LiveBlocks.require(address, Short.BYTES);
    }
    return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
  }

  public static void setShort(long address, short value) {
    if (CHECKED) {
      LiveBlocks.require(address, Short.BYTES);
    }
    ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
  }

  /** Copies {@code count} floats of {@code source} from index {@code from} to {@code address}. */
  public static void copyIn(float[] source, int from, long address, int count) {
    if (CHECKED) {
      LiveBlocks.require(address, 4L * count);
    }
    MemorySegment.copy(source, from, ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, address, count);
  }

  /** Copies {@code count} floats from {@code address} into {@code target} from index {@code to}. */
  public static void copyOut(long address, float[] target, int to, int count) {
    if (CHECKED) {
      LiveBlocks.require(address, 4L * count);
    }
    MemorySegment.copy(ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, address, target, to, count);
  }

  /** Copies bytes between addresses; the ranges may overlap. */
  public static void copy(long source, long target, long bytes) {
    if (CHECKED) {
      LiveBlocks.require(source, bytes);
      LiveBlocks.require(target, bytes);
    }
    MemorySegment.copy(ALL, source, ALL, target, bytes);
  }

  /** Sets bytes to zero. */
  public static void zero(long address, long bytes) {
    if (CHECKED) {
      LiveBlocks.require(address, bytes);
    }
    if (bytes >= MANY_BYTES) {
      ALL.asSlice(address, bytes).fill((byte) 0);
      return;
    }
    for (long done = 0; done < bytes; done += ZERO_BYTES) {
      MemorySegment.copy(ALL, ZEROS, ALL, address + done, Math.min(ZERO_BYTES, bytes - done));
    }
  }

  /** The bytes from {@code address} on as a segment; the checked mode checks them here alone. */
  public static MemorySegment segment(long address, long bytes) {
    if (CHECKED) {
      LiveBlocks.require(address, bytes);
    }
    return MemorySegment.ofAddress(address).reinterpret(bytes);
  }

  /**
   * A segment from an arena of the JDK. Memory that is accessed by address must come from here or
   * from an {@link Allocator}, so that the checked mode knows it. It lives as long as the arena.
   *
   * @param alignment in bytes, a power of two
   * @param holder who holds it, for messages
   */
  public static MemorySegment allocate(Arena arena, long bytes, long alignment, String holder) {
    MemorySegment segment = arena.allocate(bytes, alignment);
    if (CHECKED) {
      LiveBlocks.add(segment, holder);
    }
    return segment;
  }

  /**
   * The address of a native segment that a user gave. From here on the checked mode knows its
   * memory.
   *
   * @param holder who gave it, for messages
   */
  public static long address(MemorySegment segment, String holder) {
    if (CHECKED) {
      LiveBlocks.addUnknown(segment, holder);
    }
    return segment.address();
  }
}
