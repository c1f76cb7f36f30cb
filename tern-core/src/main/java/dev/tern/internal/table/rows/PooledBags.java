package dev.tern.internal.table.rows;

import dev.tern.embedding.config.Combiner;
import java.util.List;
import java.util.Objects;

/**
 * The bags of one call that pools rows or applies gradients: bag {@code b} holds positions {@code
 * offsets[b]} to {@code offsets[b + 1] - 1} of a lookup. Its vector is the sum of its rows, each
 * times the {@link #factor} of its position. Example: with offsets {@code {0, 2, 3}} and {@link
 * Combiner#MEAN}, bag 0 is half of row 0 plus half of row 1, and bag 1 is row 2.
 */
public final class PooledBags {
  /** Stands for weights that are all 1. */
  public static final float[] UNWEIGHTED = {};

  private final Combiner combiner;

  /** The combiners of parts of the bags, where they differ; else empty. */
  private final Combiner[] ofParts;

  /** Of each part its first bag, then the number of all bags. */
  private int[] firsts = {0};

  int[] offsets = {0};

  /** One for each position, or {@link #UNWEIGHTED}. */
  float[] weights = UNWEIGHTED;

  /** Number of bags, {@code B}. */
  public int count;

  private boolean single;
  private boolean plural;
  private LaneBags lanes = LaneBags.WHOLE;

  public PooledBags(Combiner combiner) {
    this.combiner = combiner;
    ofParts = new Combiner[0];
  }

  private PooledBags(Combiner[] ofParts) {
    this.ofParts = ofParts;
    combiner = Combiner.MEAN; // Some are no sum.
  }

  /** Bags in parts that follow each other, each with a combiner of its own; see {@link #parts}. */
  public static PooledBags ofParts(List<Combiner> combiners) {
    return combiners.stream().distinct().count() == 1
        ? new PooledBags(combiners.getFirst())
        : new PooledBags(combiners.toArray(Combiner[]::new));
  }

  /** Says where parts begin. */
  public PooledBags parts(int[] begins) {
    firsts = begins;
    return this;
  }

  public static PooledBags of(int[] offsets, int count, Combiner combiner) {
    return new PooledBags(combiner).set(offsets, UNWEIGHTED, count);
  }

  public PooledBags set(int[] begins, float[] ofPositions, int bags) {
    offsets = begins;
    weights = ofPositions;
    count = bags;
    return this;
  }

  /** Says which lanes the bags are in; sums of gradients follow them. */
  public PooledBags inLanes(LaneBags of) {
    lanes = of;
    return this;
  }

  /** All bags as they are, in one lane. */
  public PooledBags inOneLane() {
    return inLanes(LaneBags.WHOLE);
  }

  boolean areInLanes() {
    return lanes != LaneBags.WHOLE;
  }

  LaneBags lanes() {
    return lanes;
  }

  /** Checks that bags {@code [from, to)} lie within {@code positions} positions of a lookup. */
  public void check(String table, int from, int to, int positions) {
    single = check(table, offsets, from, to, positions);
    plural = false;
    for (int b = from; b < to && !single && !plural; b++) {
      plural = offsets[b + 1] - offsets[b] > 1;
    }
  }

  /** The same for {@code offsets}; returns whether each bag holds exactly one position. */
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
          "table %s: got offsets that descend or leave 0 to %d, expected the offsets of the ids that were looked up"
              .formatted(table, positions));
    }
    return single;
  }

  /** Returns {@code weights} if there is one for each of {@code count} positions. */
  public static float[] requireWeights(String table, float[] weights, int count) {
    if (weights.length < count) {
      throw new IllegalArgumentException(
          "table %s: got %d weights for %d ids, expected one for each"
              .formatted(table, weights.length, count));
    }
    return weights;
  }

  /** Whether the vector of each checked bag is a copy of one row. */
  boolean areRows() {
    return single && weights.length == 0;
  }

  /** Whether some checked bag holds several positions. */
  boolean arePlural() {
    return plural;
  }

  /** Whether some factor may differ from 1. */
  boolean areScaled() {
    return weights.length > 0 || (combiner != Combiner.SUM && !single);
  }

  /** What the combiner multiplies all rows of a bag by: for example 1/2 in a mean of 2 rows. */
  public float scale(int bag) {
    int begin = offsets[bag];
    int end = offsets[bag + 1];
    Combiner of = ofParts.length == 0 ? combiner : ofParts[part(bag)];
    return weights.length == 0 ? of.scale(end - begin) : of.scale(weights, begin, end);
  }

  private int part(int bag) {
    int part = 0;
    while (bag >= firsts[part + 1]) {
      part++;
    }
    return part;
  }

  public int begin(int bag) {
    return offsets[bag];
  }

  public int end(int bag) {
    return offsets[bag + 1];
  }

  /** The weight of a row in its bag's vector, at a position of a bag with this {@link #scale}. */
  public float factor(float scale, int position) {
    return weights.length == 0 ? scale : scale * weights[position];
  }
}
