package dev.tern.internal.table.rows;

import dev.tern.embedding.config.Combiner;
import java.util.Objects;

/**
 * The bags of one call that pools rows or applies gradients: bag {@code b} holds positions {@code
 * offsets[b]} to {@code offsets[b + 1] - 1} of a lookup. Its vector is the sum of its rows, each
 * times the {@link #factor} of its position.
 *
 * <p>Example: offsets {@code {0, 2, 3}} and {@link Combiner#MEAN} say that bag 0 is half of row 0
 * plus half of row 1, and bag 1 is row 2.
 *
 * <p>Mutable, so that training sets it anew in each step without garbage. One call uses it at a
 * time; several calls of several threads need one each.
 */
public final class PooledBags {
  /** Stands for weights that are all 1. */
  public static final float[] UNWEIGHTED = {};

  final Combiner combiner;

  /** {@code count + 1} numbers or more. */
  int[] offsets = {0};

  /** One for each position, or {@link #UNWEIGHTED}. */
  float[] weights = UNWEIGHTED;

  /** Bags, {@code B}. */
  public int count;

  private boolean single;

  public PooledBags(Combiner combiner) {
    this.combiner = combiner;
  }

  /** Bags without weights. */
  public static PooledBags of(int[] offsets, int count, Combiner combiner) {
    return new PooledBags(combiner).set(offsets, UNWEIGHTED, count);
  }

  /** Replaces the bags; the combiner stays. */
  public PooledBags set(int[] begins, float[] ofPositions, int bags) {
    offsets = begins;
    weights = ofPositions;
    count = bags;
    return this;
  }

  /**
   * Checks that bags {@code [from, to)} lie within {@code positions} positions, and finds whether
   * {@link #areRows}.
   *
   * @param table its name, for the error
   */
  public void check(String table, int from, int to, int positions) {
    single = check(table, offsets, from, to, positions);
  }

  /**
   * Checks that bags {@code [from, to)} lie within {@code positions} positions.
   *
   * @return whether each of them holds exactly one position
   */
  static boolean check(String table, int[] offsets, int from, int to, int positions) {
    Objects.checkFromToIndex(from, to, offsets.length - 1);
    int before = offsets[from];
    boolean valid = before >= 0;
    boolean single = true;
    for (int b = from + 1; b <= to; b++) {
      int offset = offsets[b];
      valid &= offset >= before;
      single &= offset - before == 1;
      before = offset;
    }
    if (!valid || before > positions) {
      throw new IllegalArgumentException(
          "table "
              + table
              + ": got offsets that descend or leave 0 to "
              + positions
              + ", expected those of the ids that were looked up");
    }
    return single;
  }

  /** Checks that there is a weight for each of {@code count} positions, and returns the weights. */
  public static float[] requireWeights(String table, float[] weights, int count) {
    if (weights.length < count) {
      throw new IllegalArgumentException(
          "table %s: got %d weights for %d ids, expected one for each"
              .formatted(table, weights.length, count));
    }
    return weights;
  }

  /** Whether the vector of each bag that was checked is a copy of one row. */
  boolean areRows() {
    return single && weights.length == 0;
  }

  /** Whether some row may count by a factor other than 1. */
  boolean areScaled() {
    return weights.length > 0 || (combiner != Combiner.SUM && !single);
  }

  /** What the combiner multiplies all rows of a bag by. */
  float scale(int bag) {
    int begin = offsets[bag];
    int end = offsets[bag + 1];
    return weights.length == 0 ? combiner.scale(end - begin) : combiner.scale(weights, begin, end);
  }

  /**
   * By what a row counts in the vector of its bag.
   *
   * @param weights of positions, or {@link #UNWEIGHTED}
   * @param scale of the bag
   */
  static float factor(float[] weights, float scale, int position) {
    return weights.length == 0 ? scale : scale * weights[position];
  }
}
