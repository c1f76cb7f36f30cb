package dev.tern.internal.residency;

import dev.tern.internal.memory.BlockArena;
import java.util.Arrays;

/**
 * The lives of storages in a rehearsed step, and places for them in one range so that no two that
 * live at the same time overlap: largest first, each at the lowest offset free for its whole life
 * ("greedy by size", Pisarchyk and Lee 2020, arXiv:2001.03288).
 */
final class Lifetimes implements Watcher {
  private static final double BOOST = 2;
  private static final long WORK = 40_000_000;
  private static final int MOST_TRIES = 400;

  private int[] storage = new int[64];
  private long[] bytes = new long[64];
  private int[] start = new int[64];
  private int[] end = new int[64];
  private int[] current = new int[64];
  private int[] lives = new int[64];
  private int count;
  private int now;

  @Override
  public void settled(int of, long size) {
    if (of >= current.length) {
      current = Arrays.copyOf(current, 2 * of);
      lives = Arrays.copyOf(lives, 2 * of);
    }
    if (count == storage.length) {
      storage = Arrays.copyOf(storage, 2 * count);
      bytes = Arrays.copyOf(bytes, 2 * count);
      start = Arrays.copyOf(start, 2 * count);
      end = Arrays.copyOf(end, 2 * count);
    }
    storage[count] = of;
    bytes[count] = size == 0 ? 0 : BlockArena.rounded(size);
    start[count] = now++;
    end[count] = Integer.MAX_VALUE;
    current[of] = count++;
    lives[of]++;
  }

  @Override
  public void vacated(int of) {
    end[current[of]] = now++;
  }

  /**
   * Finds places that reach no further than {@code limit}, if it can, or else as little as it can.
   * Lives that reach too far are placed earlier in the next of several tries ("squeaky wheel"
   * optimization, Joslin and Clements 1999).
   *
   * @return offsets by storage and life
   */
  long[][] place(long limit) {
    double[] urgency = new double[count];
    for (int life = 0; life < count; life++) {
      urgency[life] = bytes[life];
    }
    long[] best = new long[0];
    long reach = Long.MAX_VALUE;
    long tries = Math.clamp(WORK / Math.max(1, (long) count * count), 2, MOST_TRIES);
    for (long i = 0; i < tries && reach > limit; i++) {
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

  private long[] placeBy(double[] urgency) {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, (a, b) -> Double.compare(urgency[b], urgency[a]));
    int[] placed = new int[count];
    long[] offset = new long[count];
    int size = 0;
    for (int life : order) {
      offset[life] = lowest(life, placed, size, offset);
      int at = size++;
      while (at > 0 && offset[placed[at - 1]] > offset[life]) {
        placed[at] = placed[at - 1];
        at--;
      }
      placed[at] = life;
    }
    return offset;
  }

  private long lowest(int life, int[] placed, int size, long[] offset) {
    long found = 0;
    for (int i = 0; i < size; i++) {
      int other = placed[i];
      if (offset[other] >= found + bytes[life]) {
        break;
      }
      boolean together = start[other] < end[life] && start[life] < end[other];
      if (together) {
        found = Math.max(found, offset[other] + bytes[other]);
      }
    }
    return found;
  }

  private long[][] byStorage(long[] offset) {
    long[][] result = new long[lives.length][];
    int[] seen = new int[lives.length];
    for (int life = 0; life < count; life++) {
      int of = storage[life];
      if (result[of] == null) {
        result[of] = new long[lives[of]];
      }
      result[of][seen[of]++] = offset[life];
    }
    return result;
  }
}
