package dev.tern.train;

import dev.tern.checkpoint.RunState;
import dev.tern.data.Batch;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.metrics.TaskMetrics;
import dev.tern.model.Network;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/** Collects figures of the rows trained on since the last report, for {@link Progress}. */
final class Reporter {
  private final Progress.Listener listener;
  private final Network network;
  private final LongSupplier waited;
  private final TaskMetrics metrics;
  private double totalRows = Double.NaN;
  private long firstRow;
  private long rowsDone;
  private long rowsSince;
  private double lossSince;
  private long memorySince;
  private long busySince;
  private long busyTotal;
  private long waitedBefore;

  /**
   * @param waited nanoseconds that the training thread has waited for rows so far
   */
  Reporter(Progress.Listener listener, Network network, LongSupplier waited) {
    this.listener = listener;
    this.network = network;
    metrics = new TaskMetrics(network.tasks());
    this.waited = waited;
  }

  /** Begins at {@code state} of a run of so many epochs. */
  void begin(OptionalLong rowsPerEpoch, int epochs, RunState state) {
    if (rowsPerEpoch.isPresent()) {
      totalRows = (double) rowsPerEpoch.getAsLong() * epochs;
    }
    firstRow = rowsPerEpoch.orElse(0) * state.epoch() + state.rows();
    rowsDone = firstRow;
  }

  /** Notes a batch that was trained on: its logits and its step. */
  void trained(float[] logits, Batch batch, StepResult step) {
    int rows = batch.size();
    metrics.addLogits(logits, batch);
    long memory = network.device().memoryInUse();
    memorySince = rowsSince == 0 ? memory : Math.max(memorySince, memory);
    rowsDone += rows;
    rowsSince += rows;
    lossSince += (double) step.loss() * rows;
    busySince += step.nanos();
    busyTotal += step.nanos();
  }

  /** Reports the rows trained on since the last report, if there are any. */
  void reportTraining(RunState state) {
    if (rowsSince == 0) {
      return;
    }
    List<TaskMetrics.Result> results = metrics.results();
    long waitedNow = waited.getAsLong();
    double waiting = (double) (waitedNow - waitedBefore) / (waitedNow - waitedBefore + busySince);
    double rate = perSecond(rowsSince, busySince);
    listener.report(progress(state, results, Optional.empty(), rate, waiting));
    waitedBefore = waitedNow;
    metrics.clear();
    rowsSince = 0;
    lossSince = 0;
    busySince = 0;
  }

  void reportEvaluation(
      RunState state, List<TaskMetrics.Result> results, ColumnCounts columns, long nanos) {
    double rate = perSecond(columns.rows(), nanos);
    listener.report(progress(state, results, Optional.of(columns), rate, Double.NaN));
  }

  private Progress progress(
      RunState state,
      List<TaskMetrics.Result> results,
      Optional<ColumnCounts> columns,
      double samplesPerSecond,
      double waiting) {
    double pace = perSecond(rowsDone - firstRow, busyTotal);
    Progress.Pace timing =
        new Progress.Pace(
            samplesPerSecond,
            waiting,
            Math.min(1, rowsDone / totalRows),
            (totalRows - rowsDone) / pace);
    return new Progress(
        state.step(),
        state.epochOfLastRow(),
        new Progress.Rows(
            columns.isPresent() ? Progress.Split.EVAL : Progress.Split.TRAIN,
            columns,
            columns.isPresent() ? Double.NaN : lossSince / rowsSince),
        results,
        timing,
        Math.max(memorySince, network.device().memoryInUse()),
        network.tables().statistics());
  }

  private static double perSecond(long rows, long nanos) {
    return rows * 1e9 / Math.max(1, nanos);
  }
}
