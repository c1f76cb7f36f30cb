package dev.tern.embedding.config;

/**
 * What an id that has no row reads as: where looking up must not insert, or where its table's
 * {@link RowPolicy} leaves it without one.
 */
public sealed interface UnknownRow {
  /** Zeros. */
  UnknownRow ZEROS = Derived.ZEROS;

  /** The row that training would start this id with. */
  UnknownRow INITIAL = Derived.INITIAL;

  /** The mean of all rows of the table; zeros while it is empty. */
  UnknownRow MEAN = Derived.MEAN;

  /** Rows that a table keeps for ids without one; 0 where what these read as is derived. */
  int buckets();

  /** What is not kept, and so learns nothing. */
  enum Derived implements UnknownRow {
    /** {@link UnknownRow#ZEROS}. */
    ZEROS,
    /** {@link UnknownRow#INITIAL}. */
    INITIAL,
    /** {@link UnknownRow#MEAN}. */
    MEAN;

    @Override
    public int buckets() {
      return 0;
    }
  }

  /**
   * One of so many rows, by the hash of the id: ids of one bucket share a row. These rows are in
   * the table from its beginning and learn as others do: in a step, from the gradients of all ids
   * of a batch that read as them. An id that is given a row later begins with initial weights.
   *
   * @param buckets rows, 1 to {@value #MOST}
   */
  record Hashed(int buckets) implements UnknownRow {
    /** Buckets that there may be. */
    public static final int MOST = 1 << 20;

    public Hashed {
      if (buckets < 1 || buckets > MOST) {
        throw new IllegalArgumentException(
            "unknown row: got %d buckets, expected 1 to %d".formatted(buckets, MOST));
      }
    }
  }
}
