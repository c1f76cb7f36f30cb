package dev.tern.train;

import dev.tern.metrics.GroupMetrics;
import dev.tern.metrics.GroupedRows;
import dev.tern.metrics.Metrics;
import dev.tern.metrics.RetrievalMetrics;
import dev.tern.metrics.TaskMetrics;
import dev.tern.metrics.ValueMetrics;
import dev.tern.model.Loss;
import dev.tern.model.Task;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * The figure of evaluations that decides which checkpoint is the best, and when a run stops early.
 *
 * @param figure which one
 * @param task the label of the task that it is of; empty for the first task
 */
public record Monitor(Figure figure, String task) {
  /** The AUC of the first task. */
  public static final Monitor AUC = new Monitor(Figure.AUC, "");

  /**
   * Figures of {@link Metrics.Result}, for tasks that predict values of {@link ValueMetrics}, of
   * {@link GroupMetrics}, and of {@link RetrievalMetrics}.
   */
  public enum Figure {
    /**
     * {@link Metrics.Result#auc}: more is better. A task that predicts values has none: its mean
     * loss decides, and less is better; so for classes, of all of them.
     */
    AUC,
    /** {@link Metrics.Result#logLoss}: less is better. Of classes, that of all of them. */
    LOG_LOSS,
    /** {@link Metrics.Result#normalizedEntropy}: less is better. */
    NORMALIZED_ENTROPY,
    /** {@link ValueMetrics.Result#mse}: less is better. */
    MSE,
    /** {@link ValueMetrics.Result#mae}: less is better. */
    MAE,
    /** {@link ValueMetrics.Result#r2}: more is better. */
    R2,
    /** {@link ValueMetrics.Result#smape}: less is better. */
    SMAPE,
    /**
     * {@link GroupMetrics.Auc#byRows} of the groups of {@link TrainOptions#group}: more is better.
     */
    GAUC,
    /**
     * {@link RetrievalMetrics.Result#recall} among the best of {@link TrainOptions#recallAt}: more
     * is better. Of two towers alone.
     */
    RECALL
  }

  /** Figures of tasks that predict values. */
  private static final Set<Figure> OF_VALUES =
      EnumSet.of(Figure.MSE, Figure.MAE, Figure.R2, Figure.SMAPE);

  /** Checks that nothing is null. */
  public Monitor {
    Objects.requireNonNull(figure, "figure");
    Objects.requireNonNull(task, "task");
  }

  /** A figure of the first task. */
  public static Monitor of(Figure figure) {
    return new Monitor(figure, "");
  }

  /** The place of its task among those of a model. */
  int index(List<Task> tasks) {
    for (int k = 0; k < tasks.size(); k++) {
      if (task.isEmpty() || names(tasks.get(k))) {
        requireFigure(tasks.get(k));
        return k;
      }
    }
    throw new IllegalArgumentException(
        "monitor: got the task %s, expected one of %s"
            .formatted(task, tasks.stream().map(Task::label).toList()));
  }

  private boolean names(Task of) {
    return of.label().equals(task) || of.column().equals(task);
  }

  private void requireFigure(Task of) {
    if (figure == Figure.RECALL) {
      return; // Not of a task, but of the model.
    }
    if (of.loss() instanceof Loss.OfClass && figure != Figure.AUC && figure != Figure.LOG_LOSS) {
      throw new IllegalArgumentException(
          "monitor: got %s for the classes of %s, expected LOG_LOSS; take that"
              .formatted(figure, of.column()));
    }
    if (of.loss() instanceof Loss.Pairwise && figure != Figure.AUC && figure != Figure.GAUC) {
      throw new IllegalArgumentException(
          "monitor: got %s for the task %s with the loss %s, whose scores are no probabilities, expected AUC or GAUC; take one of these"
              .formatted(figure, of.label(), of.loss()));
    }
    boolean probability = of.loss().hasAuc();
    if (figure == Figure.GAUC && !GroupedRows.isOf(of)) {
      throw new IllegalArgumentException(
          "monitor: got GAUC for the task %s with the loss %s, expected a task of labels 0 and 1; take another figure"
              .formatted(of.label(), of.loss()));
    }
    if (figure != Figure.AUC && OF_VALUES.contains(figure) == probability) {
      throw new IllegalArgumentException(
          "monitor: got %s for the task %s with the loss %s, expected a figure of %s"
              .formatted(
                  figure,
                  of.label(),
                  of.loss(),
                  probability
                      ? "probabilities: AUC, LOG_LOSS or NORMALIZED_ENTROPY"
                      : "values: MSE, MAE, R2 or SMAPE"));
    }
  }

  /** The figure of an evaluation; NaN where its rows do not tell. */
  double value(TaskMetrics.Result result) {
    if (figure == Figure.GAUC) {
      return result.groups().map(groups -> groups.auc().byRows()).orElse(Double.NaN);
    }
    if (figure == Figure.RECALL) {
      return result.retrieval().map(RetrievalMetrics.Result::recall).orElse(Double.NaN);
    }
    if (result.classes().isPresent()) {
      return result.classes().get().logLoss();
    }
    return result.values().map(this::value).orElseGet(() -> value(result.metrics()));
  }

  private double value(Metrics.Result result) {
    return switch (figure) {
      case AUC -> result.auc();
      case LOG_LOSS -> result.logLoss();
      case NORMALIZED_ENTROPY -> result.normalizedEntropy();
      case MSE, MAE, R2, SMAPE, GAUC, RECALL -> Double.NaN;
    };
  }

  private double value(ValueMetrics.Result result) {
    return switch (figure) {
      case MSE -> result.mse();
      case MAE -> result.mae();
      case R2 -> result.r2();
      case SMAPE -> result.smape();
      case AUC, LOG_LOSS, NORMALIZED_ENTROPY -> result.loss();
      case GAUC, RECALL -> Double.NaN;
    };
  }

  /** Whether a result is better than one with the figure {@code best}, where NaN is no figure. */
  boolean isBetter(TaskMetrics.Result result, double best) {
    boolean loss =
        figure == Figure.AUC && (result.values().isPresent() || result.classes().isPresent());
    return isBetter(value(result), best, !loss && isMore());
  }

  /** Whether {@code value} is better than {@code best}, where NaN is no value. */
  boolean isBetter(double value, double best) {
    return isBetter(value, best, isMore());
  }

  private boolean isMore() {
    return figure == Figure.AUC
        || figure == Figure.GAUC
        || figure == Figure.R2
        || figure == Figure.RECALL;
  }

  private static boolean isBetter(double value, double best, boolean more) {
    if (Double.isNaN(value) || Double.isNaN(best)) {
      return !Double.isNaN(value);
    }
    return more ? value > best : value < best;
  }

  /** Its name for a task, where one of values or classes has its loss in the place of AUC. */
  public String name(boolean ofValues) {
    return ofValues && figure == Figure.AUC
        ? "loss" + (task.isEmpty() ? "" : " of " + task)
        : toString();
  }

  /** The figure in words, with its task where that is named, as in "log loss of buy". */
  @Override
  public String toString() {
    String name =
        switch (figure) {
          case AUC, GAUC, MSE, MAE, R2, SMAPE -> figure.name();
          case LOG_LOSS, NORMALIZED_ENTROPY, RECALL ->
              figure.name().toLowerCase(Locale.ROOT).replace('_', ' ');
        };
    return task.isEmpty() ? name : name + " of " + task;
  }
}
