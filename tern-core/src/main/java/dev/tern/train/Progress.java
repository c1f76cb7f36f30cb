package dev.tern.train;

import dev.tern.embedding.config.TableStatistics;
import java.util.List;

/**
 * How a run stands.
 *
 * @param step steps done since the start of the run
 * @param epoch epoch of the last row trained on, from 0
 * @param split what the loss and AUC are of
 * @param loss mean log loss over the rows since the last report, or of the evaluation
 * @param auc area under the ROC curve over the same rows; NaN where it is not defined
 * @param calibration mean prediction over mean label of the same rows; infinite without clicks
 * @param samplesPerSecond rows trained (or evaluated) a second, time for other things left out
 * @param waiting share of the time of these rows that the training thread waited for them to be
 *     read, 0 to 1; NaN in an evaluation
 * @param memoryBytes most off-heap memory in use since the last report
 * @param fractionDone share of the run that is done, 0 to 1; NaN while not known
 * @param secondsLeft seconds until the run ends at this pace; NaN while not known
 * @param tables the tables as they are
 */
public record Progress(
    long step,
    int epoch,
    Split split,
    double loss,
    double auc,
    double calibration,
    double samplesPerSecond,
    double waiting,
    long memoryBytes,
    double fractionDone,
    double secondsLeft,
    List<TableStatistics> tables) {
  /** Rows trained on or rows held out. */
  public enum Split {
    TRAIN,
    EVAL
  }

  /** Takes reports as a run goes on, in the training thread. */
  @FunctionalInterface
  public interface Listener {
    void report(Progress progress);

    /** Ignores all reports. */
    static Listener none() {
      return progress -> {};
    }
  }
}
