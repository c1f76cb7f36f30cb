package dev.tern.internal.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Locale;

/**
 * Pages of memory and functions of the C library. {@link Linux} reserves address space, puts memory
 * behind it and takes memory away. The JDK's arenas do neither, do not ask for huge pages, and
 * write to fresh pages.
 */
final class Pages {
  static final long HUGE_PAGE = 2 << 20;

  /** Whether address space can be had without memory. */
  static final boolean RESERVES =
      System.getProperty("os.name", "").toLowerCase(Locale.ROOT).contains("linux");

  /** The size of a page in bytes. */
  static final long PAGE = RESERVES ? Linux.pageSize() : 4096;

  private Pages() {}

  /** {@code bytes} rounded up to whole pages; rounded down where the next page would overflow. */
  static long whole(long bytes) {
    return bytes > Long.MAX_VALUE - PAGE ? bytes & -PAGE : (bytes + PAGE - 1) & -PAGE;
  }

  /** A function of the C library. */
  static MethodHandle function(
      String name, FunctionDescriptor signature, Linker.Option... options) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), signature, options);
  }

  /** Calls a function of the C library. */
  @FunctionalInterface
  interface Call {
    long run() throws Throwable;
  }

  /** Makes a call; {@code name} is the function's, for errors. */
  static long call(String name, Call call) {
    try {
      return call.run();
    } catch (Throwable e) {
      throw new IllegalStateException(name, e);
    }
  }

  static IllegalStateException refused(String op, long bytes) {
    return new IllegalStateException(
        "%s: got a refusal of %d bytes from the system, expected success; lower the memory budget"
            .formatted(op, bytes));
  }

  /** System calls; loaded on Linux alone. */
  static final class Linux {
    private static final int READ_WRITE = 0x1 | 0x2;
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

    private Linux() {}

    static long pageSize() {
      MethodHandle getPageSize = function("getpagesize", FunctionDescriptor.of(INT));
      return call("getpagesize", () -> (int) getPageSize.invokeExact());
    }

    /**
     * Reserves address space without memory, aligned to huge pages. The system may refuse the
     * advice to use huge pages; the range then has small ones.
     *
     * @return its address, or 0 when the system has none of that size
     */
    static long reserve(long bytes) {
      int flags = PRIVATE_ANONYMOUS_NO_RESERVE;
      long wide =
          call("mmap", () -> (long) MMAP.invokeExact(0L, bytes + HUGE_PAGE, 0, flags, -1, 0L));
      if (wide == -1) {
        return 0;
      }
      long aligned = (wide + HUGE_PAGE - 1) & -HUGE_PAGE;
      long before = aligned - wide;
      if (before > 0) {
        unreserve(wide, before);
      }
      if (before < HUGE_PAGE) {
        unreserve(aligned + bytes, HUGE_PAGE - before);
      }
      long ignored = advise(aligned, bytes, MADV_HUGEPAGE);
      return aligned;
    }

    /** Gives reserved address space back. */
    static void unreserve(long address, long bytes) {
      long status = call("munmap", () -> (int) MUNMAP.invokeExact(address, bytes));
      requireSuccess(status, "unmap", bytes);
    }

    /** Puts memory of zeros behind whole pages of reserved address space. */
    static void commit(long address, long bytes) {
      requireSuccess(protect(address, bytes, READ_WRITE), "commit", bytes);
    }

    /** Takes the memory behind whole pages away. */
    static void decommit(long address, long bytes) {
      requireSuccess(advise(address, bytes, MADV_DONTNEED), "decommit", bytes);
      requireSuccess(protect(address, bytes, 0), "decommit", bytes);
    }

    private static long protect(long address, long bytes, int access) {
      return call("mprotect", () -> (int) MPROTECT.invokeExact(address, bytes, access));
    }

    private static long advise(long address, long bytes, int advice) {
      return call("madvise", () -> (int) MADVISE.invokeExact(address, bytes, advice));
    }

    private static void requireSuccess(long status, String op, long bytes) {
      if (status != 0) {
        throw refused(op, bytes);
      }
    }
  }
}
