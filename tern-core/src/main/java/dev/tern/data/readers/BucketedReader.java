package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** See {@link Readers#bucketed}. */
final class BucketedReader extends DerivedReader {
  private final int slot;
  private final int[] bounds;
  private final int size;
  private final boolean dropLast;
  private final BatchPool pool;
  private final Batch[] buckets;

  /** A batch of the source of which rows before {@code at} are in their buckets. */
  private @Nullable Batch held;

  private int at;

  /** Buckets emptied after the end of the source. */
  private int emptied;

  BucketedReader(DataReader source, String slot, int[] bounds, int size, boolean dropLast) {
    super(source);
    this.slot = index(source.schema(), slot);
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

  private static int index(Schema schema, String slot) {
    for (int s = 0; s < schema.slotCount(); s++) {
      if (schema.slots().get(s).name().equals(slot)) {
        return s;
      }
    }
    throw new IllegalArgumentException(
        "bucket: got slot %s, expected one of %s"
            .formatted(slot, schema.slots().stream().map(Slot::name).toList()));
  }

  @Override
  protected Optional<Batch> read() {
    for (Batch batch = batch(); batch != null; batch = batch()) {
      while (at < batch.size()) {
        int bucket = bucket(batch, at);
        buckets[bucket].appendRow(batch, at++);
        if (buckets[bucket].size() == size) {
          return Optional.of(empty(bucket));
        }
      }
      drop();
    }
    return rest();
  }

  /** The batch at hand, else the next; null at the end. */
  private @Nullable Batch batch() {
    if (held == null && emptied == 0) {
      held = source.next().orElse(null);
      at = 0;
    }
    return held;
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

  /** What is left in the buckets, the one of the shortest rows first. */
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
    drop();
    emptied = 0;
    for (Batch bucket : buckets) {
      bucket.clear();
    }
    super.begin(epoch, order);
  }

  private void drop() {
    Batch batch = held;
    if (batch != null) {
      held = null;
      batch.close();
    }
  }

  @Override
  public OptionalLong rowCount() {
    return dropLast ? OptionalLong.empty() : source.rowCount();
  }

  @Override
  protected void release() {
    drop();
    super.release();
  }
}
