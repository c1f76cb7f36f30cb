package dev.tern.data.encode;

/**
 * How the values of a slot become ids. Every encoding says whether values are {@code text}, whose
 * raw id is {@link TextHash}, or 64-bit integers, whose raw id is the integer itself.
 */
public sealed interface IdEncoding {
  /** Whether values are text rather than integers. */
  boolean text();

  /** The raw id is the id. */
  record Verbatim(boolean text) implements IdEncoding {}

  /**
   * Ids 1, 2, ... by descending number of sightings in the training data, ties by the raw id as an
   * unsigned number. Id 0 stands for values not in the vocabulary, for the empty text, and for a
   * missing value of a one-hot slot.
   *
   * @param minCount sightings a value needs to be in the vocabulary, 1 or more
   * @param maxSize most values in the vocabulary, id 0 not counted
   */
  record Vocabulary(boolean text, long minCount, int maxSize) implements IdEncoding {
    /** The largest vocabulary. */
    public static final int MAX_SIZE = 1 << 27;

    public Vocabulary {
      if (minCount < 1 || maxSize < 0 || maxSize > MAX_SIZE) {
        throw new IllegalArgumentException(
            "vocabulary: got minimum count %d and size %d, expected 1 or more and 0 to %d"
                .formatted(minCount, maxSize, MAX_SIZE));
      }
    }
  }

  /**
   * A bucket in {@code [0, buckets)} drawn by a strong hash of the raw id. A missing value of a
   * one-hot slot counts as the empty text.
   */
  record Hashed(boolean text, long buckets) implements IdEncoding {
    public Hashed {
      if (buckets < 1) {
        throw new IllegalArgumentException("hash: got " + buckets + " buckets, expected 1 or more");
      }
    }
  }

  /** Integers, taken as they are. */
  static IdEncoding verbatim() {
    return new Verbatim(false);
  }

  /** A vocabulary of all texts seen in the training data. */
  static IdEncoding vocabulary() {
    return new Vocabulary(true, 1, Vocabulary.MAX_SIZE);
  }

  /** Texts hashed into buckets. */
  static IdEncoding hashed(long buckets) {
    return new Hashed(true, buckets);
  }
}
