package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.Optional;

/** A reader of some rows of another one. */
abstract class PickedReader extends DerivedReader {
  private final BatchPool pool;
  private int[] picked = new int[1024];

  /** Rows of the source read or skipped in this pass. */
  long at;

  PickedReader(DataReader source) {
    super(source);
    pool = new BatchPool(source.schema(), 1024);
  }

  /**
   * Puts the numbers of the rows to give, ascending, into {@code picked}.
   *
   * @param batch rows {@link #at} onwards of the source
   * @param picked as long as the batch at least
   * @return how many rows to give
   */
  abstract int pick(Batch batch, int[] picked);

  @Override
  protected final Optional<Batch> read() {
    for (Optional<Batch> next = source.nextView(); next.isPresent(); next = source.nextView()) {
      try (Batch batch = next.get()) {
        if (picked.length < batch.size()) {
          picked = new int[Math.max(batch.size(), 2 * picked.length)];
        }
        int count = pick(batch, picked);
        at += batch.size();
        if (count > 0) {
          Batch out = pool.take();
          out.gatherRows(batch, picked, 0, count);
          return Optional.of(out);
        }
      }
    }
    return Optional.empty();
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    at = 0;
    super.begin(epoch, order);
  }
}
