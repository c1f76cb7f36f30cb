package dev.tern.internal.memory;

/**
 * Where the memory of a {@link Range} comes from. Methods return how many system calls they made.
 */
interface Backing {
  /** Whether memory comes with the address space and goes with it, all at once. */
  boolean isWhole();

  /** Whether memory can be taken away again from a part of the addresses. */
  boolean gives();

  /** An address of {@code bytes}, or 0 when there are none. */
  long reserve(long bytes);

  /** Puts memory behind whole pages that have none. */
  int commit(long address, long bytes);

  /** Takes the memory behind whole pages away, where it {@link #gives}. */
  int decommit(long address, long bytes);

  /** Gives a whole range back. */
  int unreserve(long address, long bytes);
}
