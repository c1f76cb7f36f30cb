package dev.tern.internal.table.rows;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Sums of the gradients of ids in lanes. The gradients of an id in one lane are added up in order
 * of position; then the sums of its lanes are added along a balanced binary tree over all lanes, in
 * which lanes without the id are left out, not added as 0. Example: an id in the lanes 0, 1 and 6
 * of 8 has the gradient {@code (s_0 + s_1) + s_6}, one in the lanes 1, 2 and 3 {@code s_1 + (s_2 +
 * s_3)}. As each sum begins with 0, no sum is -0, so lanes added as 0 would give the same bits.
 *
 * <p>The positions of an id in one lane are a run. Runs take the place of ids in the loops that add
 * up gradients, for as many ids at a time as there is room for.
 */
final class LaneSums {
  private static final int LINE = 64;

  /** Room for the runs of a block of ids of which many are in one lane or two. */
  private static final int LEAST_RUNS = 2 * StepBlock.ROWS;

  /** The depth of a tree over the most lanes there can be. */
  private static final int LEVELS = 33;

  /** Adds up the gradients of the ids of a grouped lookup, of all of which rows of sums say. */
  interface Plain {
    void sum(RowLookup lookup, int bags, RowParts gradients, MatrixBlock sums);
  }

  private final int width;
  private final UpdateLoops loops;
  private final Plain plain;

  /** The runs in the place of ids. */
  private final RowLookup runs = new RowLookup();

  /** Of each run its lane. */
  private int[] lanes = new int[0];

  /** Of each id of a block its first run, then the end of all. */
  private final int[] firsts = new int[StepBlock.ROWS + 1];

  // The additions of sums of runs, in order.
  private int[] targets = new int[0];
  private int[] sources = new int[0];
  private int additions;

  /** The runs of an id whose sums wait for their sibling. */
  private final int[] waiting = new int[LEVELS];

  private MemorySegment room = MemorySegment.NULL;
  private final MatrixBlock sumsOfRuns = new MatrixBlock();

  /** For tables of a width; {@code plain} is how gradients in one lane are added up. */
  LaneSums(int width, UpdateLoops loops, Plain plain) {
    this.width = width;
    this.loops = loops;
    this.plain = plain;
  }

  /**
   * Writes the sums of the ids of {@code sums}, a block of {@link StepBlock#ROWS} at most.
   *
   * @param lookup grouped in several lanes
   */
  void sum(RowLookup lookup, int bags, RowParts gradients, MatrixBlock sums) {
    int laneCount = lookup.laneCount;
    int begin = sums.from;
    int end = sums.to;
    int most = Math.max(LEAST_RUNS, 2 * laneCount);
    grow(most);
    runs.bags = lookup.bags;
    runs.frontBags = lookup.frontBags;
    runs.scales = lookup.scales;
    for (int from = begin; from < end; ) {
      int to = from;
      int count = 0;
      for (; to < end && count + laneCount <= most; to++) {
        firsts[to - from] = count;
        count = addRuns(lookup, to, count);
      }
      firsts[to - from] = count;
      runs.starts[count] = lookup.starts[to];
      sum(lookup, bags, gradients, sums.rows(from, to), count);
      from = to;
    }
    sums.rows(begin, end);
  }

  private void grow(int most) {
    if (lanes.length >= most) {
      return;
    }
    lanes = new int[most];
    targets = new int[most];
    sources = new int[most];
    runs.starts = new int[most + 1];
    runs.addresses = new long[most];
    room = Memory.allocate(Arena.ofAuto(), 4L * width * most, LINE, "sums of lanes");
  }

  /** Appends the runs of an id to {@code before} others; returns how many there are then. */
  private int addRuns(RowLookup lookup, int id, int before) {
    int count = before;
    int lane = -1;
    for (int place = lookup.starts[id]; place < lookup.starts[id + 1]; place++) {
      if (lookup.lanes[place] != lane) {
        lane = lookup.lanes[place];
        lanes[count] = lane;
        runs.starts[count] = place;
        runs.addresses[count++] = lookup.addresses[id];
      }
    }
    return count;
  }

  /** Writes the sums of the ids of {@code sums}, which have {@code count} runs. */
  private void sum(RowLookup lookup, int bags, RowParts gradients, MatrixBlock sums, int count) {
    int ids = sums.to - sums.from;
    additions = 0;
    boolean single = count == ids;
    for (int i = 0; i < ids; i++) {
      single &= firsts[i + 1] - firsts[i] == 1;
      join(firsts[i], firsts[i + 1]);
    }
    if (single) {
      plain.sum(lookup, bags, gradients, sums);
      return;
    }
    long stride = 4L * width;
    sumsOfRuns.at(room.address(), stride).rows(0, count).columns(0, width);
    plain.sum(runs, bags, gradients, sumsOfRuns);
    loops.addRows(sumsOfRuns, targets, sources, additions);
    for (int i = 0; i < ids; i++) {
      long target = sums.at(sums.from + i, 0);
      if (firsts[i] < firsts[i + 1]) {
        Memory.copy(sumsOfRuns.at(firsts[i], 0), target, stride);
      } else {
        Memory.zero(target, stride);
      }
    }
  }

  /**
   * Notes the additions that make the sum of runs {@code [first, end)}, which are those of one id,
   * in the first of them. Two neighbours are siblings once the next run lies outside of the
   * smallest tree that has both.
   */
  private void join(int first, int end) {
    int depth = 0;
    for (int run = first; run < end; run++) {
      while (depth >= 2
          && tree(waiting[depth - 2], waiting[depth - 1]) < tree(waiting[depth - 1], run)) {
        depth = joinLast(depth);
      }
      waiting[depth++] = run;
    }
    while (depth >= 2) {
      depth = joinLast(depth);
    }
  }

  private int joinLast(int depth) {
    targets[additions] = waiting[depth - 2];
    sources[additions++] = waiting[depth - 1];
    return depth - 1;
  }

  /** The height of the smallest tree that has the lanes of both runs. */
  private int tree(int run, int other) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(lanes[run] ^ lanes[other]);
  }
}
