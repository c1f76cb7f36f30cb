package dev.tern.internal.search;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.internal.table.index.IdNumbers;
import dev.tern.model.Scorer;
import java.util.Optional;

/**
 * Distinct items with their vectors, numbered from 0 in the order in which they were added. One
 * thread adds; once it is done, any number of threads may read.
 */
public final class ItemSet implements AutoCloseable {
  /** Rows whose vectors are computed at once. */
  private static final int ROWS = 256;

  private final VectorTowers towers;
  private final int width;
  private final Batch encoded;
  private final float[] rows;
  private final int[] fresh = new int[ROWS];
  private final IdNumbers numbers = new IdNumbers();
  private final ItemVectors vectors;
  private Optional<Scorer> scorer;

  /** No items yet. Vectors lie in the memory of the network's device. */
  public ItemSet(VectorTowers towers) {
    this.towers = towers;
    width = towers.width();
    encoded = new Batch(towers.encoder().schema(), ROWS);
    rows = new float[ROWS * width];
    scorer = Optional.of(towers.items(ROWS));
    vectors = new ItemVectors(DeviceAccess.allocator(towers.network().device()), width);
  }

  /** Items so far. */
  public int size() {
    return numbers.size();
  }

  /** Takes memory for so many items in all. */
  public void reserve(int items) {
    vectors.reserve(items);
  }

  /** Bytes of the vectors. */
  public long bytes() {
    return vectors.bytes();
  }

  ItemVectors vectors() {
    return vectors;
  }

  /**
   * Adds the items of rows, of which only columns of the item are read. An item that is there
   * already, by its id, stays as it is.
   *
   * @param raw raw rows
   * @return of each row the number of its item; -1 for a row without an item
   * @throws DataException if a row has several items, or a vector is not finite; the rows before
   *     may be added then
   */
  public int[] add(Batch raw) {
    towers.encoder().requireFits(raw);
    int[] result = new int[raw.size()];
    for (int from = 0; from < raw.size(); from += ROWS) {
      int to = Math.min(raw.size(), from + ROWS);
      requireOne(raw, from, to);
      if (hasNew(raw, from, to)) {
        towers.encoder().apply(raw, from, to, encoded);
        scorer.orElseThrow().logits(encoded, rows, 0);
        requireNumbers(rows, width, "item", from, to);
      }
      vectors.reserve(size() + to - from); // Before anything is numbered, as memory may be short.
      int count = 0;
      for (int row = from; row < to; row++) {
        int before = numbers.size();
        int at = raw.offsets(towers.slot())[row];
        boolean none = at == raw.offsets(towers.slot())[row + 1];
        result[row] = none ? -1 : numbers.of(raw.ids(towers.slot())[at]);
        if (result[row] == before) {
          fresh[count++] = row - from;
        }
      }
      vectors.add(rows, fresh, count);
    }
    return result;
  }

  private void requireOne(Batch raw, int from, int to) {
    int[] offsets = raw.offsets(towers.slot());
    for (int row = from; row < to; row++) {
      if (offsets[row + 1] - offsets[row] > 1) {
        throw new DataException(
            "retrieve: got %d values of %s in row %d of a batch, expected one, as they name the row's item; mend the row"
                .formatted(offsets[row + 1] - offsets[row], towers.itemColumns().getFirst(), row));
      }
    }
  }

  /** Whether vectors are needed: in rows of clicks most items are there already. */
  private boolean hasNew(Batch raw, int from, int to) {
    long[] ids = raw.ids(towers.slot());
    int end = raw.offsets(towers.slot())[to];
    for (int i = raw.offsets(towers.slot())[from]; i < end; i++) {
      if (numbers.find(ids[i]) < 0) {
        return true;
      }
    }
    return false;
  }

  /** The number of the item of row {@code row}; -1 where it has none, or one that was not added. */
  public int number(Batch raw, int row) {
    int at = raw.offsets(towers.slot())[row];
    return at == raw.offsets(towers.slot())[row + 1]
        ? -1
        : numbers.find(raw.ids(towers.slot())[at]);
  }

  /** The number of the item with a raw id; -1 where it was not added. */
  public int find(long id) {
    return numbers.find(id);
  }

  /** Forgets all items; their memory stays. */
  public void clear() {
    numbers.clear();
    vectors.clear();
  }

  /** No more items come: frees what adding alone needs. */
  public void finish() {
    scorer.ifPresent(Scorer::close);
    scorer = Optional.empty();
  }

  static void requireNumbers(float[] vectors, int width, String of, int from, int to) {
    for (int i = 0; i < (to - from) * width; i++) {
      if (!Float.isFinite(vectors[i])) {
        throw new DataException(
            "retrieve: got %s in the vector of the %s of row %d of a batch, expected a finite number; look for a huge value among its columns, or for weights that diverged in training"
                .formatted(vectors[i], of, from + i / width));
      }
    }
  }

  @Override
  public void close() {
    finish();
    vectors.close();
  }
}
