package dev.tern.internal.memory;

/**
 * A block of off-heap memory that tensors read and write.
 *
 * @param address absolute address of the first byte, 64-byte aligned
 * @param bytes size in bytes
 * @param owner keeps the memory alive for as long as the buffer is reachable
 */
public record Buffer(long address, long bytes, Object owner) {
  /** Two buffers are the same only if they are the same block. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public String toString() {
    return "Buffer " + bytes;
  }
}
