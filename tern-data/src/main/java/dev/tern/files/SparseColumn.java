package dev.tern.files;

import dev.tern.data.encode.TimePart;
import java.util.Objects;

/**
 * A column of a text or Parquet file that becomes a slot.
 *
 * @param name the column's name; where the file has no column of it, one such as {@code t@hour} is
 *     the part {@link dev.tern.data.encode.TimePart} of the times in column {@code t}, in a text
 *     column as its decimal text
 * @param values what each value is
 * @param separator between the values of one field; empty says one value per field. A field with no
 *     bytes is one id, the hash of "", in a text column of one value, and no ids in all others
 */
public record SparseColumn(String name, Values values, String separator) {
  /** What {@code CsvWriter} puts between the ids of one field. */
  public static final String SEPARATOR = "|";

  private static final String ORDER = "@order";

  /**
   * What a value of a field is. An id is its 64 bits, so a column is signed or unsigned, not both.
   */
  public enum Values {
    /** Text, which becomes its 64-bit hash. */
    TEXT,
    /** An integer from -2<sup>63</sup> to 2<sup>63</sup> - 1, taken verbatim. */
    SIGNED,
    /** An integer from 0 to 2<sup>64</sup> - 1, taken verbatim. */
    UNSIGNED,
    /**
     * A time or number, as a 64-bit integer that compares with others of the column as it does: of
     * a time its microseconds since 1970. The first value settles which of the two a column holds.
     */
    TIME,
    /**
     * The microseconds since 1970 of a time, which each row must have: a row without one is bad.
     */
    INSTANT
  }

  public SparseColumn {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(values, "values");
    Objects.requireNonNull(separator, "separator");
  }

  /** Texts, or signed integers. */
  public SparseColumn(String name, boolean text, String separator) {
    this(name, text ? Values.TEXT : Values.SIGNED, separator);
  }

  /** One text value per field. */
  public static SparseColumn text(String name) {
    return new SparseColumn(name, Values.TEXT, "");
  }

  /** One integer id per field, signed. */
  public static SparseColumn id(String name) {
    return new SparseColumn(name, Values.SIGNED, "");
  }

  /**
   * One time or number per field of the column {@code source}, as its place in their order; the
   * slot is called {@code source@order}, so that the column may be read as a feature, too.
   */
  public static SparseColumn time(String source) {
    return new SparseColumn(source + ORDER, Values.TIME, "");
  }

  /**
   * The time of each row, from the column {@code source}, in microseconds since 1970; the slot is
   * called {@code source@microseconds}.
   */
  public static SparseColumn instant(String source) {
    return new SparseColumn(source + "@" + TimePart.MICROSECONDS, Values.INSTANT, "");
  }

  /** The column that holds the times of one that {@link #time} made. */
  public String timeSource() {
    return name.endsWith(ORDER) ? name.substring(0, name.length() - ORDER.length()) : name;
  }

  /** One integer id per field, unsigned. */
  public static SparseColumn unsigned(String name) {
    return new SparseColumn(name, Values.UNSIGNED, "");
  }

  /** Whether each value is text. */
  public boolean text() {
    return values == Values.TEXT;
  }

  /** True where every row holds exactly one id. */
  boolean oneHot() {
    return text() && separator.isEmpty();
  }
}
