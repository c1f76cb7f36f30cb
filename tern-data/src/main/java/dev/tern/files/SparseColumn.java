package dev.tern.files;

import java.util.Objects;

/**
 * A column of a text or Parquet file that becomes a slot.
 *
 * @param name the column's name
 * @param text true: each value is text and becomes its 64-bit hash; false: each value is a 64-bit
 *     integer, taken verbatim (signed, or unsigned up to 2<sup>64</sup> - 1)
 * @param separator between the values of one field; empty says one value per field. A field with no
 *     bytes is one id, the hash of "", in a text column of one value, and no ids in all others
 */
public record SparseColumn(String name, boolean text, String separator) {
  /** What {@code CsvWriter} puts between the ids of one field. */
  public static final String SEPARATOR = "|";

  public SparseColumn {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(separator, "separator");
  }

  /** One text value per field. */
  public static SparseColumn text(String name) {
    return new SparseColumn(name, true, "");
  }

  /** One integer id per field. */
  public static SparseColumn id(String name) {
    return new SparseColumn(name, false, "");
  }

  /** True where every row holds exactly one id. */
  boolean oneHot() {
    return text && separator.isEmpty();
  }
}
