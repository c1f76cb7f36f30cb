package dev.tern.train;

import dev.tern.checkpoint.RunState;
import dev.tern.model.Network;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/** Collects the rows trained since the last report and turns them into {@link Progress}. */
final class Reporter {
  private final Progress.Listener listener;
  private final Network network;
  private final LongSupplier waited;
  private final double totalRows;
  private final long firstRow;
  private final Metrics metrics = new Metrics();
  private float[] labels = new float[0];
  private long rowsDone;
  private long rowsSince;
  private long memorySince;
  private long busySince;
  private long busyTotal;
  private long waitedBefore;

  /**
   * @param waited nanoseconds that the training thread has waited for rows so far
   */
  Reporter(
      Progress.Listener listener,
      Network network,
      LongSupplier waited,
      OptionalLong rowsPerEpoch,
      int epochs,
      RunState state) {
    this.listener = listener;
    this.network = network;
    this.waited = waited;
    totalRows = rowsPerEpoch.isPresent() ? (double) rowsPerEpoch.getAsLong() * epochs : Double.NaN;
    firstRow = rowsPerEpoch.orElse(0) * state.epoch() + state.rows();
    rowsDone = firstRow;
  }

  /** Notes a batch: its logits, the labels ({@code L} a row), and the time its step took. */
  void trained(float[] logits, float[] batchLabels, int labelDim, int rows, long nanos) {
    if (labels.length < rows) {
      labels = new float[rows];
    }
    for (int i = 0; i < rows; i++) {
      labels[i] = batchLabels[i * labelDim];
    }
    metrics.addLogits(logits, labels, rows);
    long memory = network.device().memoryInUse();
    memorySince = rowsSince == 0 ? memory : Math.max(memorySince, memory);
    rowsDone += rows;
    rowsSince += rows;
    busySince += nanos;
    busyTotal += nanos;
  }

  /** Reports what was trained since the last report, if anything. */
  void reportTraining(RunState state) {
    if (rowsSince == 0) {
      return;
    }
    Metrics.Result result = metrics.result();
    long waitedNow = waited.getAsLong();
    double waiting = (double) (waitedNow - waitedBefore) / (waitedNow - waitedBefore + busySince);
    double rate = perSecond(rowsSince, busySince);
    listener.report(progress(state, Progress.Split.TRAIN, result, rate, waiting));
    waitedBefore = waitedNow;
    metrics.clear();
    rowsSince = 0;
    busySince = 0;
  }

  void reportEvaluation(RunState state, Metrics.Result result, long nanos) {
    double rate = perSecond(result.rows(), nanos);
    listener.report(progress(state, Progress.Split.EVAL, result, rate, Double.NaN));
  }

  private Progress progress(
      RunState state,
      Progress.Split split,
      Metrics.Result result,
      double samplesPerSecond,
      double waiting) {
    double pace = perSecond(rowsDone - firstRow, busyTotal);
    return new Progress(
        state.step(),
        state.epochOfLastRow(),
        split,
        result.logLoss(),
        result.auc(),
        result.calibration(),
        samplesPerSecond,
        waiting,
        Math.max(memorySince, network.device().memoryInUse()),
        Math.min(1, rowsDone / totalRows),
        (totalRows - rowsDone) / pace,
        network.tables().statistics());
  }

  private static double perSecond(long rows, long nanos) {
    return rows * 1e9 / Math.max(1, nanos);
  }
}
