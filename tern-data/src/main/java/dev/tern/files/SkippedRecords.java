package dev.tern.files;

import dev.tern.base.DataException;
import dev.tern.data.encode.TextHash;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Leaves bad records out, up to a limit of rows. A fault counts with the rows that it costs ({@link
 * DataException#rows}): 1 for a bad record, the lines behind a quote left open, what is left of a
 * file that cannot be read any further. A fault that costs nobody knows how many rows stops the
 * reader, so that rows read and rows left out are always those of the files.
 *
 * <p>Each fault counts once, however often it is read: faults name the place where they are. So a
 * file that one reader is given twice counts once. Where a page of Parquet is damaged, the rows
 * that go with it depend on where reading began; the most that it cost in any pass counts.
 * Thread-safe.
 */
public final class SkippedRecords implements Faults {
  private final long most;

  /** The rows that the fault at each place cost, by the hash of its message. */
  private final Map<Long, Long> places = new HashMap<>();

  private long rows;
  private Optional<DataException> first = Optional.empty();

  /**
   * Leaves rows out.
   *
   * @param most how many; one more stops the reader
   */
  public SkippedRecords(long most) {
    if (most < 0) {
      throw new IllegalArgumentException("read: got " + most + " bad records, expected 0 or more");
    }
    this.most = most;
  }

  @Override
  public synchronized void report(DataException fault) {
    String message = String.valueOf(fault.getMessage());
    long place = TextHash.of(message);
    long before = places.getOrDefault(place, 0L);
    if (fault.rows() != DataException.UNKNOWN_ROWS && fault.rows() <= before) {
      return;
    }
    if (fault.rows() == DataException.UNKNOWN_ROWS) {
      throw new DataException(
              message
                  + "; it leaves out nobody knows how many rows, so bad records cannot be skipped"
                  + " here: mend the file or take it out",
              fault)
          .losing(DataException.UNKNOWN_ROWS);
    }
    long more = fault.rows() - before;
    if (more > most - rows) {
      String lost = fault.rows() == 1 ? "" : " with the " + fault.rows() + " that this fault costs";
      throw new DataException(
          message + "; got more than " + most + " bad records" + lost + ", expected at most that",
          fault);
    }
    places.put(place, fault.rows());
    rows += more;
    first = first.or(() -> Optional.of(fault));
  }

  /** How many rows were left out. */
  public synchronized long count() {
    return rows;
  }

  /** How many faults they were left out for. */
  public synchronized int faults() {
    return places.size();
  }

  /** What was wrong with the first. */
  public synchronized Optional<DataException> first() {
    return first;
  }
}
