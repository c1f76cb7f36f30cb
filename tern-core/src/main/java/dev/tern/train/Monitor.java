package dev.tern.train;

import dev.tern.model.Task;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * The figure of evaluations that decides which checkpoint is the best, and when a run stops early.
 *
 * @param figure which one
 * @param task the label of the task that it is of; empty for the first task
 */
public record Monitor(Figure figure, String task) {
  /** The AUC of the first task. */
  public static final Monitor AUC = new Monitor(Figure.AUC, "");

  /** Figures of {@link Metrics.Result}. */
  public enum Figure {
    /** {@link Metrics.Result#auc}: more is better. */
    AUC,
    /** {@link Metrics.Result#logLoss}: less is better. */
    LOG_LOSS,
    /** {@link Metrics.Result#normalizedEntropy}: less is better. */
    NORMALIZED_ENTROPY
  }

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
      if (task.isEmpty() || tasks.get(k).label().equals(task)) {
        return k;
      }
    }
    throw new IllegalArgumentException(
        "monitor: got the task %s, expected one of %s"
            .formatted(task, tasks.stream().map(Task::label).toList()));
  }

  /** The figure of an evaluation; NaN where its rows do not tell. */
  double value(Metrics.Result result) {
    return switch (figure) {
      case AUC -> result.auc();
      case LOG_LOSS -> result.logLoss();
      case NORMALIZED_ENTROPY -> result.normalizedEntropy();
    };
  }

  /** Whether {@code value} is better than {@code best}, where NaN is no value. */
  boolean isBetter(double value, double best) {
    if (Double.isNaN(value) || Double.isNaN(best)) {
      return !Double.isNaN(value);
    }
    return figure == Figure.AUC ? value > best : value < best;
  }

  /** The figure in words, with its task where that is named, as in "log loss of buy". */
  @Override
  public String toString() {
    String name =
        figure == Figure.AUC ? "AUC" : figure.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    return task.isEmpty() ? name : name + " of " + task;
  }
}
