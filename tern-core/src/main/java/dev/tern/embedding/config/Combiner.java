package dev.tern.embedding.config;

/**
 * How the rows of one bag become one vector: their sum, each row times a factor. The gradient of a
 * row uses the same factor. An empty bag gives zeros. Weights {@code w} work as in TensorFlow's
 * {@code embedding_lookup_sparse}; a divisor of 0 counts as 1.
 *
 * <p>Example: a bag of 4 rows has the factors 1, 1/4 or 1/2. With weights 3 and 1, the mean has the
 * factors 3/4 and 1/4.
 */
public enum Combiner {
  /** The sum of rows: factor 1, with weights {@code w_i}. */
  SUM,
  /** The mean of {@code n} rows: factor {@code 1/n}, with weights {@code w_i / sum(w)}. */
  MEAN,
  /** Factor {@code 1/sqrt(n)} for {@code n} rows, with weights {@code w_i / sqrt(sum(w^2))}. */
  SQRTN;

  /** The factor of each of {@code count} rows without weights. */
  public float scale(int count) {
    if (this == SUM) {
      return 1;
    }
    return this == MEAN ? 1f / count : (float) (1 / Math.sqrt(count));
  }

  /** What multiplies the weights of a bag that holds positions {@code [from, to)}. */
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
