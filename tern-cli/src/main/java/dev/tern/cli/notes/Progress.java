package dev.tern.cli.notes;

import dev.tern.base.Shown;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.Watch;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Shows the progress of long work: on a terminal as one line that is overwritten, elsewhere as a
 * line now and then. Work that ends quickly shows nothing. Any thread may {@link #note}.
 */
public final class Progress implements Watch {
  private static final long TERMINAL_NANOS = TimeUnit.MILLISECONDS.toNanos(150);
  private static final long PLAIN_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int BAR = 20;

  /** Back to the start of the line, erase it, and cut text that would need a second line. */
  private static final String REWRITE = "\r\u001b[2K\u001b[?7l";

  private static final String WRAP = "\u001b[?7h";

  private final PrintWriter err;
  private final boolean terminal;
  private final LongSupplier clock;
  private String task = "";
  private String unit = "";
  private long total;
  private long first;
  private long begun;
  private long shown;
  private boolean lineOpen;

  /**
   * Shows progress on {@code err}.
   *
   * @param terminal whether lines can be written over
   * @param clock nanoseconds
   */
  Progress(PrintWriter err, boolean terminal, LongSupplier clock) {
    this.err = err;
    this.terminal = terminal;
    this.clock = clock;
  }

  /** Progress of a command: written over where the launcher says that errors go to a terminal. */
  public static Progress of(PrintWriter err) {
    return new Progress(err, Boolean.getBoolean("tern.terminal"), System::nanoTime);
  }

  /**
   * Begins a piece of work.
   *
   * @param task what is done, in a word
   * @param unit what is counted, in the plural
   * @param done how much is done already
   * @param total how much there is, or 0 where that is not known
   */
  @Override
  public synchronized void begin(String task, String unit, long done, long total) {
    clear();
    this.task = task;
    this.unit = unit;
    this.total = total;
    first = done;
    begun = clock.getAsLong();
    shown = begun;
  }

  /** Shows that {@code done} of the work is done, followed by {@code facts}. */
  @Override
  public synchronized void update(long done, String facts) {
    long now = clock.getAsLong();
    if (now - shown < (terminal ? TERMINAL_NANOS : PLAIN_NANOS)) {
      return;
    }
    shown = now;
    String line = line(done, facts, (now - begun) / 1e9);
    if (terminal) {
      err.print(REWRITE + line + WRAP);
      lineOpen = true;
    } else {
      err.println(line);
    }
    err.flush();
  }

  private String line(long done, String facts, double seconds) {
    StringBuilder out = new StringBuilder(task).append("  ");
    if (total > 0) {
      double share = Math.min(1, (double) done / total);
      if (terminal) {
        int filled = (int) (share * BAR);
        out.append("#".repeat(filled)).append("-".repeat(BAR - filled)).append(' ');
      }
      out.append(String.format(Locale.ROOT, "%3.0f%%  %,d/%,d %s", share * 100, done, total, unit));
    } else {
      out.append(Format.whole(done)).append(' ').append(unit);
    }
    if (!facts.isEmpty()) {
      out.append("  ").append(facts);
    }
    if (total > done && done > first) {
      double left = seconds / (done - first) * (total - done);
      out.append("  ").append(Format.time(left)).append(" left");
    }
    return out.toString();
  }

  /** Prints a line that stays, as {@link Shown#message} shows it. */
  @Override
  public synchronized void note(String line) {
    clear();
    err.println(Shown.message(line));
    err.flush();
  }

  private void clear() {
    if (lineOpen) {
      err.print("\r\u001b[2K");
      err.flush();
      lineOpen = false;
    }
  }

  /** Erases the line from the terminal. */
  @Override
  public synchronized void close() {
    clear();
  }
}
