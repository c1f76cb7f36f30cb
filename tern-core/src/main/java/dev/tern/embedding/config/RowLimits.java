package dev.tern.embedding.config;

import dev.tern.base.DType;
import dev.tern.internal.kernel.Halves;

/**
 * Limits of the updates of rows.
 *
 * @param clipNorm largest L2 norm of a row's gradient, summed over the batch; 0 for no limit. A
 *     larger gradient is scaled down, before l2 adds to it: with 1, (3, 4) becomes (0.6, 0.8)
 *     (Pascanu et al. 2013, algorithm 1, for each row)
 * @param low smallest weight after an update, as in PaddlePaddle's sparse SGD; -infinity for none
 * @param high largest weight after an update; infinity for no bound
 */
public record RowLimits(float clipNorm, float low, float high) {
  /** No limits. */
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

  /** A copy with another {@link #clipNorm}. */
  public RowLimits withClipNorm(float norm) {
    return new RowLimits(norm, low, high);
  }

  /** A copy with other bounds of weights. */
  public RowLimits withBounds(float least, float most) {
    return new RowLimits(clipNorm, least, most);
  }

  public boolean clips() {
    return clipNorm > 0;
  }

  public boolean bounds() {
    return low > Float.NEGATIVE_INFINITY || high < Float.POSITIVE_INFINITY;
  }

  /** The smallest value of {@code storage} within the bounds. */
  public float low(DType storage) {
    return -atMost(storage, -low);
  }

  /** The largest value of {@code storage} within the bounds. */
  public float high(DType storage) {
    return atMost(storage, high);
  }

  /** Whether some finite value of {@code storage} is within the bounds. */
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
    // The next value below: one less as bits above 0, one more below 0.
    int next = half > 0 ? half - 1 : half == 0 ? 0x8001 : half + 1;
    return Halves.widen(storage, (short) next);
  }
}
