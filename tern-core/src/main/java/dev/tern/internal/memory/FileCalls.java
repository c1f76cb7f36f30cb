package dev.tern.internal.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * System calls that copy parts of files to and from addresses. Unlike channels, they go on when the
 * thread is interrupted. Loaded on Linux only.
 */
final class FileCalls {
  private static final int READ_WRITE_CLOSE_ON_EXEC = 0x2 | 0x80000;
  private static final int KEEP_SIZE_PUNCH_HOLE = 0x1 | 0x2;
  private static final int INTERRUPTED = 4;
  private static final int TOO_LARGE = 27;
  private static final int DISK_FULL = 28;
  private static final int QUOTA_FULL = 122;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private static final MethodHandle OPEN =
      Pages.function(
          "open",
          FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT),
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle CLOSE =
      Pages.function("close", FunctionDescriptor.of(INT, INT));
  private static final MethodHandle POSIX_FALLOCATE =
      Pages.function("posix_fallocate", FunctionDescriptor.of(INT, INT, LONG, LONG));
  private static final MethodHandle FALLOCATE =
      Pages.function("fallocate", FunctionDescriptor.of(INT, INT, INT, LONG, LONG));
  private static final MethodHandle PREAD =
      Pages.function("pread", FunctionDescriptor.of(LONG, INT, LONG, LONG, LONG));
  private static final MethodHandle PWRITE =
      Pages.function("pwrite", FunctionDescriptor.of(LONG, INT, LONG, LONG, LONG));

  private FileCalls() {}

  /** Opens an existing file; returns its descriptor, empty where the system refuses. */
  static Optional<Integer> open(Path file) {
    Charset names =
        Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"), StandardCharsets.UTF_8);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(file.toString(), names);
      long descriptor =
          Pages.call("open", () -> (int) OPEN.invokeExact(path, READ_WRITE_CLOSE_ON_EXEC));
      return descriptor < 0 ? Optional.empty() : Optional.of((int) descriptor);
    }
  }

  static void close(int descriptor) {
    long ignored = Pages.call("close", () -> (int) CLOSE.invokeExact(descriptor));
  }

  /**
   * Makes the disk keep room for a part of a file, so that no later write finds the disk full.
   *
   * @return what was wrong; then the room is not kept
   */
  static Optional<String> keepRoom(int descriptor, long offset, long bytes) {
    long error;
    do {
      error =
          Pages.call(
              "posix_fallocate",
              () -> (int) POSIX_FALLOCATE.invokeExact(descriptor, offset, bytes));
    } while (error == INTERRUPTED);
    if (error == 0) {
      return Optional.empty();
    }
    // Some file systems keep what they found before they gave up.
    long ignored =
        Pages.call(
            "fallocate",
            () -> (int) FALLOCATE.invokeExact(descriptor, KEEP_SIZE_PUNCH_HOLE, offset, bytes));
    return Optional.of(
        switch ((int) error) {
          case DISK_FULL -> "the disk is full";
          case QUOTA_FULL -> "the disk quota is used up";
          case TOO_LARGE -> "the file would be too large";
          default -> "system error " + error;
        });
  }

  // The next two are called for single rows, so they make no object for Pages.call.

  /** Copies a part of a file to an address; returns the bytes copied, 0 or less on failure. */
  static long read(int descriptor, long address, long bytes, long offset) {
    try {
      return (long) PREAD.invokeExact(descriptor, address, bytes, offset);
    } catch (Throwable e) {
      throw new IllegalStateException("pread", e);
    }
  }

  /** Copies an address to a part of a file; returns the bytes copied, 0 or less on failure. */
  static long write(int descriptor, long address, long bytes, long offset) {
    try {
      return (long) PWRITE.invokeExact(descriptor, address, bytes, offset);
    } catch (Throwable e) {
      throw new IllegalStateException("pwrite", e);
    }
  }
}
