package dev.tern.nn;

import dev.tern.tensor.Tensor;

/**
 * The loss of rows that each pair a user with an item, where the items of the other rows of the
 * batch stand for all that the user did not choose (Yi et al., "Sampling-Bias-Corrected Neural
 * Modeling for Large Corpus Item Recommendations", RecSys 2019, doi 10.1145/3298689.3346996):
 *
 * <pre>
 * s_ij = u_i . v_j - log q_j
 * loss = -sum_i r_i log(exp(s_ii) / (exp(s_ii) + sum_j exp(s_ij))) / sum_i r_i
 * </pre>
 *
 * <p>{@code j} runs over the rows with another item than row {@code i}: the same item is no
 * negative of itself. It also runs over items that were drawn for the batch and belong to no row
 * (Yang et al., "Mixed Negative Sampling for Learning Two-tower Neural Networks in
 * Recommendations", WWW 2020, doi 10.1145/3366424.3386195).
 *
 * <p>{@code q_j} is how often the item occurs in a batch, drawn items counted. Without it, popular
 * items would be taken for bad ones, as they are negatives more often. For example, two rows with
 * {@code u_1 . v_1 = 2}, {@code u_1 . v_2 = 1}, {@code r = (1, 0)} and equal {@code q} have the
 * loss {@code -log(e^2 / (e^2 + e)) = 0.313}.
 */
public final class InBatchSoftmax {
  /** A score that no exponential tells from nothing, and whose differences are finite. */
  private static final float NONE = -1e30f;

  private InBatchSoftmax() {}

  /**
   * The loss, a scalar: 0 where no row has a reward, and for a row without negatives.
   *
   * @param users {@code [B, D]}, divided by the temperature
   * @param items {@code [B + N, D]}: of the rows, then the {@code N} that were drawn
   * @param numbers {@code [B + N]}: equal for the same item
   * @param logRates {@code log q} of each item, {@code [B + N]}
   * @param rewards what each row counts, {@code [B]}, 0 or more
   */
  public static Tensor loss(
      Tensor users, Tensor items, Tensor numbers, Tensor logRates, Tensor rewards) {
    int batch = users.shape().size(0);
    int all = items.shape().size(0);
    Tensor same = first(numbers, batch).reshape(batch, 1).eq(numbers.reshape(1, all));
    Tensor scores = users.matmul(items.transpose(0, 1)).sub(logRates.reshape(1, all));
    Tensor negatives = same.select(Tensor.scalar(NONE), scores);
    Tensor most = negatives.maxKeep(1).detach();
    Tensor sum = negatives.sub(most).exp().sum(1);
    Tensor other = sum.log().add(most.reshape(batch));
    Tensor own = users.mul(first(items, batch)).sum(1).sub(first(logRates, batch));
    Tensor losses = other.sub(own).softplus();
    Tensor counted = rewards.sum().max(Tensor.scalar(Float.MIN_NORMAL));
    return losses.mul(rewards).sum().div(counted);
  }

  /** The first {@code rows} rows of {@code x}: those of a batch, without what was drawn. */
  public static Tensor first(Tensor x, int rows) {
    return x.shape().size(0) == rows ? x : x.slice(0, 0, rows);
  }

  /** Vectors of length 1 in the direction of each row of {@code x}, {@code [B, D]}. */
  public static Tensor normalized(Tensor x) {
    return x.mul(x.square().sumKeep(1).add(1e-12f).rsqrt());
  }
}
