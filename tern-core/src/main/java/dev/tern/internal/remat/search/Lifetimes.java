package dev.tern.internal.remat.search;

import dev.tern.internal.memory.BlockArena;
import java.util.Arrays;

/**
 * The lifetimes of storages in a step, and places for them in one arena, so that no two that live
 * at the same time overlap: largest first, each at the lowest offset that is free for its whole
 * life ("greedy by size", Pisarchyk and Lee 2020, arXiv:2001.03288).
 */
public final class Lifetimes {
  private static final double BOOST = 2;
  private static final long WORK = 30_000_000;
  private static final int MOST_TRIES = 400;

  /** The storages that lie where lives do, in the order in which they got their places. */
  private int[] storage = new int[64];

  private int[] lifeOf = new int[64];
  private int tenants;
  private long[] bytes = new long[64];
  private int[] start = new int[64];
  private int[] end = new int[64];
  private int[] current = new int[64];
  private int[] lives = new int[64];
  private int count;
  private long reach;
  private long work;

  /**
   * Adds a life and returns its number; lives count from 0.
   *
   * @param to the first moment at which its memory is free again
   */
  public int add(long size, int from, int to) {
    if (count == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * count);
      start = Arrays.copyOf(start, 2 * count);
      end = Arrays.copyOf(end, 2 * count);
    }
    bytes[count] = size == 0 ? 0 : BlockArena.rounded(size);
    start[count] = from;
    end[count] = to;
    return count++;
  }

  /** Notes that a storage lies where a life does; the lives of a storage come in order. */
  public void begin(int of, int life) {
    if (of >= current.length) {
      current = Arrays.copyOf(current, 2 * of);
      lives = Arrays.copyOf(lives, 2 * of);
    }
    if (tenants == storage.length) {
      storage = Arrays.copyOf(storage, 2 * tenants);
      lifeOf = Arrays.copyOf(lifeOf, 2 * tenants);
    }
    storage[tenants] = of;
    lifeOf[tenants++] = life;
    current[of] = life;
    lives[of]++;
  }

  /**
   * Finds places that reach no further than {@code limit}, if it can, or else as little as it can.
   * Lives that reach too far are placed earlier in the next of several tries ("squeaky wheel"
   * optimization, Joslin and Clements 1999).
   *
   * @return offsets by storage and life
   */
  public long[][] place(long limit) {
    double[] urgency = new double[count];
    for (int life = 0; life < count; life++) {
      urgency[life] = bytes[life];
    }
    long[] best = new long[0];
    reach = Long.MAX_VALUE;
    for (int i = 0; i < MOST_TRIES && reach > limit && work < WORK; i++) {
      long[] offset = placeBy(urgency);
      long end = 0;
      for (int life = 0; life < count; life++) {
        long lifeEnd = offset[life] + bytes[life];
        end = Math.max(end, lifeEnd);
        if (lifeEnd > limit) {
          urgency[life] *= BOOST;
        }
      }
      if (end < reach) {
        reach = end;
        best = offset;
      }
    }
    return byStorage(best);
  }

  /** How many lives were looked at to find places. */
  long work() {
    return work;
  }

  /** How far the places found last reach. */
  long reach() {
    return reach;
  }

  private long[] placeBy(double[] urgency) {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Double.compare(urgency[b], urgency[a]));
    Placed placed = new Placed(count);
    long[] offset = new long[count];
    for (int life : order) {
      offset[life] = placed.add(bytes[life], start[life], end[life]);
    }
    work += placed.work;
    return offset;
  }

  /** The lives that have places, in order of offset. */
  private static final class Placed {
    private final long[] low;
    private final long[] high;
    private final int[] from;
    private final int[] to;
    private int size;
    private long work;

    Placed(int capacity) {
      low = new long[capacity];
      high = new long[capacity];
      from = new int[capacity];
      to = new int[capacity];
    }

    /** Places a life at the lowest offset that is free all the time, and returns it. */
    long add(long bytes, int start, int end) {
      long found = 0;
      int i = 0;
      while (i < size && low[i] < found + bytes) {
        boolean together = from[i] < end && start < to[i];
        found = together ? Math.max(found, high[i]) : found;
        i++;
      }
      work += i;
      int at = size;
      while (at > 0 && low[at - 1] > found) {
        at--;
      }
      insert(at, found, bytes, start, end);
      return found;
    }

    private void insert(int at, long offset, long bytes, int start, int end) {
      System.arraycopy(low, at, low, at + 1, size - at);
      System.arraycopy(high, at, high, at + 1, size - at);
      System.arraycopy(from, at, from, at + 1, size - at);
      System.arraycopy(to, at, to, at + 1, size - at);
      low[at] = offset;
      high[at] = offset + bytes;
      from[at] = start;
      to[at] = end;
      size++;
    }
  }

  private long[][] byStorage(long[] offset) {
    long[][] result = new long[lives.length][];
    int[] seen = new int[lives.length];
    for (int tenant = 0; tenant < tenants; tenant++) {
      int of = storage[tenant];
      if (result[of] == null) {
        result[of] = new long[lives[of]];
      }
      result[of][seen[of]++] = offset[lifeOf[tenant]];
    }
    return result;
  }
}
