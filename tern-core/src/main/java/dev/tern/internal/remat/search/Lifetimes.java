package dev.tern.internal.remat.search;

import dev.tern.internal.memory.BlockArena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The lifetimes of storages in a step, and places for them in one arena, so that no two that live
 * at the same time overlap: largest first, each at the lowest offset that is free for its whole
 * life ("greedy by size", Pisarchyk and Lee 2020, arXiv:2001.03288).
 */
public final class Lifetimes {
  private static final double BOOST = 2;
  private static final long WORK = 30_000_000;
  private static final int MOST_TRIES = 400;

  private final List<Life> lives = new ArrayList<>();
  private final List<Tenant> tenants = new ArrayList<>();

  /** How many lives each storage has. */
  private int[] livesOf = new int[64];

  private long reach;
  private long work;

  /** {@code bytes} are in use from one moment until before another. */
  private record Life(long bytes, int from, int to) {}

  /** A storage that lies where a life does. */
  private record Tenant(int storage, int life) {}

  /**
   * Adds a life and returns its number; lives count from 0.
   *
   * @param to the first moment at which its memory is free again
   */
  public int add(long size, int from, int to) {
    lives.add(new Life(size == 0 ? 0 : BlockArena.rounded(size), from, to));
    return lives.size() - 1;
  }

  /** Notes that a storage lies where a life does; the lives of a storage come in order. */
  public void begin(int storage, int life) {
    if (storage >= livesOf.length) {
      livesOf = Arrays.copyOf(livesOf, 2 * storage);
    }
    tenants.add(new Tenant(storage, life));
    livesOf[storage]++;
  }

  /**
   * Finds places that reach no further than {@code limit}, if it can, or else as little as it can.
   * Lives that reach too far are placed earlier in the next of several tries ("squeaky wheel"
   * optimization, Joslin and Clements 1999).
   *
   * @return offsets by storage and life
   */
  public long[][] place(long limit) {
    double[] urgency = lives.stream().mapToDouble(Life::bytes).toArray();
    long[] best = new long[0];
    reach = Long.MAX_VALUE;
    for (int i = 0; i < MOST_TRIES && reach > limit && work < WORK; i++) {
      long[] offset = placeBy(urgency);
      long end = 0;
      for (int life = 0; life < offset.length; life++) {
        long lifeEnd = offset[life] + lives.get(life).bytes;
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
    Integer[] order = new Integer[urgency.length];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Double.compare(urgency[b], urgency[a]));
    Placed placed = new Placed(order.length);
    long[] offset = new long[order.length];
    for (int life : order) {
      offset[life] = placed.add(lives.get(life));
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
    long add(Life life) {
      long bytes = life.bytes;
      int start = life.from;
      int end = life.to;
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
      insert(at, found, life);
      return found;
    }

    private void insert(int at, long offset, Life life) {
      System.arraycopy(low, at, low, at + 1, size - at);
      System.arraycopy(high, at, high, at + 1, size - at);
      System.arraycopy(from, at, from, at + 1, size - at);
      System.arraycopy(to, at, to, at + 1, size - at);
      low[at] = offset;
      high[at] = offset + life.bytes;
      from[at] = life.from;
      to[at] = life.to;
      size++;
    }
  }

  private long[][] byStorage(long[] offset) {
    long[][] result = new long[livesOf.length][];
    int[] seen = new int[livesOf.length];
    for (Tenant tenant : tenants) {
      int of = tenant.storage;
      if (result[of] == null) {
        result[of] = new long[livesOf[of]];
      }
      result[of][seen[of]++] = offset[tenant.life];
    }
    return result;
  }
}
