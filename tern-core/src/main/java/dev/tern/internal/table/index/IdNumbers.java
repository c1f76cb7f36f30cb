package dev.tern.internal.table.index;

import dev.tern.base.SplitMix64;
import java.util.Arrays;

/**
 * Numbers distinct ids 0, 1, 2, ... in the order in which they first come. Open addressing, at most
 * half full, in the memory of the JVM: 24 bytes or more an id.
 */
public final class IdNumbers {
  private static final int FREE = -1;
  private static final int LEAST = 16;

  private long[] ids = new long[LEAST];
  private int[] numbers = new int[LEAST];
  private int size;

  public IdNumbers() {
    Arrays.fill(numbers, FREE);
  }

  /** Distinct ids so far. */
  public int size() {
    return size;
  }

  /** The number of {@code id}, which is {@link #size} as it was where the id is new. */
  public int of(long id) {
    int place = place(id);
    if (numbers[place] == FREE) {
      if (2 * size >= ids.length) {
        grow();
        place = place(id);
      }
      ids[place] = id;
      numbers[place] = size++;
    }
    return numbers[place];
  }

  /** The number of {@code id}, or -1 where it has none. */
  public int find(long id) {
    return numbers[place(id)];
  }

  /** Forgets all ids; the room for them stays. */
  public void clear() {
    Arrays.fill(numbers, FREE);
    size = 0;
  }

  private int place(long id) {
    int mask = ids.length - 1;
    int place = (int) SplitMix64.mix(id) & mask;
    while (numbers[place] != FREE && ids[place] != id) {
      place = (place + 1) & mask;
    }
    return place;
  }

  private void grow() {
    if (ids.length >= 1 << 30) {
      throw new IllegalStateException(
          "ids: got more than %,d distinct ones, expected at most that".formatted(size));
    }
    long[] oldIds = ids;
    int[] oldNumbers = numbers;
    ids = new long[2 * oldIds.length];
    numbers = new int[ids.length];
    Arrays.fill(numbers, FREE);
    for (int i = 0; i < oldIds.length; i++) {
      if (oldNumbers[i] != FREE) {
        int place = place(oldIds[i]);
        ids[place] = oldIds[i];
        numbers[place] = oldNumbers[i];
      }
    }
  }
}
