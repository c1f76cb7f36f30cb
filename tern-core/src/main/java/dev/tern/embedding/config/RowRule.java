package dev.tern.embedding.config;

import dev.tern.optim.Optimizer;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;

/**
 * The optimizer of a table's rows. The first weights of each row, the head, may have an optimizer
 * of their own. Example: FTRL updates the first of 17 weights, the linear weight of the id, and
 * Adagrad the other 16 (McMahan et al., "Ad Click Prediction: a View from the Trenches", KDD 2013,
 * use FTRL for linear weights).
 *
 * @param optimizer updates all weights, or the weights after the head
 * @param head the first weights, if they have an optimizer of their own; then neither optimizer may
 *     update all rows in each step, as Adam that is not lazy does
 */
public record RowRule(Optimizer optimizer, Optional<Head> head) {
  /**
   * The first weights of a row.
   *
   * @param width how many: 1 or more, fewer than the row has
   * @param optimizer updates them. A schedule scales both learning rates by the same factor: with
   *     lr 0.2 here and 0.1 for the other weights, a step at rate 0.05 uses 0.1 here
   */
  public record Head(int width, Optimizer optimizer) {
    public Head {
      Objects.requireNonNull(optimizer, "optimizer");
      if (width < 1) {
        throw new IllegalArgumentException(
            "row rule: got an optimizer of the first " + width + " weights, expected 1 or more");
      }
    }
  }

  public RowRule {
    Objects.requireNonNull(optimizer, "optimizer");
    if (head.isPresent() && (updatesAll(optimizer) || updatesAll(head.get().optimizer()))) {
      throw new IllegalArgumentException(
          "row rule: got Adam that updates all rows in each step beside another optimizer,"
              + " expected one that leaves rows alone; use lazy Adam");
    }
    if (head.isPresent() && optimizer.lr() == 0 && head.get().optimizer().lr() != 0) {
      throw new IllegalArgumentException(
          "row rule: got learning rates %s of the first weights and 0 of the others, expected one above 0 for both"
              .formatted(head.get().optimizer().lr()));
    }
  }

  /** One optimizer for whole rows. */
  public static RowRule of(Optimizer optimizer) {
    return new RowRule(optimizer, Optional.empty());
  }

  /** One optimizer for the first {@code width} weights, another for the others. */
  public static RowRule withHead(int width, Optimizer first, Optimizer others) {
    return new RowRule(others, Optional.of(new Head(width, first)));
  }

  private static boolean updatesAll(Optimizer optimizer) {
    return optimizer instanceof Optimizer.Adam adam && !adam.lazy();
  }

  /** Whether each step updates all rows of a table. */
  public boolean updatesAllRows() {
    return updatesAll(optimizer);
  }

  /** Weights of the head; 0 where there is none. */
  public int headWidth() {
    return head.isPresent() ? head.get().width() : 0;
  }

  /** Floats of optimizer state of the head. They lie before the state of the other weights. */
  public int headState() {
    return head.isPresent() ? stateFloats(head.get().optimizer(), head.get().width()) : 0;
  }

  /** Floats of optimizer state of a row of {@code width} weights. */
  int stateFloats(int width) {
    return headState() + stateFloats(optimizer, width - headWidth());
  }

  private static int stateFloats(Optimizer optimizer, int width) {
    return switch (optimizer) {
      case Optimizer.Sgd _ -> 0;
      case Optimizer.Momentum _, Optimizer.Nesterov _ -> width;
      case Optimizer.Adagrad _, Optimizer.RmsProp _ -> width;
      case Optimizer.RowWiseAdagrad _ -> 1;
      case Optimizer.Adam adam -> 2 * width + (adam.decays() ? 1 : 0);
      case Optimizer.Ftrl _ -> 2 * width;
    };
  }

  /** The state of a row of {@code width} weights, more than the head has, before any update. */
  public float[] initialState(int width) {
    if (headWidth() >= width) {
      throw new IllegalArgumentException(
          "row rule: got an optimizer of the first %d weights, expected fewer than the %d of a row"
              .formatted(headWidth(), width));
    }
    float[] state = new float[stateFloats(width)];
    head.ifPresent(h -> Arrays.fill(state, 0, headState(), initial(h.optimizer())));
    Arrays.fill(state, headState(), state.length, initial(optimizer));
    return state;
  }

  private static float initial(Optimizer optimizer) {
    return switch (optimizer) {
      case Optimizer.Adagrad adagrad -> adagrad.initial();
      case Optimizer.RowWiseAdagrad adagrad -> adagrad.initial();
      case Optimizer.Sgd _, Optimizer.Momentum _, Optimizer.Nesterov _ -> 0;
      case Optimizer.RmsProp _, Optimizer.Adam _, Optimizer.Ftrl _ -> 0;
    };
  }
}
