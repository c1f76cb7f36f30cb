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
  private static final int MAX_POSITIONS = 1 << 27;

  /** Bits of a hash that neither find its bucket in a small table nor its segment. */
  private static final int SEEN_SHIFT = 20;

  private @Nullable EmbeddingTable table;
  private int count;
  private int unique;
  private long version;

  /** Whether every id has a row. */
  boolean complete;

  /** Per position: index of its id among the distinct ones. */
  int[] inverse = new int[0];

  /** Per distinct id, in order of first position: the id, its hash, row number or -1, address. */
  long[] ids = new long[0];

  long[] hashes = new long[0];
  int[] rows = new int[0];
  long[] addresses = new long[0];

  /**
   * Indexes of the distinct ids that had no row when they were looked up, as many as counted then.
   */
  int[] missing = new int[0];

  /** Keeps alive the loads that only warm the cache. */
  int touched;

  /** Per position, as far as {@link #spread} said: its bag, and by how much it counts there. */
  int[] bags = new int[0];

  float[] scales = new float[0];

  /** Open addressing by hash: 0, or index of a distinct id + 1. Under a quarter full. */
  private int[] seen = new int[slotsFor(0)];

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

  /** Says whose rows these are, and of which version. */
  void found(EmbeddingTable owner, long rowVersion) {
    table = owner;
    version = rowVersion;
  }

  /**
   * Takes new ids: distinct ones in order of first position, and which one each position holds. Of
   * use only after {@link #found}.
   */
  void fill(long[] batch, int positions) {
    Objects.checkFromIndexSize(0, positions, batch.length);
    table = null;
    count = positions;
    if (inverse.length < positions) {
      grow(positions);
    }
    for (int i = 0; i < positions; i++) {
      hashes[i] = IdIndex.hash(batch[i]);
    }
    int slots = slotsFor(positions);
    Arrays.fill(seen, 0, slots, 0);
    unique = dedup(batch, slots - 1);
  }

  private static int slotsFor(int positions) {
    return Integer.highestOneBit(Math.max(2, positions - 1)) << 3;
  }

  private void grow(int positions) {
    if (positions > MAX_POSITIONS) {
      throw new IllegalArgumentException(
          "lookup: got "
              + positions
              + " ids, expected at most "
              + MAX_POSITIONS
              + "; use smaller batches");
    }
    int capacity = Math.min(MAX_POSITIONS, Math.max(positions, 3 * (inverse.length / 2)));
    inverse = new int[capacity];
    ids = new long[capacity];
    hashes = new long[capacity];
    rows = new int[capacity];
    addresses = new long[capacity];
    missing = new int[capacity];
    bags = new int[capacity];
    scales = new float[capacity];
    seen = new int[slotsFor(capacity)];
  }

  /**
   * Moves the hashes of distinct ids to the front; there are no more of them than positions read.
   */
  private int dedup(long[] batch, int mask) {
    int distinct = 0;
    for (int i = 0; i < count; i++) {
      long id = batch[i];
      long hash = hashes[i];
      int slot = (int) (hash >>> SEEN_SHIFT) & mask;
      while (true) {
        int index = seen[slot] - 1;
        if (index < 0) {
          ids[distinct] = id;
          hashes[distinct] = hash;
          inverse[i] = distinct++;
          seen[slot] = distinct;
          break;
        }
        if (ids[index] == id) {
          inverse[i] = index;
          break;
        }
        slot = (slot + 1) & mask;
      }
    }
    return distinct;
  }

  /**
   * Writes the bag and scale of every position of bags {@code from} to {@code to - 1}. Threads may
   * do this at once for bags that do not overlap.
   */
  void spread(int[] offsets, int from, int to, Combiner combiner) {
    for (int b = from; b < to; b++) {
      int begin = offsets[b];
      int end = offsets[b + 1];
      float scale = combiner == Combiner.MEAN ? 1f / (end - begin) : 1;
      for (int i = begin; i < end; i++) {
        bags[i] = b;
        scales[i] = scale;
      }
    }
  }
}
