package dev.tern.cli.understand;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.readers.ColumnPick;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A sample of the rows of a reader, in their order, each with the same chance. A row has a number
 * at random, which depends on the seed and its place alone, and the rows with the least numbers
 * stay. Memory holds at most twice the rows of the sample.
 */
final class RowSample {
  private final int most;
  private final long seed;
  private @Nullable Batch kept;
  private long[] numbers = new long[1024];

  /** Rows with a number above this one are not among the least. */
  private long bound = Long.MAX_VALUE;

  private long seen;

  private RowSample(int most, long seed) {
    this.most = most;
    this.seed = seed;
  }

  /**
   * The sample.
   *
   * @param batch rows with the columns of the model and all labels
   * @param seen rows of which they are a sample
   */
  record Rows(Batch batch, long seen) {}

  /**
   * Reads all rows.
   *
   * @param wanted numbers and slots to keep
   * @param most rows of the sample
   * @param progress receives the rows read so far
   */
  static Rows of(DataReader reader, Schema wanted, int most, long seed, LongConsumer progress) {
    RowSample sample = new RowSample(most, seed);
    ColumnPick pick = ColumnPick.of(reader.schema(), wanted);
    for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
      try (Batch batch = next.get()) {
        sample.add(pick.of(batch));
      }
      progress.accept(sample.seen);
    }
    return sample.end(reader.schema());
  }

  private void add(Batch rows) {
    Batch to = kept == null ? new Batch(rows.schema(), 1024) : kept;
    kept = to;
    int from = 0;
    for (int row = 0; row <= rows.size(); row++) {
      boolean taken = row < rows.size() && number(seen + row) <= bound;
      if (taken) {
        int place = to.size() + row - from;
        if (place == numbers.length) {
          numbers = Arrays.copyOf(numbers, 2 * place);
        }
        numbers[place] = number(seen + row);
      } else {
        to.appendRows(rows, from, row);
        from = row + 1;
      }
    }
    seen += rows.size();
    if (to.size() >= 2L * most) {
      kept = least(to);
    }
  }

  /** The sample alone. */
  private Batch least(Batch rows) {
    if (rows.size() <= most) {
      return rows;
    }
    long[] sorted = Arrays.copyOf(numbers, rows.size());
    Arrays.sort(sorted);
    bound = sorted[most - 1];
    int[] stay = new int[most];
    int count = 0;
    for (int row = 0; row < rows.size(); row++) {
      if (numbers[row] <= bound) {
        numbers[count] = numbers[row];
        stay[count++] = row;
      }
    }
    Batch sample = new Batch(rows.schema(), most);
    sample.gatherRows(rows, stay, 0, count);
    return sample;
  }

  private Rows end(Schema schema) {
    return new Rows(kept == null ? new Batch(schema, 1) : least(kept), seen);
  }

  /** Different for each row: both steps can be undone. */
  private long number(long row) {
    long z = row * 0x9E3779B97F4A7C15L + seed * 0xD1342543DE82EF95L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
