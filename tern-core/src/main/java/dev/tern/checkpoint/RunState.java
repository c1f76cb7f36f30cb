package dev.tern.checkpoint;

/**
 * The position of a run between two steps. Together with weights, optimizer state and settings it
 * determines all that follows.
 *
 * @param step steps done
 * @param epoch current epoch, from 0
 * @param rows rows used in this epoch
 * @param best the figure that decides, such as the AUC, in the best evaluation so far; NaN before
 *     the first
 * @param bestStep step of that evaluation
 * @param stale evaluations since the best one
 */
public record RunState(long step, int epoch, long rows, double best, long bestStep, int stale) {
  public static final RunState START = new RunState(0, 0, 0, Double.NaN, 0, 0);

  public RunState afterBatch(int size) {
    return new RunState(step + 1, epoch, rows + size, best, bestStep, stale);
  }

  public RunState nextEpoch() {
    return new RunState(step, epoch + 1, 0, best, bestStep, stale);
  }

  /** After an evaluation that is the best one so far; {@code value} is the figure that decides. */
  public RunState bestAt(double value) {
    return new RunState(step, epoch, rows, value, step, 0);
  }

  /** After an evaluation that is not the best. */
  public RunState notBest() {
    return new RunState(step, epoch, rows, best, bestStep, stale + 1);
  }

  /** This position as if there had been no evaluation. */
  public RunState withoutBest() {
    return new RunState(step, epoch, rows, Double.NaN, 0, 0);
  }

  /** The epoch of the last row used: an epoch begins with its first row. */
  public int epochOfLastRow() {
    return rows == 0 && epoch > 0 ? epoch - 1 : epoch;
  }
}
