package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;

/**
 * Limits of the updates of rows.
 *
 * @param clipNorm the gradient of a row in a step, added up over the batch, is scaled down to this
 *     L2 norm where its own is larger (Pascanu et al. 2013, algorithm 1, for each row), before l2
 *     adds to it; 0 leaves gradients as they are
 * @param low the least that a weight may be after an update, as the weight bounds of PaddlePaddle's
 *     sparse SGD rules; -infinity for any
 * @param high the most that it may be; infinity for any
 */
public record RowLimits(float clipNorm, float low, float high) {
  /** Gradients and weights as they come. */
  public static final RowLimits NONE =
      new RowLimits(0, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY);

  public RowLimits {
    if (!(clipNorm >= 0 && clipNorm < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "row limits: got clipNorm " + clipNorm + ", expected 0 (any) or a finite number above");
    }
    if (!(low <= high)) {
      throw new IllegalArgumentException(
          "row limits: got weights from %s to %s, expected the lower bound first"
              .formatted(low, high));
    }
  }

  /** The same with another largest norm of gradients. */
  public RowLimits withClipNorm(float norm) {
    return new RowLimits(norm, low, high);
  }

  /** The same with other bounds of weights. */
  public RowLimits withBounds(float least, float most) {
    return new RowLimits(clipNorm, least, most);
  }

  public boolean clips() {
    return clipNorm > 0;
  }

  public boolean bounds() {
    return low > Float.NEGATIVE_INFINITY || high < Float.POSITIVE_INFINITY;
  }

  /** The least weight of {@code storage}: what rounding gives is no less. */
  public float low(DType storage) {
    return -atMost(storage, -low);
  }

  /** The greatest weight of {@code storage}: what rounding gives is no more. */
  public float high(DType storage) {
    return atMost(storage, high);
  }

  /** Whether some finite weight of {@code storage} is within the bounds. */
  boolean areWithin(DType storage) {
    return low(storage) <= high(storage)
        && low(storage) < Float.POSITIVE_INFINITY
        && high(storage) > Float.NEGATIVE_INFINITY;
  }

  /** The largest value of {@code storage} that is not above {@code x}. */
  private static float atMost(DType storage, float x) {
    if (storage == DType.F32 || Float.isInfinite(x)) {
      return x;
    }
    short half = Halves.nearestFinite(storage, x);
    if (Halves.widen(storage, half) <= x) {
      return Halves.widen(storage, half);
    }
    // The next below: of the bits of a number above 0 one less, of others one more.
    int next = half > 0 ? half - 1 : half == 0 ? 0x8001 : half + 1;
    return Halves.widen(storage, (short) next);
  }
}
