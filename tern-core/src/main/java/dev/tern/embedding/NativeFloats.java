package dev.tern.embedding;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.MemorySegment;

/** Checks segments of floats that users give, before they are accessed by address. */
final class NativeFloats {
  private NativeFloats() {}

  /**
   * The address of a segment that is to be read.
   *
   * @param what it is, for errors
   * @param floats that it must hold
   */
  static long toRead(String what, MemorySegment segment, long floats) {
    if (!segment.isNative()) {
      throw new IllegalArgumentException(
          what + ": got a segment on the heap, expected native memory; allocate it from an Arena");
    }
    if (!segment.scope().isAlive() || !segment.isAccessibleBy(Thread.currentThread())) {
      throw new IllegalStateException(
          what + ": got a segment that is closed or another thread's, expected one open to this");
    }
    if (segment.byteSize() / Float.BYTES < floats) {
      throw new IllegalArgumentException(
          "%s: got a segment of %d bytes, expected %d floats or more"
              .formatted(what, segment.byteSize(), floats));
    }
    return Memory.address(segment, what);
  }

  /** The address of a segment that is to be written; as {@link #toRead}. */
  static long toWrite(String what, MemorySegment segment, long floats) {
    if (segment.isReadOnly()) {
      throw new IllegalArgumentException(
          what + ": got a segment that is read-only, expected one to write to");
    }
    return toRead(what, segment, floats);
  }
}
