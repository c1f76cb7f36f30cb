package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#bucketed}. */
final class BucketedReader extends DerivedReader {
  private final int slot;
  private final int[] bounds;
  private final int size;
  private final boolean dropLast;
  private final BatchPool pool;
  private final Batch[] buckets;
  private final RowCursor cursor;

  /** Buckets that were emptied after the end of the source. */
  private int emptied;

  BucketedReader(DataReader source, String slot, int[] bounds, int size, boolean dropLast) {
    super(source);
    cursor = new RowCursor(source);
    this.slot = source.schema().slotNames().indexOf(slot);
    if (this.slot < 0) {
      throw new IllegalArgumentException(
          "bucket: got slot %s, expected one of %s".formatted(slot, source.schema().slotNames()));
    }
    this.bounds = bounds.clone();
    this.size = size;
    this.dropLast = dropLast;
    for (int i = 0; i < bounds.length; i++) {
      if (bounds[i] < 0 || i > 0 && bounds[i] <= bounds[i - 1]) {
        throw new IllegalArgumentException(
            "bucket: got bound %d at place %d, expected ascending numbers of ids from 0"
                .formatted(bounds[i], i + 1));
      }
    }
    pool = new BatchPool(source.schema(), Math.min(size, 1024));
    buckets = new Batch[bounds.length + 1];
    for (int i = 0; i < buckets.length; i++) {
      buckets[i] = pool.take();
    }
  }

  @Override
  protected Optional<Batch> read() {
    while (emptied == 0) {
      Batch batch = cursor.peek();
      if (batch == null) {
        break;
      }
      int row = cursor.row();
      int bucket = bucket(batch, row);
      buckets[bucket].appendRow(batch, row);
      cursor.advance(batch, 1);
      if (buckets[bucket].size() == size) {
        return Optional.of(empty(bucket));
      }
    }
    return rest();
  }

  private int bucket(Batch batch, int row) {
    int[] offsets = batch.offsets(slot);
    int ids = offsets[row + 1] - offsets[row];
    int bucket = 0;
    while (bucket < bounds.length && ids > bounds[bucket]) {
      bucket++;
    }
    return bucket;
  }

  private Batch empty(int bucket) {
    Batch full = buckets[bucket];
    buckets[bucket] = pool.take();
    return full;
  }

  /** The rest in the buckets, the bucket of the shortest rows first. */
  private Optional<Batch> rest() {
    while (emptied < buckets.length) {
      int bucket = emptied++;
      if (buckets[bucket].size() > 0 && !dropLast) {
        return Optional.of(empty(bucket));
      }
    }
    return Optional.empty();
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    emptied = 0;
    for (Batch bucket : buckets) {
      bucket.clear();
    }
    cursor.start(epoch, order);
  }

  @Override
  public OptionalLong rowCount() {
    return dropLast ? OptionalLong.empty() : source.rowCount();
  }

  @Override
  protected void release() {
    cursor.close();
  }
}
