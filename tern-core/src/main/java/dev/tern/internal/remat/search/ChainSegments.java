package dev.tern.internal.remat.search;

import dev.tern.internal.remat.MemoryPeak;
import dev.tern.internal.remat.Recipes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What to keep so that the rest can be computed again a segment at a time (Chen et al. 2016,
 * arXiv:1604.06174). At some ops before the moment of most memory, everything that later ops read
 * is kept. Example: a chain of n equal ops in 2 sqrt(n) slots is computed twice at most.
 *
 * <p>The more is kept, the less room is left for a segment that is computed again. So segments get
 * shorter: each takes a share of the room that is left.
 */
final class ChainSegments {
  /** A cut is looked for in this last part of a segment, where it keeps least. */
  private static final double WINDOW = 0.3;

  /** One runs, and its result is read by the next. */
  private static final int OPS_AT_ONCE = 2;

  private final Recipes recipes;
  private final int peakOp;
  private final boolean[] isNeeded;
  private final int[] lastRead;
  private final long[] bytesAcross;

  /** Bytes that are in use whatever is kept: constants, and what the ops that run take. */
  private final long taken;

  ChainSegments(TraceUses uses) {
    recipes = uses.recipes();
    MemoryPeak peak = MemoryPeak.of(uses.trace(), recipes);
    peakOp = peak.op();
    isNeeded = new boolean[recipes.storages()];
    lastRead = new int[recipes.storages()];
    bytesAcross = new long[peakOp + 2];
    long fixed = 0;
    for (int storage = 0;
        storage < recipes.storages() && recipes.makerOfStorage(storage) <= peakOp;
        storage++) {
      if (!recipes.isRepeatable(recipes.makerOfStorage(storage))) {
        fixed += recipes.bytes(storage);
        continue;
      }
      isNeeded[storage] = peak.isLive()[storage] && uses.isUsedAfter(storage, peakOp);
      lastRead[storage] = uses.lastUseUpTo(storage, peakOp);
      if (lastRead[storage] > recipes.makerOfStorage(storage)) {
        bytesAcross[recipes.makerOfStorage(storage)] += recipes.bytes(storage);
        bytesAcross[lastRead[storage]] -= recipes.bytes(storage);
      }
    }
    for (int op = 1; op <= peakOp; op++) {
      bytesAcross[op] += bytesAcross[op - 1];
    }
    taken = fixed + OPS_AT_ONCE * largestOp();
  }

  /** The most bytes that an op reads and makes, constants aside. */
  private long largestOp() {
    long largest = 0;
    for (int op = 0; op < recipes.ops(); op++) {
      long bytes = 0;
      for (int input : recipes.inputs(op)) {
        int storage = recipes.storage(input);
        bytes += recipes.isRepeatable(recipes.makerOfStorage(storage)) ? recipes.bytes(storage) : 0;
      }
      for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
        int storage = recipes.storage(value);
        boolean isAdded = !recipes.isView(value) && recipes.takes(storage) < 0;
        bytes += isAdded ? recipes.bytes(storage) : 0;
      }
      largest = Math.max(largest, bytes);
    }
    return largest;
  }

  /**
   * Sets to keep, by storage.
   *
   * @param shares how much of the room that is left a segment takes
   */
  List<boolean[]> forBudget(long budget, double... shares) {
    List<boolean[]> sets = new ArrayList<>();
    for (double share : shares) {
      boolean[] isKept = cut(budget - taken, share);
      if (sets.isEmpty() || !Arrays.equals(isKept, sets.getLast())) {
        sets.add(isKept);
      }
    }
    return sets;
  }

  private boolean[] cut(long room, double share) {
    boolean[] isKept = new boolean[recipes.storages()];
    long left = room;
    long segment = 0;
    int best = -1;
    for (int op = 0; op < peakOp && left > 0; op++) {
      segment += neededBytes(op);
      double allowed = share * left;
      if (segment < (1 - WINDOW) * allowed) {
        continue;
      }
      best = best < 0 || bytesAcross[op] <= bytesAcross[best] ? op : best;
      if (segment >= allowed) {
        left -= keepAcross(best, isKept);
        op = best;
        best = -1;
        segment = 0;
      }
    }
    return isKept;
  }

  private long neededBytes(int op) {
    long bytes = 0;
    for (int value = recipes.firstOutput(op); value < recipes.endOutput(op); value++) {
      int storage = recipes.storage(value);
      bytes += !recipes.isView(value) && isNeeded[storage] ? recipes.bytes(storage) : 0;
    }
    return bytes;
  }

  /** Keeps all that was made up to an op and is read after it; returns the bytes that adds. */
  private long keepAcross(int op, boolean[] isKept) {
    long added = 0;
    for (int storage = 0;
        storage < isKept.length && recipes.makerOfStorage(storage) <= op;
        storage++) {
      if (lastRead[storage] > op && !isKept[storage]) {
        isKept[storage] = true;
        added += recipes.bytes(storage);
      }
    }
    return added;
  }
}
