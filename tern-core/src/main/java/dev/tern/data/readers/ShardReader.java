package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#shard}. */
final class ShardReader extends DerivedReader {
  private final int rank;
  private final int count;
  private final BatchPool pool;
  private int[] rows = new int[1024];

  /** Rows of the source read or skipped in this pass. */
  private long at;

  ShardReader(DataReader source, int rank, int count) {
    super(source);
    this.rank = rank;
    this.count = count;
    pool = new BatchPool(source.schema(), 1024);
  }

  @Override
  protected Optional<Batch> read() {
    for (Optional<Batch> next = source.next(); next.isPresent(); next = source.next()) {
      try (Batch batch = next.get()) {
        int own = ownRows(batch.size());
        at += batch.size();
        if (own > 0) {
          Batch out = pool.take();
          out.gatherRows(batch, rows, 0, own);
          return Optional.of(out);
        }
      }
    }
    return Optional.empty();
  }

  /** Puts the rows of this rank among the next {@code size} into {@code rows}. */
  private int ownRows(int size) {
    if (rows.length < size) {
      rows = Arrays.copyOf(rows, Math.max(size, 2 * rows.length));
    }
    int own = 0;
    for (long row = toNextOwn(); row < size; row += count) {
      rows[own++] = (int) row;
    }
    return own;
  }

  /** Rows of other ranks before the next of this one. */
  private long toNextOwn() {
    return Math.floorMod(rank - at, (long) count);
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    at = 0;
    super.begin(epoch, order);
  }

  @Override
  protected long pass(long rows) {
    long first = toNextOwn();
    long more = Math.min(rows - 1, Long.MAX_VALUE / count - 2);
    long passed = source.skip(first + more * count + 1);
    at += passed;
    return passed > first ? (passed - first - 1) / count + 1 : 0;
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong all = source.rowCount();
    return all.isPresent() ? OptionalLong.of((all.getAsLong() - rank + count - 1) / count) : all;
  }
}
