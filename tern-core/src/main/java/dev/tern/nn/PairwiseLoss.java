package dev.tern.nn;

import dev.tern.tensor.Tensor;

/**
 * The loss of pairs of rows of one group, one labelled 1 and one labelled 0, of which the first
 * should have the higher score (Rendle et al., "BPR: Bayesian Personalized Ranking from Implicit
 * Feedback", UAI 2009, arXiv 1205.2618, without its regularizer):
 *
 * <pre>
 * loss = sum of a_i a_j log(1 + exp(s_j - s_i)) over i, j of one group with y_i = 1 and y_j = 0
 * </pre>
 *
 * <p>With the shares {@code a} of {@link #share} it is the mean over all pairs of a batch. For
 * example, rows of one group with the scores 2, 1 and 0 and the labels 1, 0 and 0 have two pairs,
 * and the loss {@code (log(1 + e^-1) + log(1 + e^-2)) / 2 = (0.313 + 0.127) / 2 = 0.220}.
 *
 * <p>All {@code B^2} pairs of rows are computed, and none is kept: the loss and its gradient are
 * two kernels that read and write {@code [B]}. So memory and time do not depend on the groups.
 */
public final class PairwiseLoss {
  private PairwiseLoss() {}

  /**
   * The loss, a scalar; 0 without pairs.
   *
   * @param scores {@code [B]}
   * @param labels 0 or 1, {@code [B]}
   * @param groups {@code [B]}: whole numbers below 2^22, equal for rows of one group
   * @param shares {@code [B]}: what a row counts; 0 for one that makes no pairs
   */
  public static Tensor loss(Tensor scores, Tensor labels, Tensor groups, Tensor shares) {
    int batch = scores.shape().size(0);
    Tensor still = scores.detach();
    Tensor signs = labels.mul(2).sub(1);
    Tensor own = groups.mul(2).add(labels).reshape(batch, 1);
    Tensor other = groups.mul(2).add(1).sub(labels).reshape(1, batch);
    Tensor isPair = own.eq(other);
    // Of each pair how far the lower label is ahead, from the side of either row.
    Tensor ahead =
        still.reshape(1, batch).sub(still.reshape(batch, 1)).mul(signs.reshape(batch, 1));
    Tensor beside = isPair.select(shares.reshape(1, batch), Tensor.scalar(0));
    Tensor losses = ahead.softplus().mul(beside).sum(1).mul(shares);
    Tensor slopes = ahead.sigmoid().mul(beside).sum(1).mul(shares).mul(signs.neg());
    // The gradient by hand: that of the sum over rows and columns would keep all pairs.
    Tensor moved = scores.sub(still).mul(slopes).sum();
    return losses.sum().mul(0.5f).add(moved);
  }

  /**
   * What a row of the weight 1 counts, so that the loss is {@code factor} times the mean over
   * pairs, each as often as the product of its rows' weights; 0 without pairs.
   *
   * @param pairs the sum of the products of the weights of all pairs, 0 or more
   */
  public static double share(double pairs, double factor) {
    return pairs > 0 ? Math.sqrt(factor / pairs) : 0;
  }
}
