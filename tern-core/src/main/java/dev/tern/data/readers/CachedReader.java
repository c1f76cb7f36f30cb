package dev.tern.data.readers;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.ReaderState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#cached}. The source is behind the last batch kept, except after a failure. */
final class CachedReader extends DerivedReader {
  private final long maxBytes;
  private final BatchPool pool;
  private final List<Batch> kept = new ArrayList<>();
  private long keptBytes;
  private long keptRows;

  /** Whether all rows of a pass are kept. */
  private boolean complete;

  /** Whether the source may be at another place, after a failure. */
  private boolean astray;

  /** The kept batches that were given or skipped in this pass. */
  private int current;

  CachedReader(DataReader source, long maxBytes) {
    super(source);
    this.maxBytes = maxBytes;
    pool = new BatchPool(source.schema(), 1024);
  }

  @Override
  protected Optional<Batch> read() {
    if (current == kept.size() && (complete || !keepNext())) {
      return Optional.empty();
    }
    Batch batch = kept.get(current++);
    Batch lent = pool.take();
    lent.appendRows(batch, 0, batch.size());
    return Optional.of(lent);
  }

  /** Reads and keeps the next batch of the source; false at its end. */
  private boolean keepNext() {
    if (astray) {
      source.restore(new ReaderState(0, keptRows, source.state().order()));
    }
    astray = true; // for the case that one of these throws
    Optional<Batch> next = source.next();
    if (next.isPresent()) {
      try (Batch batch = next.get()) {
        keep(batch);
      }
    }
    astray = false;
    complete = next.isEmpty();
    return !complete;
  }

  private void keep(Batch batch) {
    Batch copy = new Batch(batch.schema(), batch.size());
    copy.appendRows(batch, 0, batch.size());
    long bytes = bytes(copy);
    if (bytes > maxBytes - keptBytes) {
      throw new DataException(
          ("cache: rows %d to %d: got %d bytes in all, expected at most %d; allow more, or read"
                  + " without a cache")
              .formatted(keptRows + 1, keptRows + batch.size(), keptBytes + bytes, maxBytes));
    }
    kept.add(copy);
    keptBytes += bytes;
    keptRows += batch.size();
  }

  private static long bytes(Batch batch) {
    long bytes = 4L * batch.labels().length + 4L * batch.dense().length;
    bytes += 4L * batch.rowWeights().length;
    for (int s = 0; s < batch.schema().slotCount(); s++) {
      bytes += 8L * batch.ids(s).length + 4L * batch.offsets(s).length;
      bytes += 4L * batch.weights(s).length;
    }
    return bytes;
  }

  @Override
  protected long pass(long rows) {
    long passed = 0;
    while (current < kept.size() && kept.get(current).size() <= rows - passed) {
      passed += kept.get(current++).size();
    }
    return passed;
  }

  /** Keeps the batches, unless they came in another order than the one asked for. */
  @Override
  protected void begin(int epoch, PassOrder order) {
    current = 0;
    if (!order.isFixed() && !order.equals(source.state().order())) {
      kept.clear();
      keptBytes = 0;
      keptRows = 0;
      complete = false;
      astray = false;
      source.restore(new ReaderState(0, 0, order));
    }
  }

  @Override
  public OptionalLong rowCount() {
    return complete ? OptionalLong.of(keptRows) : source.rowCount();
  }

  @Override
  protected void release() {
    kept.clear();
    super.release();
  }
}
