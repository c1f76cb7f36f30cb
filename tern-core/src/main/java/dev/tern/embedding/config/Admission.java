package dev.tern.embedding.config;

/** Which ids that have no row are given one in training; all others read as unknown ids do. */
public sealed interface Admission {
  /** Every id, when it is first met. */
  record Always() implements Admission {}

  /**
   * Ids met at {@code count} positions or more, those of the batch at hand included. Until then an
   * id costs not a row but about 2.3 bytes of a counting filter. An id may share its counter with
   * another one by accident, which can only admit it early; {@link TableStatistics#sharedCounters}
   * estimates how many do. Counters are never taken back.
   *
   * @param count positions, 1 to 128
   * @param expected ids that the filter is sized for, 1 to 2^40: up to so many, under 1% of them
   *     share a counter. More make the filter grow by layers, each twice as large as the one
   *     before: every full one adds {@code count / 20}% of the ids that come later
   * @param clickWeight as how many positions one of a clicked sample counts, one with a label of 1;
   *     1 to 128. Whole, as counters are
   */
  record ByCount(int count, long expected, int clickWeight) implements Admission {
    static final int MAX_COUNT = 128;
    private static final long MAX_EXPECTED = 1L << 40;

    public ByCount {
      RowPolicy.require(
          count >= 1 && count <= MAX_COUNT, "admission count", count, "1 to " + MAX_COUNT);
      RowPolicy.require(
          expected >= 1 && expected <= MAX_EXPECTED,
          "expected ids",
          expected,
          "1 to " + MAX_EXPECTED);
      RowPolicy.require(
          clickWeight >= 1 && clickWeight <= MAX_COUNT,
          "click weight",
          clickWeight,
          "1 to " + MAX_COUNT);
    }

    /** With all positions alike. */
    public ByCount(int count, long expected) {
      this(count, expected, 1);
    }
  }

  /**
   * A share of all ids, drawn once for each: whether an id is among them depends on (seed, table
   * index, id) alone, however often it is met. Costs no memory.
   *
   * @param probability share, above 0 and at most 1
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
