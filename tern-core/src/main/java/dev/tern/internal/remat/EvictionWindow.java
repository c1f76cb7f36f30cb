package dev.tern.internal.remat;

import dev.tern.internal.memory.BlockArena;
import java.util.Arrays;

/** Finds the run of neighbouring blocks whose eviction makes a place at the least harm. */
final class EvictionWindow {
  private static final int NONE = BlockArena.NONE;

  private int[] blocks = new int[64];
  private double[] harms = new double[64];
  private int first;
  private int last;
  private double least;

  int first() {
    return first;
  }

  int last() {
    return last;
  }

  /** The best run of all; false where none is long enough. */
  boolean amongAll(BlockArena arena, Evictor evictor, long need, double now) {
    least = Double.POSITIVE_INFINITY;
    first = NONE;
    int count = list(arena, evictor, now);
    int from = 0;
    long bytes = 0;
    for (int to = 0; to < count; to++) {
      if (harms[to] == Double.POSITIVE_INFINITY) {
        from = to + 1;
        bytes = 0;
        continue;
      }
      bytes += arena.size(blocks[to]);
      while (bytes - arena.size(blocks[from]) >= need) {
        bytes -= arena.size(blocks[from]);
        from++;
      }
      if (bytes >= need) {
        accept(sumOfHarms(from, to), blocks[from], blocks[to]);
      }
    }
    return first != NONE;
  }

  private int list(BlockArena arena, Evictor evictor, double now) {
    int count = 0;
    for (int block = arena.firstBlock(); block != NONE; block = arena.after(block)) {
      if (count == blocks.length) {
        blocks = Arrays.copyOf(blocks, 2 * count);
        harms = Arrays.copyOf(harms, 2 * count);
      }
      blocks[count] = block;
      harms[count++] = evictor.harmOf(arena, block, now);
    }
    return count;
  }

  private double sumOfHarms(int from, int to) {
    double sum = 0;
    for (int i = from; i <= to; i++) {
      sum += harms[i];
    }
    return sum;
  }

  private void accept(double harm, int from, int to) {
    if (harm < least) {
      least = harm;
      first = from;
      last = to;
    }
  }

  /** The best run that grows from one of the evictor's seeds; false where none is long enough. */
  boolean around(BlockArena arena, Evictor evictor, long need, double now, int seeds) {
    least = Double.POSITIVE_INFINITY;
    first = NONE;
    for (int i = 0; i < seeds; i++) {
      grow(arena, evictor, need, now, evictor.seedBlock(arena, i));
    }
    return first != NONE;
  }

  private void grow(BlockArena arena, Evictor evictor, long need, double now, int seed) {
    int low = seed;
    int high = seed;
    long bytes = arena.size(seed);
    double sum = evictor.harmOf(arena, seed, now);
    while (bytes < need) {
      double below = harm(arena, evictor, arena.before(low), now);
      double above = harm(arena, evictor, arena.after(high), now);
      if (Math.min(below, above) == Double.POSITIVE_INFINITY) {
        return;
      }
      boolean down = below <= above;
      int added = down ? arena.before(low) : arena.after(high);
      low = down ? added : low;
      high = down ? high : added;
      bytes += arena.size(added);
      sum += Math.min(below, above);
    }
    accept(sum, low, high);
  }

  private static double harm(BlockArena arena, Evictor evictor, int block, double now) {
    return block == NONE ? Double.POSITIVE_INFINITY : evictor.harmOf(arena, block, now);
  }
}
