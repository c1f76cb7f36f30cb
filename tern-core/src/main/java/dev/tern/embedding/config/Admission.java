package dev.tern.embedding.config;

/** Which ids without a row get one in training. All others read as {@link UnknownRow} says. */
public sealed interface Admission {
  /** Every id, when it is first met. */
  record Always() implements Admission {}

  /**
   * Ids met at {@code count} positions or more, including the current batch. Until then an id takes
   * no row, only about 2.3 bytes of a counting filter. Two ids may share a counter by accident;
   * that can only admit an id early. {@link TableStatistics#sharedCounters} estimates how many do.
   *
   * @param count positions, 1 to 128
   * @param expected ids that the filter is sized for, 1 to 2^40: of so many, under 1% share a
   *     counter. With more ids the filter grows by layers, each twice as large as the one before.
   *     Each full layer makes {@code count / 20}% more of the later ids share a counter
   * @param clickWeight what a position in a clicked sample (label 1) counts, 1 to 128; any other
   *     position counts 1
   */
  record ByCount(int count, long expected, int clickWeight) implements Admission {
    static final int MAX_COUNT = 128;
    private static final long MAX_EXPECTED = 1L << 40;

    public ByCount {
      RowPolicy.requireUpTo(MAX_COUNT, "admission count", count);
      RowPolicy.requireUpTo(MAX_EXPECTED, "expected ids", expected);
      RowPolicy.requireUpTo(MAX_COUNT, "click weight", clickWeight);
    }

    /** Every position counts 1. */
    public ByCount(int count, long expected) {
      this(count, expected, 1);
    }
  }

  /**
   * A random share of all ids. The draw for an id depends on (seed, table index, id) alone, not on
   * how often it is met. Costs no memory.
   *
   * @param probability the share, above 0 and at most 1
   */
  record ByProbability(double probability) implements Admission {
    public ByProbability {
      RowPolicy.require(
          probability > 0 && probability <= 1,
          "admission probability",
          probability,
          "above 0 and at most 1");
    }
  }
}
