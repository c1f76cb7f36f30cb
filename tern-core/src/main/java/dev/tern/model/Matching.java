package dev.tern.model;

import java.util.List;

/**
 * How TWOTOWER matches users with items.
 *
 * @param itemColumns columns of the item; the first is the slot that names it. All other columns
 *     are the user's
 * @param temperature divisor of the product of both vectors, above 0: small ones tell close scores
 *     apart
 * @param normalized whether vectors have length 1, so that their product is the cosine of the angle
 *     between them
 * @param corrected whether items that are negatives often, as they occur often, are judged by it
 * @param sampled further negatives of each batch
 */
public record Matching(
    List<String> itemColumns,
    float temperature,
    boolean normalized,
    boolean corrected,
    Sampled sampled) {
  /**
   * Items that are drawn for each batch, as further negatives of all its rows, from those that
   * training has met.
   *
   * @param negatives items a batch, 0 or more
   * @param pool distinct items to draw from, at most: the last ones that were new, 1 or more
   */
  public record Sampled(int negatives, int pool) {
    /** The items of the batch's rows alone. */
    public static final Sampled NONE = new Sampled(0, 65_536);

    /** Checks both numbers. */
    public Sampled {
      if (negatives < 0 || negatives > 1 << 20 || pool < 1) {
        throw new IllegalArgumentException(
            "model: got %,d negatives of a pool of %,d items, expected 0 to %,d of 1 or more"
                .formatted(negatives, pool, 1 << 20));
      }
    }
  }

  /** No columns yet; cosines over 0.05, corrected. */
  public static final Matching DEFAULT = new Matching(List.of(), 0.05f, true, true);

  /** Checks the temperature. */
  public Matching {
    itemColumns = List.copyOf(itemColumns);
    if (!(temperature > 0 && temperature < Float.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "model: got the temperature %s, expected a number above 0; 0.05 is usual for cosines, 1 for other products"
              .formatted(temperature));
    }
  }

  /** The items of the batch's rows are the only negatives. */
  public Matching(
      List<String> itemColumns, float temperature, boolean normalized, boolean corrected) {
    this(itemColumns, temperature, normalized, corrected, Sampled.NONE);
  }

  /** Cosines over 0.05, corrected. */
  public static Matching of(String... itemColumns) {
    return new Matching(List.of(itemColumns), 0.05f, true, true);
  }

  /** The same with another temperature. */
  public Matching withTemperature(float other) {
    return new Matching(itemColumns, other, normalized, corrected, sampled);
  }

  /** The same without an allowance for items that occur often. */
  public Matching uncorrected() {
    return new Matching(itemColumns, temperature, normalized, false, sampled);
  }

  /** The same with {@code negatives} further items a batch. */
  public Matching withNegatives(int negatives) {
    return withSampled(new Sampled(negatives, sampled.pool()));
  }

  /** The same with other further negatives. */
  public Matching withSampled(Sampled other) {
    return new Matching(itemColumns, temperature, normalized, corrected, other);
  }
}
