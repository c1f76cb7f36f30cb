package dev.tern.internal.residency;

/** Gets to know where storages come and go. */
interface Watcher {
  /** Ignores all. */
  Watcher NONE = new Watcher() {};

  /** A storage has memory from here on. */
  default void settled(int storage, long bytes) {}

  /** A storage has no memory any more. */
  default void vacated(int storage) {}

  /** A storage takes the memory of another, which has none any more. */
  default void replaced(int storage, int by) {}
}
