package dev.tern.cli.inspect;

import dev.tern.cli.run.Spread;
import dev.tern.data.Batch;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * How often each value of a slot occurs, and the labels of its rows. The first {@link #MOST} values
 * are counted each, all others together.
 */
final class ValueRates {
  /** Values that are told apart. */
  static final int MOST = 1 << 16;

  private final Map<Long, Tally> values = new HashMap<>();
  private final Tally others = new Tally();
  private final Tally none = new Tally();
  private long ids;

  /** Occurrences of a value, and the labels of their rows. */
  static final class Tally {
    private long count;
    private long labelled;
    private double sum;
    private double squares;

    private void add(float label) {
      count++;
      if (!Float.isNaN(label)) {
        labelled++;
        sum += label;
        squares += (double) label * label;
      }
    }

    long count() {
      return count;
    }

    /** The mean label with its interval; NaN where no row has a label. */
    Spread rate(boolean binary) {
      return binary ? Spread.ofRate(sum, labelled) : Spread.ofSums(sum, squares, labelled);
    }
  }

  /** A value with its tally. */
  record Value(long id, Tally tally) {}

  /**
   * Adds the rows of a batch.
   *
   * @param label the label that rates are of; negative for none
   */
  void add(Batch batch, int slot, int label) {
    int labels = batch.schema().labelDim();
    long[] all = batch.ids(slot);
    int[] offsets = batch.offsets(slot);
    for (int row = 0; row < batch.size(); row++) {
      float own = label < 0 ? Float.NaN : batch.labels()[row * labels + label];
      for (int i = offsets[row]; i < offsets[row + 1]; i++) {
        of(all[i]).add(own);
      }
      if (offsets[row] == offsets[row + 1]) {
        none.add(own);
      }
      ids += offsets[row + 1] - offsets[row];
    }
  }

  private Tally of(long id) {
    Tally known = values.get(id);
    if (known != null) {
      return known;
    }
    if (values.size() == MOST) {
      return others;
    }
    Tally tally = new Tally();
    values.put(id, tally);
    return tally;
  }

  /** The values that occur most, those that occur as often by their ids. */
  List<Value> top(int most) {
    return values.entrySet().stream()
        .map(entry -> new Value(entry.getKey(), entry.getValue()))
        .sorted(
            Comparator.comparingLong((Value value) -> -value.tally().count())
                .thenComparingLong(Value::id))
        .limit(most)
        .toList();
  }

  /** Occurrences of a value; 0 for one that is not told apart. */
  long count(long id) {
    Tally tally = values.get(id);
    return tally == null ? 0 : tally.count();
  }

  boolean knows(long id) {
    return values.containsKey(id);
  }

  /** Whether all values are told apart. */
  boolean isWhole() {
    return others.count == 0;
  }

  /** Occurrences of all values that are not told apart. */
  Tally others() {
    return others;
  }

  /** Rows without a value. */
  Tally none() {
    return none;
  }

  /** Occurrences of all values. */
  long ids() {
    return ids;
  }

  /** Values that are told apart. */
  int distinct() {
    return values.size();
  }

  /** Occurrences of values that {@code known} has not seen. */
  long unknownTo(ValueRates known) {
    long unknown = 0;
    for (Map.Entry<Long, Tally> entry : values.entrySet()) {
      unknown += known.knows(entry.getKey()) ? 0 : entry.getValue().count();
    }
    return unknown;
  }
}
