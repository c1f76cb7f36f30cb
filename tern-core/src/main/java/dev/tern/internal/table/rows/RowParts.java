package dev.tern.internal.table.rows;

import java.util.List;

/**
 * Where the pooled vectors of bags lie, or their gradients: a matrix {@code [bags, W]} whose
 * columns may be split over several tensors. Example: widths 16 and 1 put columns 0 to 15 of each
 * bag into part 0, and column 16 into part 1.
 */
public final class RowParts {
  private final int[] ends;
  private final long[] bases;
  private final long[] strides;
  private final MatrixBlock block = new MatrixBlock();

  // Address and stride, in bytes, of the bags' pair sums, and of their pooled vectors; stride 0 for
  // none.
  private long pairsBase;
  private long pairsStride;
  private long pooledBase;
  private long pooledStride;

  // See interleave; empty if bags lie in order.
  private int[] firsts = new int[0];
  private int[] places = new int[0];
  private int[] steps = new int[0];

  // See interleaveFront; empty if all parts lie in the same places.
  private int[] frontPlaces = new int[0];
  private int[] frontSteps = new int[0];

  public RowParts(List<Integer> widths) {
    ends = new int[widths.size()];
    bases = new long[ends.length];
    strides = new long[ends.length];
    int end = 0;
    for (int p = 0; p < ends.length; p++) {
      end += widths.get(p);
      ends[p] = end;
    }
  }

  /** One part; see {@link #set}. */
  public static RowParts whole(int width, long first, long stride) {
    RowParts parts = new RowParts(List.of(width));
    parts.set(0, first, stride);
    return parts;
  }

  /** Sets the address of part {@code p} of bag 0, and the floats from one bag to the next. */
  public void set(int p, long first, long stride) {
    bases[p] = first - 4L * begin(p);
    strides[p] = 4 * stride;
  }

  /**
   * Sets where the pair sums of bags lie, or their gradients, as {@link BagPairs} has them: the
   * address for bag 0, and the floats from one bag to the next, 1 or more.
   */
  public void setPairs(long first, long stride) {
    pairsBase = first;
    pairsStride = 4 * stride;
  }

  /** For gradients of pair sums: where {@link #set} had the last part of the pooled vectors. */
  public void setPooled(long first, long stride) {
    pooledBase = first - 4L * begin(ends.length - 1);
    pooledStride = 4 * stride;
  }

  /** Whether bags have pair sums. */
  boolean hasPairs() {
    return pairsStride > 0;
  }

  /** Address of the pair sum of a bag, or of its gradient. */
  long pairsAt(int bag) {
    return pairsBase + bag * pairsStride;
  }

  /** Address of column {@code j} of the pooled vector of a bag. */
  long pooledAt(int bag, int j) {
    return pooledBase + bag * pooledStride + 4L * j;
  }

  /**
   * Bags go slot by slot, but memory holds the slots of a row side by side: bag {@code firsts[k] +
   * b} lies where {@link #set} puts bag {@code places[k] + b * steps[k]}. Example: slots 0 and 2 of
   * 3 with 10 rows have the firsts 0 and 10, the places 0 and 2 and the steps 3; bag 11 is row 1 of
   * slot 2, and lies in the place of bag 2 + 1 * 3 = 5. The arrays are not copied.
   */
  public void interleave(int[] firsts, int[] places, int[] steps) {
    this.firsts = firsts;
    this.places = places;
    this.steps = steps;
  }

  /** Gives all parts but the last other places of interleaved bags than those of the last. */
  public void interleaveFront(int[] places, int[] steps) {
    frontPlaces = places;
    frontSteps = steps;
  }

  boolean isInterleaved() {
    return places.length > 0;
  }

  /** Whether the parts before the last have places of their own. */
  boolean hasFrontPlaces() {
    return frontPlaces.length > 0;
  }

  /** The bag in whose place {@code bag} lies, if bags are interleaved. */
  int place(int bag) {
    return place(bag, places, steps);
  }

  /** As {@link #place(int)}, for the parts before the last, if these have their own. */
  int frontPlace(int bag) {
    return place(bag, frontPlaces, frontSteps);
  }

  private int place(int bag, int[] at, int[] by) {
    int slot = at.length - 1;
    while (bag < firsts[slot]) {
      slot--;
    }
    return at[slot] + (bag - firsts[slot]) * by[slot];
  }

  /** The number of parts. */
  public int count() {
    return ends.length;
  }

  /** First column of part {@code p}. */
  private int begin(int p) {
    return p == 0 ? 0 : ends[p - 1];
  }

  /** Part {@code p} of bags {@code [from, to)}; valid until the next call. */
  public MatrixBlock part(int p, int from, int to) {
    return block.at(bases[p], strides[p]).rows(from, to).columns(begin(p), ends[p]);
  }
}
