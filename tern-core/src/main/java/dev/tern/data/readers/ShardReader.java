package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.OptionalLong;

/** See {@link Readers#shard}. */
final class ShardReader extends PickedReader {
  private final int rank;
  private final int count;

  ShardReader(DataReader source, int rank, int count) {
    super(source);
    this.rank = rank;
    this.count = count;
  }

  @Override
  int pick(Batch batch, int[] picked) {
    int own = 0;
    for (long row = toNextOwn(); row < batch.size(); row += count) {
      picked[own++] = (int) row;
    }
    return own;
  }

  /** Rows of other ranks before the next of this one. */
  private long toNextOwn() {
    return Math.floorMod(rank - at, (long) count);
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
