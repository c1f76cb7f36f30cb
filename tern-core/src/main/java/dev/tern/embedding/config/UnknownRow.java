package dev.tern.embedding.config;

/**
 * What an id without a row reads as: in scoring, and in training where the {@link RowPolicy} or
 * {@link TableOptions#knownOnly(java.util.Set)} leaves ids without one.
 */
public sealed interface UnknownRow {
  /** Zeros. */
  UnknownRow ZEROS = Derived.ZEROS;

  /** The row that training would start this id with. */
  UnknownRow INITIAL = Derived.INITIAL;

  /** The mean of all rows of the table; zeros while it is empty. */
  UnknownRow MEAN = Derived.MEAN;

  /** Rows that a table keeps for ids without one; 0 where such ids read as derived values. */
  int buckets();

  /** Values that no row holds, so nothing trains them; see the constants of the same names. */
  enum Derived implements UnknownRow {
    ZEROS,
    INITIAL,
    MEAN;

    // No default method: it would have the JVM initialize the interface, whose constants are these,
    // before this enum has them.
    @Override
    public int buckets() {
      return 0;
    }
  }

  /**
   * One of {@code buckets} rows, 1 to {@value #MOST}, by the hash of the id. The table has them
   * from its beginning. They learn as other rows do: a step sums the gradients of all ids in the
   * batch that share a bucket. An id that is given a row later begins with initial weights.
   */
  record Hashed(int buckets) implements UnknownRow {
    /** The most buckets. */
    public static final int MOST = 1 << 20;

    public Hashed {
      if (buckets < 1 || buckets > MOST) {
        throw new IllegalArgumentException(
            "unknown row: got %d buckets, expected 1 to %d".formatted(buckets, MOST));
      }
    }
  }
}
