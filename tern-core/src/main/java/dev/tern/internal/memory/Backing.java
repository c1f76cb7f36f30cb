package dev.tern.internal.memory;

/**
 * Where the memory of a {@link Range} comes from. Methods return how many system calls they made.
 */
interface Backing {
  /** Whether memory comes and goes with all addresses of a range at once, never in parts. */
  boolean isWhole();

  /** The address of {@code bytes} bytes of address space, or 0 when there is none. */
  long reserve(long bytes);

  /** Puts memory behind whole pages that have none. */
  int commit(long address, long bytes);

  /** Takes the memory behind whole pages away; never called where memory {@link #isWhole}. */
  int decommit(long address, long bytes);

  /** Gives a whole range back. */
  int unreserve(long address, long bytes);
}
