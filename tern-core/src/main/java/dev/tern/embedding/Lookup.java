package dev.tern.embedding;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The ids of one batch found in one table: which distinct ids there are, where their rows lie, and
 * which of them each position holds. Filled by {@link EmbeddingTable#find}, used again for the next
 * batch; after the first few batches it allocates nothing. Filled and applied by one thread at a
 * time; several threads may pool it at once.
 */
public final class Lookup {
  private static final long SEEN = 0xFFFFFFFFL;

  private @Nullable EmbeddingTable table;
  private int count;
  private int unique;
  long version;

  /** Whether some id has no row and each such id reads as a row of its own. */
  boolean perId;

  /** Per position: index of its id among the distinct ones. */
  int[] inverse = new int[0];

  /** Per distinct id, in order of first position: the id, its hash, row number or -1, address. */
  long[] ids = new long[0];

  long[] hashes = new long[0];
  int[] rows = new int[0];
  long[] addresses = new long[0];

  /** Open addressing by hash: 0, or the hash's high half and the distinct id's index + 1. */
  private long[] seen = new long[32];

  /** Per distinct id, where its bags begin in {@link #order}; then the end of the last one. */
  int[] starts = new int[1];

  /** Bags by distinct id, in order of position. */
  int[] order = new int[0];

  /** Positions, {@code N}. */
  public int count() {
    return count;
  }

  /** Distinct ids, {@code U}. */
  public int unique() {
    return unique;
  }

  /** {@link EmbeddingTable#version()} of the rows that this lookup stands for. */
  public long version() {
    return version;
  }

  EmbeddingTable table() {
    if (table == null) {
      throw new IllegalStateException("lookup: got one never filled; call find first");
    }
    return table;
  }

  /** Takes new ids: distinct ones in order of first position, and which one each position holds. */
  void fill(EmbeddingTable owner, long[] batch, int positions) {
    Objects.checkFromIndexSize(0, positions, batch.length);
    table = owner;
    count = positions;
    if (inverse.length < positions) {
      grow(positions);
    }
    int slots = slotsFor(positions);
    Arrays.fill(seen, 0, slots, 0);
    unique = dedup(batch, slots - 1);
  }

  private static int slotsFor(int positions) {
    return Integer.highestOneBit(Math.max(8, positions - 1)) << 2;
  }

  private void grow(int positions) {
    int capacity = Math.max(positions, Math.min(2 * inverse.length, 1 << 28));
    if (capacity > 1 << 28) {
      throw new IllegalArgumentException(
          "lookup: got " + positions + " ids, expected at most 2^28; use smaller batches");
    }
    inverse = new int[capacity];
    ids = new long[capacity];
    hashes = new long[capacity];
    rows = new int[capacity];
    addresses = new long[capacity];
    starts = new int[capacity + 1];
    seen = new long[slotsFor(capacity)];
  }

  private int dedup(long[] batch, int mask) {
    int distinct = 0;
    for (int i = 0; i < count; i++) {
      long id = batch[i];
      long hash = IdIndex.hash(id);
      long tag = hash & ~SEEN;
      int slot = (int) hash & mask;
      while (true) {
        long entry = seen[slot];
        if (entry == 0) {
          ids[distinct] = id;
          hashes[distinct] = hash;
          inverse[i] = distinct++;
          seen[slot] = tag | distinct;
          break;
        }
        int index = (int) (entry & SEEN) - 1;
        if ((entry & ~SEEN) == tag && ids[index] == id) {
          inverse[i] = index;
          break;
        }
        slot = (slot + 1) & mask;
      }
    }
    return distinct;
  }

  /** Bags in {@link #order} by distinct id, each id's in order of position. */
  void groupByRow(int[] offsets, int bags) {
    int first = offsets[0];
    int end = offsets[bags];
    if (order.length < end - first) {
      order = new int[Math.max(end - first, inverse.length)];
    }
    Arrays.fill(starts, 0, unique + 1, 0);
    for (int i = first; i < end; i++) {
      starts[inverse[i]]++;
    }
    int sum = 0;
    for (int u = 0; u <= unique; u++) {
      sum += starts[u];
      starts[u] = sum;
    }
    for (int b = bags - 1; b >= 0; b--) {
      for (int i = offsets[b + 1] - 1; i >= offsets[b]; i--) {
        order[--starts[inverse[i]]] = b;
      }
    }
  }
}
