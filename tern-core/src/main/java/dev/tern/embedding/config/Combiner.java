package dev.tern.embedding.config;

/**
 * How the rows of one bag become one vector: their sum, each row times a factor. The gradient of a
 * row uses the same factor. An empty bag gives zeros.
 *
 * <p>Without weights the factor of each of {@code n} rows is 1 (sum), {@code 1/n} (mean) or {@code
 * 1/sqrt(n)} (sqrtn). With weights {@code w_i} it is {@code w_i} times 1, {@code 1/sum(w)} or
 * {@code 1/sqrt(sum(w^2))}, as in TensorFlow's {@code embedding_lookup_sparse}; a divisor of 0
 * counts as 1.
 *
 * <p>Example: a bag of 4 rows has the factors 1, 1/4 or 1/2. With weights 3 and 1, the mean has the
 * factors 3/4 and 1/4.
 */
public enum Combiner {
  /** The sum of rows. */
  SUM,
  /** The sum divided by the number of rows, or by the sum of weights. */
  MEAN,
  /** The sum divided by the square root of the number of rows, or of the sum of squared weights. */
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
