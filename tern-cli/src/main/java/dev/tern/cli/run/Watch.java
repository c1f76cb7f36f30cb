package dev.tern.cli.run;

/** Shows the progress of long work, with the time that is left. */
public interface Watch extends AutoCloseable {
  /**
   * Begins a piece of work.
   *
   * @param task what is done, in a word
   * @param unit what is counted, in the plural
   * @param done how much is done already
   * @param total how much there is, or 0 where that is not known
   */
  void begin(String task, String unit, long done, long total);

  /** Shows that {@code done} of the work is done, followed by {@code facts}. */
  void update(long done, String facts);

  /** Prints a line that stays. */
  void note(String line);

  /** Ends the line of progress. */
  @Override
  void close();
}
