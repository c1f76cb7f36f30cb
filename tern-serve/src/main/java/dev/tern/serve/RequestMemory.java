package dev.tern.serve;

/** Bytes that requests may hold in memory at once, beside their bodies. Thread-safe. */
public interface RequestMemory {
  /** As many as they need. */
  RequestMemory UNLIMITED =
      new RequestMemory() {
        @Override
        public boolean take(long bytes) {
          return true;
        }

        @Override
        public void give(long bytes) {
          // Nothing is counted.
        }
      };

  /** Takes {@code bytes}, or says that there is no room for them. */
  boolean take(long bytes);

  /** Gives back what was taken. */
  void give(long bytes);
}
