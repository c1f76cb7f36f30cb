package dev.tern.internal.remat;

/** Is told when storages get memory and lose it. */
public interface StorageListener {
  StorageListener NONE = new StorageListener() {};

  /** A storage gets memory. */
  default void settled(int storage, long bytes) {}

  /** A storage loses its memory. */
  default void vacated(int storage) {}

  /** A storage loses its memory to another. */
  default void replaced(int storage, int by, long bytes) {
    vacated(storage);
    settled(by, bytes);
  }

  /** The program runs an op; its missing inputs are computed from here on. */
  default void begins(int op) {}

  /** An op ran. */
  default void ran(int op) {}

  /** Ops are about to expire; storages that are resident may not be computed again. */
  default void expires() {}

  /** The program needs a storage from here to the end. */
  default void pins(int storage) {}
}
