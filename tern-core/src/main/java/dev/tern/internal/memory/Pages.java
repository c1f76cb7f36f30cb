package dev.tern.internal.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Memory from the system. On Linux a range is reserved address space, and memory is put behind it
 * and taken away piece by piece. The JDK's arenas neither reserve addresses, nor ask for huge
 * pages, nor leave fresh pages untouched. On other systems a range is an arena of the JDK, which is
 * memory from the start.
 */
final class Pages {
  static final long HUGE_PAGE = 2 << 20;

  /** Whether address space can be had without memory. */
  static final boolean RESERVES =
      System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux");

  private static final Map<Long, Arena> ARENAS = new ConcurrentHashMap<>();

  /** The size of a page in bytes. */
  static final long PAGE = RESERVES ? Linux.pageSize() : 4096;

  private Pages() {}

  /** {@code bytes} rounded up to whole pages; rounded down where the next page would overflow. */
  static long whole(long bytes) {
    return bytes > Long.MAX_VALUE - PAGE ? bytes & -PAGE : (bytes + PAGE - 1) & -PAGE;
  }

  /**
   * Reserves address space without memory, aligned to huge pages; on Linux only.
   *
   * @return its address, or 0 when the system has none of that size
   */
  static long reserve(long bytes) {
    return Linux.reserve(bytes);
  }

  /** Puts memory of zeros behind whole pages of reserved address space. */
  static void commit(long address, long bytes) {
    Linux.protect(address, bytes, Linux.READ_WRITE);
  }

  /** Takes the memory behind whole pages away. */
  static void decommit(long address, long bytes) {
    Linux.forget(address, bytes);
    Linux.protect(address, bytes, 0);
  }

  /** Gives a whole range of reserved address space back. */
  static void unreserve(long address, long bytes) {
    Linux.unmap(address, bytes);
  }

  /** A range of memory, 64-byte aligned, where address space cannot be reserved. */
  static long mapArena(long bytes) {
    Arena arena = Arena.ofShared();
    long address = arena.allocate(bytes, 64).address();
    ARENAS.put(address, arena);
    return address;
  }

  /** Gives back a whole range that {@link #mapArena} returned. */
  static void unmapArena(long address, long bytes) {
    Arena arena = ARENAS.remove(address);
    if (arena == null) {
      throw refused("unmap", bytes);
    }
    arena.close();
  }

  /** A function of the system's C library. */
  static MethodHandle function(
      String name, FunctionDescriptor signature, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    SymbolLookup lookup = linker.defaultLookup();
    MemorySegment symbol = lookup.findOrThrow(name);
    return linker.downcallHandle(symbol, signature, options);
  }

  static IllegalStateException refused(String op, long bytes) {
    return new IllegalStateException(
        "%s: got a refusal of %d bytes from the system, expected success; lower the memory budget"
            .formatted(op, bytes));
  }

  /** System calls; loaded on Linux alone. */
  private static final class Linux {
    static final int READ_WRITE = 0x1 | 0x2;
    private static final int PRIVATE_ANONYMOUS_NO_RESERVE = 0x02 | 0x20 | 0x4000;
    private static final int MADV_DONTNEED = 4;
    private static final int MADV_HUGEPAGE = 14;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

    private static final MethodHandle MMAP =
        function("mmap", FunctionDescriptor.of(LONG, LONG, LONG, INT, INT, INT, LONG));
    private static final MethodHandle MUNMAP =
        function("munmap", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle MADVISE =
        function("madvise", FunctionDescriptor.of(INT, LONG, LONG, INT));
    private static final MethodHandle MPROTECT =
        function("mprotect", FunctionDescriptor.of(INT, LONG, LONG, INT));

    static long pageSize() {
      try {
        return (int) function("getpagesize", FunctionDescriptor.of(INT)).invokeExact();
      } catch (Throwable e) {
        throw new IllegalStateException("getpagesize", e);
      }
    }

    /** The advice to use huge pages may be refused; the range then has small pages. */
    static long reserve(long bytes) {
      long wide = mmap(bytes + HUGE_PAGE);
      if (wide == -1) {
        return 0;
      }
      long aligned = (wide + HUGE_PAGE - 1) & -HUGE_PAGE;
      long before = aligned - wide;
      if (before > 0) {
        unmap(wide, before);
      }
      if (before < HUGE_PAGE) {
        unmap(aligned + bytes, HUGE_PAGE - before);
      }
      int ignored = madvise(aligned, bytes, MADV_HUGEPAGE);
      return aligned;
    }

    private static long mmap(long bytes) {
      try {
        return (long) MMAP.invokeExact(0L, bytes, 0, PRIVATE_ANONYMOUS_NO_RESERVE, -1, 0L);
      } catch (Throwable e) {
        throw new IllegalStateException("mmap", e);
      }
    }

    static void unmap(long address, long bytes) {
      int status;
      try {
        status = (int) MUNMAP.invokeExact(address, bytes);
      } catch (Throwable e) {
        throw new IllegalStateException("munmap", e);
      }
      requireSuccess(status, "unmap", bytes);
    }

    static void protect(long address, long bytes, int access) {
      int status;
      try {
        status = (int) MPROTECT.invokeExact(address, bytes, access);
      } catch (Throwable e) {
        throw new IllegalStateException("mprotect", e);
      }
      requireSuccess(status, access == 0 ? "decommit" : "commit", bytes);
    }

    static void forget(long address, long bytes) {
      requireSuccess(madvise(address, bytes, MADV_DONTNEED), "decommit", bytes);
    }

    private static int madvise(long address, long bytes, int advice) {
      try {
        return (int) MADVISE.invokeExact(address, bytes, advice);
      } catch (Throwable e) {
        throw new IllegalStateException("madvise", e);
      }
    }

    private static void requireSuccess(int status, String op, long bytes) {
      if (status != 0) {
        throw refused(op, bytes);
      }
    }
  }
}
