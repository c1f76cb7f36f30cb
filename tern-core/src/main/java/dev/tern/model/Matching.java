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
 */
public record Matching(
    List<String> itemColumns, float temperature, boolean normalized, boolean corrected) {
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

  /** Cosines over 0.05, corrected. */
  public static Matching of(String... itemColumns) {
    return new Matching(List.of(itemColumns), 0.05f, true, true);
  }

  /** The same with another temperature. */
  public Matching withTemperature(float other) {
    return new Matching(itemColumns, other, normalized, corrected);
  }

  /** The same without an allowance for items that occur often. */
  public Matching uncorrected() {
    return new Matching(itemColumns, temperature, normalized, false);
  }
}
