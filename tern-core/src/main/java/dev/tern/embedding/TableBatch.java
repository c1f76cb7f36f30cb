package dev.tern.embedding;

import dev.tern.data.Batch;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import java.util.Arrays;

/**
 * What a batch holds for one table: the ids of its slots, found as one lookup. The ids of several
 * slots stand slot after slot: bags {@code firsts[k]} to {@code firsts[k + 1] - 1} belong to the
 * table's slot {@code k}. A pooled slot has a bag for each row, a slot of a sequence one for each
 * id. So an id that occurs in several slots has one row, one gradient and one step. The ids of a
 * single slot are read from the batch without a copy.
 */
final class TableBatch {
  /** The table's slots. */
  final int[] slots;

  /** Of each slot its first bag, then the number of all bags. */
  final int[] firsts;

  private final SlotPlaces places;

  final RowLookup lookup = new RowLookup();

  /** Rows of the batch, {@code B}. */
  int rows;

  /** The ids of all positions, {@link #count} of them. */
  long[] ids = new long[0];

  /** Where each bag begins and ends among the positions. */
  int[] offsets = new int[1];

  /** One for each position, or {@link PooledBags#UNWEIGHTED}. */
  float[] weights = PooledBags.UNWEIGHTED;

  /** For ids, offsets and weights of several slots. */
  private long[] joinedIds = new long[0];

  private int[] joinedOffsets = new int[1];

  private float[] joinedWeights = PooledBags.UNWEIGHTED;

  TableBatch(int[] slots, SlotPlaces places) {
    this.slots = slots;
    this.places = places;
    firsts = new int[slots.length + 1];
  }

  /** Bags of all slots. */
  int bags() {
    return firsts[slots.length];
  }

  int count() {
    return offsets[bags()];
  }

  /** Takes the ids of a batch, which stays as it is while this is in use. */
  void take(Batch batch) {
    rows = batch.size();
    for (int k = 0; k < slots.length; k++) {
      int bags = places.isPooled(slots[k]) ? rows : batch.idCount(slots[k]);
      firsts[k + 1] = Math.addExact(firsts[k], bags);
    }
    if (slots.length == 1 && places.isPooled(slots[0])) {
      ids = batch.ids(slots[0]);
      offsets = batch.offsets(slots[0]);
      weights = batch.weights(slots[0]);
    } else {
      join(batch);
    }
  }

  /**
   * Counts the clicks among the positions of a batch just taken and looked up. The ids of a
   * sequence were not shown in the row, so its label says nothing of them.
   */
  void countClicks(Batch batch) {
    lookup.clicks.begin();
    for (int k = 0; k < slots.length; k++) {
      if (places.isPooled(slots[k])) {
        int labels = batch.schema().labelDim();
        lookup.clicks.add(offsets, firsts[k], batch.labels(), rows, labels);
      }
    }
  }

  private void join(Batch batch) {
    int positions = 0;
    for (int slot : slots) {
      positions = Math.addExact(positions, batch.idCount(slot));
    }
    if (slots.length > 1 && joinedIds.length < positions) {
      joinedIds = new long[positions + positions / 4];
    }
    if (joinedOffsets.length <= bags()) {
      joinedOffsets = new int[bags() + bags() / 4 + 1];
    }
    int end = 0;
    for (int k = 0; k < slots.length; k++) {
      if (slots.length > 1) {
        System.arraycopy(batch.ids(slots[k]), 0, joinedIds, end, batch.idCount(slots[k]));
      }
      int[] from = batch.offsets(slots[k]);
      boolean pooled = places.isPooled(slots[k]);
      for (int b = 0; b <= firsts[k + 1] - firsts[k]; b++) {
        joinedOffsets[firsts[k] + b] = end + (pooled ? from[b] : b);
      }
      end += batch.idCount(slots[k]);
    }
    ids = slots.length > 1 ? joinedIds : batch.ids(slots[0]);
    offsets = joinedOffsets;
    weights = joinWeights(batch, end);
  }

  /** The weights of all positions if some slot has weights; 1 where a slot has none. */
  private float[] joinWeights(Batch batch, int positions) {
    boolean none = true;
    for (int slot : slots) {
      none &= batch.weights(slot).length == 0;
    }
    if (none) {
      return PooledBags.UNWEIGHTED;
    }
    if (joinedWeights.length < positions) {
      joinedWeights = new float[positions + positions / 4 + 1];
    }
    int end = 0;
    for (int slot : slots) {
      int count = batch.idCount(slot);
      float[] from = batch.weights(slot);
      if (from.length == 0) {
        Arrays.fill(joinedWeights, end, end + count, 1);
      } else {
        System.arraycopy(from, 0, joinedWeights, end, count);
      }
      end += count;
    }
    return joinedWeights;
  }
}
