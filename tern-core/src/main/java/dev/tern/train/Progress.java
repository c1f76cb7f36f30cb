package dev.tern.train;

import dev.tern.data.encode.ColumnCounts;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.metrics.Metrics;
import dev.tern.metrics.TaskMetrics;
import java.util.List;
import java.util.Optional;

/**
 * A report of a run: figures of the rows trained on since the last report, or of an evaluation.
 *
 * @param step steps done since the start of the run
 * @param epoch epoch of the last row trained on, from 0
 * @param rows which rows the metrics are about
 * @param tasks loss, AUC and calibration over these rows, of each task of the model in order
 * @param pace speed, and how far the run is
 * @param memoryBytes most off-heap memory in use since the last report
 * @param tables statistics of each embedding table
 */
public record Progress(
    long step,
    int epoch,
    Rows rows,
    List<TaskMetrics.Result> tasks,
    Pace pace,
    long memoryBytes,
    List<TableStatistics> tables) {
  /**
   * Rows that metrics are about.
   *
   * @param split trained on or held out
   * @param columns in an evaluation, their missing and unknown values
   * @param loss of rows trained on, what training minimizes: the mean of their steps' losses, each
   *     before its update; NaN in an evaluation
   */
  public record Rows(Split split, Optional<ColumnCounts> columns, double loss) {}

  /** Rows trained on or rows held out. */
  public enum Split {
    TRAIN,
    EVAL
  }

  /**
   * Speed of a run.
   *
   * @param samplesPerSecond rows trained on (or evaluated) a second, without time for other things
   * @param waiting share of the time of these rows that the training thread waited for them to be
   *     read, 0 to 1; NaN in an evaluation
   * @param fractionDone share of the run that is done, 0 to 1; NaN while unknown
   * @param secondsLeft seconds until the run ends at this pace; NaN while unknown
   */
  public record Pace(
      double samplesPerSecond, double waiting, double fractionDone, double secondsLeft) {}

  /** Loss, AUC and calibration of the first task, if it predicts probabilities. */
  public Metrics.Result metrics() {
    return tasks.getFirst().metrics();
  }

  /** Whether the metrics are about rows trained on or rows held out. */
  public Split split() {
    return rows.split();
  }

  /** In an evaluation, missing and unknown values of its rows. */
  public Optional<ColumnCounts> columns() {
    return rows.columns();
  }

  /** Takes reports during a run, in the training thread. */
  @FunctionalInterface
  public interface Listener {
    void report(Progress progress);

    /** Ignores all reports. */
    static Listener none() {
      return progress -> {};
    }
  }
}
