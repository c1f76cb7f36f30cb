package dev.tern.cli.tune;

import dev.tern.cli.run.EvaluatedTask;
import dev.tern.cli.run.MetricsLine;
import dev.tern.metrics.ClassMetrics;
import dev.tern.train.Monitor;
import java.util.Optional;

/**
 * The figure by which trials are compared: the one that decides in training which checkpoint is the
 * best.
 *
 * @param name in words
 * @param more whether more is better
 */
record Goal(String name, boolean more) {
  /** The figure that {@code monitor} has for the task of {@code line}. */
  static Goal of(Monitor monitor, MetricsLine line) {
    boolean loss = values(monitor, line).isPresent() || classes(monitor, line).isPresent();
    boolean more =
        switch (monitor.figure()) {
          case AUC -> !loss;
          case GAUC, RECALL, R2 -> true;
          case LOG_LOSS, NORMALIZED_ENTROPY, MSE, MAE, SMAPE -> false;
        };
    // On the same rows it is the log loss by a constant.
    String name =
        monitor.figure() == Monitor.Figure.NORMALIZED_ENTROPY
            ? new Monitor(Monitor.Figure.LOG_LOSS, monitor.task()).toString()
            : monitor.name(loss);
    return new Goal(name, more);
  }

  /** Its value in an evaluation; NaN where the evaluation does not tell. */
  static double value(Monitor monitor, MetricsLine line) {
    Optional<ClassMetrics.Result> classes = classes(monitor, line);
    Optional<MetricsLine.Values> values = values(monitor, line);
    return switch (monitor.figure()) {
      case AUC ->
          classes
              .map(ClassMetrics.Result::logLoss)
              .orElseGet(() -> values.isPresent() ? loss(monitor, line) : auc(monitor, line));
      case LOG_LOSS, NORMALIZED_ENTROPY ->
          classes.map(ClassMetrics.Result::logLoss).orElseGet(() -> loss(monitor, line));
      case GAUC -> evaluated(monitor, line).map(EvaluatedTask::gauc).orElse(Double.NaN);
      case RECALL -> line.recall();
      case MSE -> values.map(MetricsLine.Values::mse).orElse(Double.NaN);
      case MAE -> values.map(MetricsLine.Values::mae).orElse(Double.NaN);
      case R2 -> values.map(MetricsLine.Values::r2).orElse(Double.NaN);
      case SMAPE -> values.map(MetricsLine.Values::smape).orElse(Double.NaN);
    };
  }

  /** Whether {@code value} is better than {@code other}, where NaN is no value. */
  boolean isBetter(double value, double other) {
    if (Double.isNaN(value) || Double.isNaN(other)) {
      return !Double.isNaN(value);
    }
    return more ? value > other : value < other;
  }

  /** The task of a monitor that names one, in a line of several. */
  private static Optional<MetricsLine.Task> task(Monitor monitor, MetricsLine line) {
    return line.tasks().stream().filter(task -> task.name().equals(monitor.task())).findFirst();
  }

  private static double auc(Monitor monitor, MetricsLine line) {
    return task(monitor, line).map(MetricsLine.Task::auc).orElse(line.auc());
  }

  private static double loss(Monitor monitor, MetricsLine line) {
    return task(monitor, line).map(MetricsLine.Task::loss).orElse(line.loss());
  }

  private static Optional<MetricsLine.Values> values(Monitor monitor, MetricsLine line) {
    return task(monitor, line).map(MetricsLine.Task::values).orElse(line.values());
  }

  private static Optional<EvaluatedTask> evaluated(Monitor monitor, MetricsLine line) {
    return line.evaluated().stream()
        .filter(task ->
            monitor.task().isEmpty()
                || task.name().equals(monitor.task())
                || task.classes().filter(of -> of.label().equals(monitor.task())).isPresent())
        .findFirst();
  }

  private static Optional<ClassMetrics.Result> classes(Monitor monitor, MetricsLine line) {
    return evaluated(monitor, line).flatMap(EvaluatedTask::classes);
  }
}
