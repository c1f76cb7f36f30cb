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
 * Ranges of memory straight from the system. On Linux by {@code mmap}, aligned to huge pages and
 * marked for them when large enough: the JDK's own arenas neither ask for huge pages nor leave
 * fresh pages untouched. Elsewhere each range is an arena.
 */
final class Pages {
  private static final long HUGE_PAGE = 2 << 20;
  private static final boolean LINUX =
      System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux");
  private static final Map<Long, Arena> ARENAS = new ConcurrentHashMap<>();
  private static final long PAGE = LINUX ? Linux.pageSize() : 4096;

  private Pages() {}

  /** {@code bytes} rounded up to whole pages, or what is near the largest long as it is. */
  static long whole(long bytes) {
    return bytes > Long.MAX_VALUE - PAGE ? bytes & -PAGE : (bytes + PAGE - 1) & -PAGE;
  }

  /** A range of {@code bytes}, whole pages, aligned to at least 64 bytes. */
  static long map(long bytes) {
    return LINUX ? Linux.map(bytes) : mapArena(bytes);
  }

  /** Gives back a whole range that {@link #map} returned. */
  static void unmap(long address, long bytes) {
    if (LINUX) {
      Linux.unmap(address, bytes);
    } else {
      unmapArena(address, bytes);
    }
  }

  static long mapArena(long bytes) {
    Arena arena = Arena.ofShared();
    long address = arena.allocate(bytes, 64).address();
    ARENAS.put(address, arena);
    return address;
  }

  static void unmapArena(long address, long bytes) {
    Arena arena = ARENAS.remove(address);
    if (arena == null) {
      throw refused("unmap", bytes);
    }
    arena.close();
  }

  private static IllegalStateException refused(String op, long bytes) {
    return new IllegalStateException(
        "%s: got a refusal of %d bytes from the system, expected success; lower the memory budget"
            .formatted(op, bytes));
  }

  /** System calls; loaded on Linux alone. */
  private static final class Linux {
    private static final int READ_WRITE = 0x1 | 0x2;
    private static final int PRIVATE_ANONYMOUS = 0x02 | 0x20;
    private static final int MADV_HUGEPAGE = 14;

    private static final MethodHandle MMAP =
        function(
            "mmap",
            FunctionDescriptor.of(
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG));
    private static final MethodHandle MUNMAP =
        function(
            "munmap",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
    private static final MethodHandle MADVISE =
        function(
            "madvise",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_INT));

    static long pageSize() {
      try {
        return (int)
            function("getpagesize", FunctionDescriptor.of(ValueLayout.JAVA_INT)).invokeExact();
      } catch (Throwable e) {
        throw new IllegalStateException("getpagesize", e);
      }
    }

    private static MethodHandle function(String name, FunctionDescriptor signature) {
      Linker linker = Linker.nativeLinker();
      SymbolLookup lookup = linker.defaultLookup();
      MemorySegment symbol = lookup.findOrThrow(name);
      return linker.downcallHandle(symbol, signature);
    }

    static long map(long bytes) {
      if (bytes < HUGE_PAGE) {
        return mmap(bytes);
      }
      long wide = mmap(bytes + HUGE_PAGE);
      long aligned = (wide + HUGE_PAGE - 1) & -HUGE_PAGE;
      long before = aligned - wide;
      if (before > 0) {
        munmap(wide, before);
      }
      if (before < HUGE_PAGE) {
        munmap(aligned + bytes, HUGE_PAGE - before);
      }
      adviseHugePages(aligned, bytes);
      return aligned;
    }

    static void unmap(long address, long bytes) {
      munmap(address, bytes);
    }

    private static long mmap(long bytes) {
      long address;
      try {
        address = (long) MMAP.invokeExact(0L, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
      } catch (Throwable e) {
        throw new IllegalStateException("mmap", e);
      }
      if (address == -1) {
        throw refused("map", bytes);
      }
      return address;
    }

    private static void munmap(long address, long bytes) {
      int status;
      try {
        status = (int) MUNMAP.invokeExact(address, bytes);
      } catch (Throwable e) {
        throw new IllegalStateException("munmap", e);
      }
      if (status != 0) {
        throw refused("unmap", bytes);
      }
    }

    /** A kernel without huge pages refuses the advice, and the range serves as it is. */
    private static void adviseHugePages(long address, long bytes) {
      try {
        int ignored = (int) MADVISE.invokeExact(address, bytes, MADV_HUGEPAGE);
      } catch (Throwable e) {
        throw new IllegalStateException("madvise", e);
      }
    }
  }
}
