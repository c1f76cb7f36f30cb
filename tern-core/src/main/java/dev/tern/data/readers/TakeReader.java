package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#take}. */
final class TakeReader extends DerivedReader {
  private final long rows;
  private final BatchPool pool;
  private long left;

  TakeReader(DataReader source, long rows) {
    super(source);
    this.rows = rows;
    left = rows;
    pool = new BatchPool(source.schema(), 1);
  }

  @Override
  protected Optional<Batch> read() {
    if (left == 0) {
      return Optional.empty();
    }
    Optional<Batch> next = source.next();
    if (next.isEmpty() || next.get().size() <= left) {
      left -= next.map(Batch::size).orElse(0);
      return next;
    }
    Batch first = pool.take();
    try (Batch batch = next.get()) {
      first.appendRows(batch, 0, (int) left);
    }
    left = 0;
    return Optional.of(first);
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    left = rows;
    super.begin(epoch, order);
  }

  @Override
  protected long pass(long rows) {
    long passed = source.skip(Math.min(rows, left));
    left -= passed;
    return passed;
  }

  @Override
  public OptionalLong rowCount() {
    OptionalLong all = source.rowCount();
    return all.isPresent() ? OptionalLong.of(Math.min(rows, all.getAsLong())) : all;
  }
}
