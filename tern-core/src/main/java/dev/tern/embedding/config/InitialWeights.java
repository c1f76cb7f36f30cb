package dev.tern.embedding.config;

/**
 * The weights of a new row. Each is a pure function of seed, table, id and column, so that it does
 * not depend on when the row is added, nor on other rows.
 */
public sealed interface InitialWeights {
  /** Uniform, with a standard deviation of 0.01. */
  InitialWeights DEFAULT = new Uniform(0.0173f);

  /** Weights of 0. */
  InitialWeights ZEROS = new Constant(0);

  /**
   * Uniform in {@code [-range, range)}. The standard deviation is {@code range / sqrt(3)}: 0.0173
   * gives 0.01.
   *
   * @param range a finite number of 0 or more
   */
  record Uniform(float range) implements InitialWeights {
    public Uniform {
      require(range >= 0, range, "a range of 0 or more");
    }
  }

  /**
   * Normal with a mean of 0. A weight is one of 2<sup>24</sup> values; the largest is 5.4 times the
   * deviation.
   *
   * @param deviation standard deviation, a finite number of 0 or more
   */
  record Normal(float deviation) implements InitialWeights {
    public Normal {
      require(deviation >= 0, deviation, "a deviation of 0 or more");
    }
  }

  /**
   * All weights are {@code value}.
   *
   * @param value a finite number
   */
  record Constant(float value) implements InitialWeights {
    public Constant {
      require(true, value, "a finite number");
    }
  }

  private static void require(boolean holds, float value, String expected) {
    if (!holds || !Float.isFinite(value)) {
      throw new IllegalArgumentException(
          "initial weights: got " + value + ", expected " + expected + "; change it");
    }
  }
}
