package dev.tern.internal.memory;

/** Map from address (never 0) to number: open addressing, linear probing, no tombstones. */
final class AddressIndex {
  static final int NONE = -1;

  private long[] keys = new long[128];
  private int[] values = new int[128];
  private int shift = Long.numberOfLeadingZeros(128) + 1;
  private int count;

  int get(long key) {
    for (int slot = home(key); keys[slot] != 0; slot = (slot + 1) & (keys.length - 1)) {
      if (keys[slot] == key) {
        return values[slot];
      }
    }
    return NONE;
  }

  /** Adds a key that is not there. */
  void put(long key, int value) {
    if (2 * ++count > keys.length) {
      grow();
    }
    insert(key, value);
  }

  /**
   * Removes a key that is there, moving later keys of its run back so that probes stay unbroken.
   */
  void remove(long key) {
    int mask = keys.length - 1;
    int hole = home(key);
    while (keys[hole] != key) {
      hole = (hole + 1) & mask;
    }
    for (int slot = (hole + 1) & mask; keys[slot] != 0; slot = (slot + 1) & mask) {
      int fromHome = (slot - home(keys[slot])) & mask;
      int fromHole = (slot - hole) & mask;
      if (fromHome >= fromHole) {
        keys[hole] = keys[slot];
        values[hole] = values[slot];
        hole = slot;
      }
    }
    keys[hole] = 0;
    count--;
  }

  private void insert(long key, int value) {
    int slot = home(key);
    while (keys[slot] != 0) {
      slot = (slot + 1) & (keys.length - 1);
    }
    keys[slot] = key;
    values[slot] = value;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldValues = values;
    keys = new long[2 * oldKeys.length];
    values = new int[keys.length];
    shift--;
    for (int slot = 0; slot < oldKeys.length; slot++) {
      if (oldKeys[slot] != 0) {
        insert(oldKeys[slot], oldValues[slot]);
      }
    }
  }

  private int home(long key) {
    // The highest bits of the product: those below repeat for addresses at equal distances.
    return (int) (key * 0x9E3779B97F4A7C15L >>> shift);
  }
}
