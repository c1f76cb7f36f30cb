package dev.tern.embedding;

import dev.tern.embedding.config.Combiner;
import dev.tern.internal.table.rows.PooledBags;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * How the positions of a {@link Lookup} form bags. Each bag is pooled into one vector: bag {@code
 * b} holds positions {@code offsets[b]} to {@code offsets[b + 1] - 1}. The arrays are not copied.
 *
 * <p>For example, offsets {@code {0, 2, 3}} and {@link Combiner#MEAN} say that vector 0 is the mean
 * of the rows at positions 0 and 1, and vector 1 the row at position 2.
 *
 * @param offsets {@code [B + 1]} or more, ascending
 * @param weights the weight of each position's row; empty if all have the same. Weights get no
 *     gradient
 * @param count number of bags, {@code B}
 * @param combiner how rows become one vector
 */
public record Bags(int[] offsets, float[] weights, int count, Combiner combiner) {
  public Bags {
    Objects.requireNonNull(offsets, "offsets");
    Objects.requireNonNull(weights, "weights");
    Objects.requireNonNull(combiner, "combiner");
    if (count < 0 || count >= offsets.length) {
      throw new IllegalArgumentException(
          "bags: got %d offsets for %d bags, expected one more than bags"
              .formatted(offsets.length, count));
    }
  }

  /** Bags without weights. */
  public static Bags of(int[] offsets, int count, Combiner combiner) {
    return new Bags(offsets, PooledBags.UNWEIGHTED, count, combiner);
  }

  /** One bag for each of {@code count} positions, whose vector is the row as it is. */
  public static Bags single(int count) {
    return of(IntStream.rangeClosed(0, count).toArray(), count, Combiner.SUM);
  }

  /**
   * The same bags as {@code internal.table} takes them.
   *
   * @param table its name, for the error
   * @param positions of the lookup; each needs a weight if there are weights
   */
  PooledBags pooled(String table, int positions) {
    if (weights.length > 0) {
      PooledBags.requireWeights(table, weights, positions);
    }
    return new PooledBags(combiner).set(offsets, weights, count);
  }
}
