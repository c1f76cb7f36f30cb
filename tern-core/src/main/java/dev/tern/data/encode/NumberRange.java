package dev.tern.data.encode;

import java.util.Arrays;
import java.util.Optional;

/** Count and range of the numbers of a dense column that are not missing. */
final class NumberRange {
  private long count;
  private float least = Float.POSITIVE_INFINITY;
  private float most = Float.NEGATIVE_INFINITY;

  /** One for each of {@code columns}. */
  static NumberRange[] of(int columns) {
    NumberRange[] ranges = new NumberRange[columns];
    Arrays.setAll(ranges, _ -> new NumberRange());
    return ranges;
  }

  void add(float x) {
    count++;
    least = Math.min(least, x);
    most = Math.max(most, x);
  }

  TrainingFacts.Column facts(String name, long rows) {
    Optional<String> only =
        least == most
            ? Optional.of(least == (long) least ? Long.toString((long) least) : "" + least)
            : Optional.empty();
    return new TrainingFacts.Column(name, rows - count, 0, only);
  }
}
