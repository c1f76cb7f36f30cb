package dev.tern.embedding.config;

/**
 * How the rows of one bag become one vector; an empty bag gives zeros. Where positions have weights
 * the sum is that of rows times weights, and divisors are those of TensorFlow's {@code
 * embedding_lookup_sparse}; one of 0 counts as 1.
 */
public enum Combiner {
  /** Their sum. */
  SUM,
  /** Their sum times 1 / number of ids, or 1 / sum of weights. */
  MEAN,
  /** Their sum times 1 / square root of the number of ids, or of the sum of squared weights. */
  SQRTN;

  /** By what each of {@code count} rows counts, if they have no weights. */
  public float scale(int count) {
    if (this == SUM) {
      return 1;
    }
    return this == MEAN ? 1f / count : (float) (1 / Math.sqrt(count));
  }

  /** What the weights of positions {@code from} to {@code to - 1} of a bag are multiplied by. */
  public float scale(float[] weights, int from, int to) {
    if (this == SUM) {
      return 1;
    }
    double sum = 0;
    for (int i = from; i < to; i++) {
      double weight = weights[i];
      sum += this == MEAN ? weight : weight * weight;
    }
    if (sum == 0) {
      return 1;
    }
    return (float) (1 / (this == MEAN ? sum : Math.sqrt(sum)));
  }
}
