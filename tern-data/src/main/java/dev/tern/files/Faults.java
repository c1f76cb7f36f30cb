package dev.tern.files;

import dev.tern.base.DataException;

/**
 * What becomes of a bad record. A reader reports each fault it finds; where {@link #report}
 * returns, the reader drops the record and goes on with the next it can find, or with the next
 * file.
 */
@FunctionalInterface
public interface Faults {
  /** Stops at the first fault. */
  Faults STRICT =
      fault -> {
        throw fault;
      };

  /** Takes note of {@code fault}, or throws it to stop reading. */
  void report(DataException fault);
}
