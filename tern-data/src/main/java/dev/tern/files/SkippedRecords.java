package dev.tern.files;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextHash;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Leaves bad records out, up to a limit. Each counts once, however often it is read: faults name
 * the place where they are. A file that cannot be read any further counts as one, with all that is
 * left of it. Thread-safe.
 */
public final class SkippedRecords implements Faults {
  private final int most;
  private final Set<Long> places = new HashSet<>();
  private Optional<DataException> first = Optional.empty();

  /**
   * @param most how many to leave out; one more stops the reader
   */
  public SkippedRecords(int most) {
    if (most < 0) {
      throw new IllegalArgumentException("read: got " + most + " bad records, expected 0 or more");
    }
    this.most = most;
  }

  @Override
  public synchronized void report(DataException fault) {
    String message = String.valueOf(fault.getMessage());
    if (places.contains(TextHash.of(message))) {
      return;
    }
    if (places.size() == most) {
      throw new DataException(
          message + "; got more than " + most + " bad records, expected at most that", fault);
    }
    places.add(TextHash.of(message));
    first = first.or(() -> Optional.of(fault));
  }

  /** How many were left out. */
  public synchronized int count() {
    return places.size();
  }

  /** What was wrong with the first. */
  public synchronized Optional<DataException> first() {
    return first;
  }
}
