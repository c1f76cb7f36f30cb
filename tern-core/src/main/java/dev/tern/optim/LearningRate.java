package dev.tern.optim;

/** The learning rate of each step: a pure function of the step, so a resumed run needs no state. */
public sealed interface LearningRate {
  /** Learning rate of step {@code step}, counted from 1. */
  float at(long step);

  /** The rate {@code lr}, 0 or more, in every step. */
  record Constant(float lr) implements LearningRate {
    public Constant {
      require(lr >= 0 && lr < Float.POSITIVE_INFINITY, "lr", lr, "a finite number of 0 or more");
    }

    @Override
    public float at(long step) {
      requireStep(step);
      return lr;
    }
  }

  /**
   * HugeCTR's schedule. With {@code t} the step:
   *
   * <ul>
   *   <li>{@code t <= warmupSteps}: {@code t * base / warmupSteps};
   *   <li>then {@code base} while {@code t <= decayStart}, or for ever when {@code decayStart} is
   *       0;
   *   <li>then, while {@code t <= decayStart + decaySteps}: {@code base * ((decayStart + decaySteps
   *       - t) / decaySteps) ^ decayPower}, never below {@code endLr};
   *   <li>then {@code endLr}.
   * </ul>
   *
   * @param base rate after warm-up, 0 or more
   * @param warmupSteps steps of linear warm-up, 1 (none) or more
   * @param decayStart last step at the base rate; 0 for no decay
   * @param decaySteps length of the decay, 1 or more
   * @param decayPower exponent of the decay, 1 or more
   * @param endLr rate after the decay and its lower bound, 0 or more
   */
  record WarmupDecay(
      float base, long warmupSteps, long decayStart, long decaySteps, float decayPower, float endLr)
      implements LearningRate {
    public WarmupDecay {
      require(base >= 0 && base < Float.POSITIVE_INFINITY, "base", base, "a number of 0 or more");
      require(warmupSteps >= 1, "warmupSteps", warmupSteps, "1 (no warm-up) or more");
      require(decayStart >= 0, "decayStart", decayStart, "0 (no decay) or more");
      require(decaySteps >= 1, "decaySteps", decaySteps, "1 or more");
      require(decayPower >= 1, "decayPower", decayPower, "1 or more");
      require(endLr >= 0 && endLr < Float.POSITIVE_INFINITY, "endLr", endLr, "0 or more");
    }

    @Override
    public float at(long step) {
      requireStep(step);
      if (step <= warmupSteps) {
        return step * base / warmupSteps;
      }
      if (decayStart == 0 || step <= decayStart) {
        return base;
      }
      long left = decaySteps - (step - decayStart);
      if (left < 0) {
        return endLr;
      }
      float factor = (float) StrictMath.pow(left / (float) decaySteps, decayPower);
      return Math.max(base * factor, endLr);
    }
  }

  /** The same rate in every step. */
  static LearningRate constant(float lr) {
    return new Constant(lr);
  }

  /** Linear warm-up over {@code warmupSteps}, then {@code base} for ever. */
  static LearningRate warmup(float base, long warmupSteps) {
    return new WarmupDecay(base, warmupSteps, 0, 1, 2, 0);
  }

  /** Warm-up, a plateau to step {@code decayStart}, then quadratic decay to 0. */
  static LearningRate warmupDecay(float base, long warmupSteps, long decayStart, long decaySteps) {
    return new WarmupDecay(base, warmupSteps, decayStart, decaySteps, 2, 0);
  }

  private static void requireStep(long step) {
    require(step >= 1, "step", step, "1 or more: steps count from 1");
  }

  private static void require(boolean holds, String name, Number got, String expected) {
    if (!holds) {
      throw new IllegalArgumentException(
          "learning rate: got %s %s, expected %s".formatted(name, got, expected));
    }
  }
}
