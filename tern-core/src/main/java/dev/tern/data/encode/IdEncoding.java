package dev.tern.data.encode;

/**
 * How values of a slot become ids. The raw id of a text is its {@link TextHash}; the raw id of a
 * 64-bit integer is the integer itself.
 */
public sealed interface IdEncoding {
  /** Whether values are texts; else they are integers. */
  boolean text();

  /** The raw id is the id. */
  record Verbatim(boolean text) implements IdEncoding {}

  /**
   * Ids 1, 2, ... by descending number of occurrences in the training data; values that occur
   * equally often come in the order of their raw ids as unsigned numbers. Id 0 stands for the empty
   * text and for a missing value of a one-hot slot. A value outside the vocabulary, unseen or rare,
   * has a negative id of its own, which never gets a row: it reads as the model's {@code
   * UnknownRow}. Two such values share an id with a probability of 2^-63.
   *
   * @param minCount least occurrences of a value in the vocabulary, 1 or more
   * @param maxSize most values in the vocabulary, without id 0
   * @param apart whether values outside have ids apart from missing ones. In encoders of older
   *     checkpoints they do not: all have id 0, and with it one row
   */
  record Vocabulary(boolean text, long minCount, int maxSize, boolean apart) implements IdEncoding {
    /** The largest vocabulary. */
    public static final int MAX_SIZE = 1 << 27;

    public Vocabulary {
      if (minCount < 1 || maxSize < 0 || maxSize > MAX_SIZE) {
        throw new IllegalArgumentException(
            "vocabulary: got minimum count %d and size %d, expected 1 or more and 0 to %d"
                .formatted(minCount, maxSize, MAX_SIZE));
      }
    }

    /** With ids of their own for values outside. */
    public Vocabulary(boolean text, long minCount, int maxSize) {
      this(text, minCount, maxSize, true);
    }

    /** Whether values of the training data may be outside. */
    boolean leavesOut() {
      return minCount > 1 || maxSize < MAX_SIZE;
    }
  }

  /**
   * A bucket in {@code [0, buckets)}, chosen by a hash of the raw id. A missing value of a one-hot
   * slot counts as the empty text.
   */
  record Hashed(boolean text, long buckets) implements IdEncoding {
    public Hashed {
      if (buckets < 1) {
        throw new IllegalArgumentException("hash: got " + buckets + " buckets, expected 1 or more");
      }
    }
  }

  /** Integers as they are. */
  static IdEncoding verbatim() {
    return new Verbatim(false);
  }

  /** A vocabulary of all texts in the training data. */
  static IdEncoding vocabulary() {
    return new Vocabulary(true, 1, Vocabulary.MAX_SIZE);
  }

  /** Texts hashed into buckets. */
  static IdEncoding hashed(long buckets) {
    return new Hashed(true, buckets);
  }
}
