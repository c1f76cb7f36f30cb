package dev.tern.internal.table.policy;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.tier.TierMemory;
import java.util.Arrays;
import java.util.Optional;

/**
 * Counts how often ids without a row were met, in 2 bytes an id: cells that hold a fingerprint and
 * a count below {@code limit}, found by linear probing. A cell is {@code 0} when empty, else {@code
 * 1 + fingerprint * (limit - 1) + count - 1}. After Monolith's hash filter (Liu et al. 2022,
 * section 2.2), with exact counts and without ageing.
 *
 * <p>An id shares the cell of an earlier id that has the same fingerprint and lies on its probe
 * path, so counts are never too low. When {@link #FULL} of 8 cells are in use, new ids go to a
 * further layer of twice as many cells. A search goes through all layers, oldest first. Nothing is
 * ever removed, so an id always finds the same cell.
 */
public final class CountingFilter {
  private static final int CELL = 2;
  private static final int CELLS_PER_WORD = Long.BYTES / CELL;

  /** Of 8 cells, the most in use. */
  private static final int FULL = 7;

  private static final int MAX_LAYERS = 24;

  private final Allocator allocator;
  private final String holder;

  // Different values in a cell.
  private final int counts;
  private final int fingerprints;

  private final long[] layers = new long[MAX_LAYERS];
  private final long[] cells = new long[MAX_LAYERS];
  private int layerCount;

  /** Cells in use in the last layer. */
  private long used;

  /** How many cells of other ids all new ids were compared with. */
  private long compared;

  private final Optional<TierMemory> tier;
  private Optional<NumberSet> changed = Optional.empty();

  /**
   * A filter that admits at {@code limit}, 2 or more, with {@code expected} ids in its first layer.
   *
   * @param tier its memory holds the cells, if the table has one
   * @throws IllegalStateException if too little of that is left, here or for a further layer
   */
  CountingFilter(
      int limit, long expected, Optional<TierMemory> tier, Allocator allocator, String holder) {
    this.tier = tier;
    this.allocator = allocator;
    this.holder = holder;
    counts = limit - 1;
    fingerprints = 0xFFFF / counts;
    cells[0] = (expected * 8 / FULL + 2 * CELLS_PER_WORD) & -CELLS_PER_WORD;
    addLayer();
  }

  private void addLayer() {
    if (layerCount == MAX_LAYERS) {
      throw new IllegalStateException(
          holder + ": got more ids than it can count; expect more, or use several tables");
    }
    if (layerCount > 0) {
      cells[layerCount] = 2 * cells[layerCount - 1];
    }
    long bytes = CELL * cells[layerCount];
    if (tier.isPresent() && tier.get().take(bytes, bytes) == 0) {
      throw new IllegalStateException(
          "%s: got %d bytes of memory left of %d for tables with files, expected %d to count ids;"
                  .formatted(holder, tier.get().left(), tier.get().memory(), bytes)
              + " give them more memory, or expect as many ids as there are");
    }
    try {
      layers[layerCount] = allocator.allocate(bytes, holder);
    } catch (RuntimeException | Error e) {
      tier.ifPresent(shared -> shared.giveBack(bytes));
      throw e;
    }
    Memory.zero(layers[layerCount++], bytes);
    used = 0;
  }

  public long bytes() {
    return CELL * words() * CELLS_PER_WORD;
  }

  /** Ids that share their cell with an earlier one, as an estimate. */
  double shared() {
    return compared / (double) fingerprints;
  }

  long compared() {
    return compared;
  }

  /**
   * Adds {@code times}, 1 or more, to the count of an id.
   *
   * @param hash the {@link dev.tern.internal.table.index.Hashing#mix} of the id
   * @return whether the count is now {@code limit} or more
   */
  boolean count(long hash, int times) {
    long first = ((hash & 0xFFFFFFFFL) * fingerprints >>> 32) * counts + 1;
    long before = compared;
    for (int layer = 0; ; layer++) {
      long at = find(layer, hash, first);
      int value = cell(layers[layer] + CELL * at);
      if (value != 0) {
        compared = before; // not a new id
        return raise(layer, at, first, value - (int) first + 1, times);
      }
      if (layer == layerCount - 1) {
        return insert(at, hash, first, times);
      }
    }
  }

  /** The cell with a value from {@code first} to {@code first + counts - 1}, or an empty one. */
  private long find(int layer, long hash, long first) {
    long at = Math.unsignedMultiplyHigh(hash, cells[layer]);
    for (int value = cell(layers[layer] + CELL * at);
        value != 0 && (value < first || value >= first + counts);
        value = cell(layers[layer] + CELL * at)) {
      compared++;
      at = at + 1 == cells[layer] ? 0 : at + 1;
    }
    return at;
  }

  private boolean raise(int layer, long at, long first, int met, int times) {
    boolean enough = times > counts - met;
    long cell = layers[layer] + CELL * at;
    short value = (short) (first - 1 + (enough ? counts : met + times));
    if (changed.isPresent() && Memory.getShort(cell) != value) {
      long before = cells[0] * ((1L << layer) - 1); // each layer is twice the one before
      changed.get().add((before + at) / CELLS_PER_WORD);
    }
    Memory.setShort(cell, value);
    return enough;
  }

  private boolean insert(long at, long hash, long first, int times) {
    long cell = at;
    if (used >= cells[layerCount - 1] / 8 * FULL) {
      addLayer();
      cell = find(layerCount - 1, hash, first);
    }
    used++;
    return raise(layerCount - 1, cell, first, 0, times);
  }

  private static int cell(long address) {
    return Memory.getShort(address) & 0xFFFF;
  }

  /** All cells, as words of 8 bytes. */
  public long words() {
    return Arrays.stream(cells, 0, layerCount).sum() / CELLS_PER_WORD;
  }

  /** From now on notes which words change; forgets what changed before. */
  public void trackChanges() {
    changed = Optional.of(new NumberSet());
  }

  /** Numbers of the words that changed since {@link #trackChanges}, ascending. */
  public long[] changedWords() {
    return changed.map(NumberSet::numbers).orElse(new long[0]);
  }

  /** Copies {@code count} words from number {@code from} on. */
  public void read(long from, long[] into, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = Memory.getLong(word(from + i));
    }
  }

  public void copyTo(long address) {
    long at = address;
    for (int layer = 0; layer < layerCount; layer++) {
      Memory.copy(layers[layer], at, CELL * cells[layer]);
      at += CELL * cells[layer];
    }
  }

  private long word(long number) {
    long at = number * CELLS_PER_WORD;
    int layer = 0;
    while (at >= cells[layer]) {
      at -= cells[layer++];
    }
    return layers[layer] + CELL * at;
  }

  /** Gives an empty filter {@code words} words; returns whether a filter can have so many. */
  public boolean resize(long words) {
    long sum = words();
    int wanted = 1;
    for (long next = sum; sum < words && wanted < MAX_LAYERS; wanted++) {
      next *= 2;
      sum += next;
    }
    while (sum == words && layerCount < wanted) {
      addLayer();
    }
    return sum == words;
  }

  public void write(long from, long[] values, int count) {
    for (int i = 0; i < count; i++) {
      Memory.setLong(word(from + i), values[i]);
    }
  }

  /** Counts the cells in use after {@link #write}; returns whether a filter can be so. */
  boolean restore(long comparisons) {
    compared = comparisons;
    boolean valid = comparisons >= 0;
    for (int layer = 0; layer < layerCount && valid; layer++) {
      used = 0;
      for (long at = 0; at < cells[layer]; at++) {
        int value = cell(layers[layer] + CELL * at);
        used += value == 0 ? 0 : 1;
        valid &= value <= fingerprints * counts;
      }
      boolean full = used == cells[layer] / 8 * FULL;
      valid &= full || (layer == layerCount - 1 && used < cells[layer] / 8 * FULL);
    }
    return valid;
  }

  void free() {
    long bytes = bytes();
    for (int i = 0; i < layerCount; i++) {
      allocator.free(layers[i]);
    }
    layerCount = 0;
    tier.ifPresent(shared -> shared.giveBack(bytes));
  }
}
