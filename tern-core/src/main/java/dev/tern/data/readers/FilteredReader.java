package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#filtered}. */
final class FilteredReader extends DerivedReader {
  private final RowFilter filter;
  private final BatchPool pool;
  private int[] kept = new int[1024];
  private int epoch;

  /** Rows of the source read in this pass. */
  private long at;

  FilteredReader(DataReader source, RowFilter filter) {
    super(source);
    this.filter = Objects.requireNonNull(filter, "filter");
    pool = new BatchPool(source.schema(), 1024);
  }

  @Override
  protected Optional<Batch> read() {
    for (Optional<Batch> next = source.next(); next.isPresent(); next = source.next()) {
      try (Batch batch = next.get()) {
        int count = filter(batch);
        at += batch.size();
        if (count > 0) {
          Batch out = pool.take();
          out.gatherRows(batch, kept, 0, count);
          return Optional.of(out);
        }
      }
    }
    return Optional.empty();
  }

  /** Puts the rows to keep into {@code kept}; returns how many. */
  private int filter(Batch batch) {
    if (kept.length < batch.size()) {
      kept = Arrays.copyOf(kept, Math.max(batch.size(), 2 * kept.length));
    }
    int count = 0;
    for (int row = 0; row < batch.size(); row++) {
      if (keeps(batch, row)) {
        kept[count++] = row;
      }
    }
    return count;
  }

  private boolean keeps(Batch batch, int row) {
    try {
      return filter.keeps(batch, row);
    } catch (RuntimeException e) {
      throw CheckedMap.failed("filter", "row " + (at + row + 1), epoch, e);
    }
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    this.epoch = epoch;
    at = 0;
    super.begin(epoch, order);
  }

  @Override
  public OptionalLong rowCount() {
    return OptionalLong.empty();
  }
}
