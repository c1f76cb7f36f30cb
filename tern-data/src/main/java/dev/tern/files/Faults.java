package dev.tern.files;

import dev.tern.base.DataException;
import java.nio.file.Path;

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

  /**
   * Is told of each sound row of a text file that takes several lines, as a quote that is left open
   * and closed by chance makes one of many rows.
   *
   * @param first its first line, counted from 1
   * @param last its last line
   */
  default void tookLines(Path file, long first, long last) {}
}
