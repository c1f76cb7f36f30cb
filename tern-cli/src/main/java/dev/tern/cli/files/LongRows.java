package dev.tern.cli.files;

import dev.tern.base.DataException;
import dev.tern.cli.run.Format;
import dev.tern.files.Faults;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Counts rows that take several lines of a text file. They are good where a field holds an end of
 * line, but a quote that is left open and closed by chance makes such a row, too.
 */
public final class LongRows {
  private long count;
  private long mostLines;
  private String longest = "";

  /** {@code faults}, and rows over several lines are counted. */
  public Faults over(Faults faults) {
    return new Faults() {
      @Override
      public void report(DataException fault) {
        faults.report(fault);
      }

      @Override
      public void tookLines(Path file, long first, long last) {
        add(file, first, last);
      }
    };
  }

  private void add(Path file, long first, long last) {
    count++;
    if (last - first + 1 > mostLines) {
      mostLines = last - first + 1;
      longest = "%s lines %s to %s".formatted(Format.path(file), first, last);
    }
  }

  /** A line that says how many there were and which is the longest, if there were some. */
  public Optional<String> note() {
    return count == 0
        ? Optional.empty()
        : Optional.of(
            "rows over several lines: %s, the longest %s; a quote left open makes such rows, too"
                .formatted(Format.whole(count), longest));
  }
}
