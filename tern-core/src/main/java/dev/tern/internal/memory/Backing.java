package dev.tern.internal.memory;

/**
 * Where the memory of a {@link Range} comes from. Methods return how many system calls they made.
 */
public interface Backing {
  /** Whether memory comes and goes with all addresses of a range at once, never in parts. */
  boolean isWhole();

  /** The address of {@code bytes} bytes of address space, or 0 when there is none. */
  long reserve(long bytes);

  /**
   * Puts memory behind whole units that have none.
   *
   * @throws OutOfBudgetException when there is none; then nothing has changed
   */
  int commit(long address, long bytes);

  /** Takes the memory behind whole units away; never called where memory {@link #isWhole}. */
  int decommit(long address, long bytes);

  /** Gives a whole range back. */
  int unreserve(long address, long bytes);

  /**
   * The least bytes by which memory comes and goes, a power of two: sizes and addresses of {@link
   * #commit} and {@link #decommit} are multiples of it.
   */
  default long unit() {
    return Pages.PAGE;
  }

  /** Whether the host may read and write the memory. */
  default boolean isReadable() {
    return true;
  }

  /** Whether the checked mode may give a block other memory of the host in its place. */
  default boolean isReplaceable() {
    return isReadable();
  }

  /** The number of the device that has the memory; -1 for memory of the host. */
  default int device() {
    return -1;
  }
}
