package dev.tern.internal.remat;

/** Is told when storages get memory and lose it. */
public interface StorageListener {
  /** Ignores all. */
  StorageListener NONE = new StorageListener() {};

  /** A storage has memory from here on. */
  default void settled(int storage, long bytes) {}

  /** A storage has no memory any more. */
  default void vacated(int storage) {}

  /** A storage takes the memory of another, which has none any more. */
  default void replaced(int storage, int by, long bytes) {
    vacated(storage);
    settled(by, bytes);
  }

  /** The program runs an op; what it lacks is computed from here on. */
  default void begins(int op) {}

  /** An op ran. */
  default void ran(int op) {}

  /** Ops are about to expire; what is resident may be all there will be of it. */
  default void expires() {}

  /** The program needs a storage from here to the end. */
  default void pins(int storage) {}
}
