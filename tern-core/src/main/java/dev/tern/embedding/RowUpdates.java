package dev.tern.embedding;

import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.BitSet;

/**
 * Gradients to rows, a block of distinct ids at a time: adds up the gradients of each, then gives
 * one to each row. A batch whose bags hold one id each, all distinct, needs no adding and is read
 * in place.
 */
final class RowUpdates {
  private static final int BLOCK = 64;
  private static final int LINE = 64;

  /** Gradients that the second cache holds beside other things. */
  private static final int NEAR_FLOATS = 1 << 17;

  private final TableConfig config;
  private final RowSlabs slabs;
  private final RowLoops loops;
  private final RowSteps steps;

  /** The step of rows whose ids are not in the batch: without l2. */
  private final Step others;

  /** Takes the updates of ids that are not to be updated. */
  private final long trash;

  private final int trashBytes;

  /** Gradients of a block of distinct ids. */
  private final long sums;

  private long[] targets = new long[BLOCK];

  /** Ids of the rows that are updated though they are not in the batch. */
  private final long[] otherIds = new long[BLOCK];

  /** Rows touched in this step, where the others must be updated too. */
  private final BitSet touched = new BitSet();

  /** With {@link #spareBytes} at {@code spare}. */
  RowUpdates(TableConfig config, RowSlabs slabs, long spare) {
    this.config = config;
    this.slabs = slabs;
    sums = spare;
    trash = spare + sumBytes(config);
    others = new Step(config.optimizer(), config.width(), 0);
    trashBytes = RowLayout.rowBytes(config);
    loops = RowLoops.fastest(config.storage());
    steps = new RowSteps(config, loops, trash + trashBytes);
  }

  /** Room for gradients, for a row whose updates are thrown away, and to compute. */
  static long spareBytes(TableConfig config) {
    return sumBytes(config) + RowLayout.rowBytes(config) + RowSteps.scratchBytes(config);
  }

  private static long sumBytes(TableConfig config) {
    return 4L * BLOCK * config.width();
  }

  /**
   * One optimizer step for bags 0 to {@code bags - 1} of a lookup; {@link #runOthers} ends it.
   *
   * @param weights of positions, or {@link Bags#UNWEIGHTED}
   * @param single whether each bag is the row of one id as it is
   */
  void run(
      RowLookup lookup,
      int[] offsets,
      float[] weights,
      int bags,
      Combiner combiner,
      boolean single,
      RowParts gradients,
      Step step) {
    boolean distinct = single && bags == lookup.count() && lookup.unique() == bags;
    boolean inPlace = gradients.count() == 1 && !gradients.isInterleaved();
    if (distinct && inPlace && !config.limits().clips()) {
      run(lookup, false, bags, gradients, step);
    } else {
      lookup.group(offsets, weights, 0, bags, single ? Combiner.SUM : combiner);
      runGrouped(lookup, bags, gradients, step);
    }
  }

  /** Likewise, of a lookup that was grouped. */
  void runGrouped(RowLookup lookup, int bags, RowParts gradients, Step step) {
    if (gradients.isInterleaved()) {
      lookup.placeBags(gradients);
    }
    run(lookup, true, bags, gradients, step);
  }

  /** Ends a step: where the optimizer updates all rows, those that were not in a lookup. */
  void runOthers(Step step) {
    if (step.optimizer() instanceof Optimizer.Adam adam && !adam.lazy()) {
      updateOthers(others.like(step));
    }
  }

  private void run(RowLookup lookup, boolean grouped, int bags, RowParts gradients, Step step) {
    if (config.rule().head().isEmpty() && RowSteps.changesNothing(step)) {
      return;
    }
    int unique = lookup.unique();
    int width = config.width();
    long[] rows = targets(lookup, grouped);
    if (grouped && !gradients.isInterleaved() && (long) bags * width <= NEAR_FLOATS) {
      lookup.touched += touch(gradients, bags);
    }
    for (int from = 0; from < unique; from += BLOCK) {
      int to = Math.min(unique, from + BLOCK);
      lookup.touchRows(rows, from, to, RowLayout.rowBytes(config));
      if (grouped) {
        sum(lookup, from, to, gradients);
        if (config.limits().clips()) {
          loops.clip(config.limits().clipNorm(), to - from, width, sums, 4L * width);
        }
        steps.run(step, rows, lookup.ids, from, to, sums, 4L * width);
      } else {
        long stride = gradients.stride(0);
        steps.run(step, rows, lookup.ids, from, to, gradients.base(0) + from * stride, stride);
      }
    }
    if (step.optimizer() instanceof Optimizer.Adam adam && !adam.lazy()) {
      mark(lookup, rows);
    }
  }

  private void mark(RowLookup lookup, long[] updated) {
    int unique = lookup.unique();
    for (int u = 0; u < unique; u++) {
      if (updated[u] != trash) {
        touched.set(lookup.rows[u]);
      }
    }
  }

  /** Adds up the gradients of ids {@code [from, to)}. */
  private void sum(RowLookup lookup, int from, int to, RowParts gradients) {
    for (int p = 0; p < gradients.count(); p++) {
      int begin = gradients.begin(p);
      int end = gradients.end(p);
      long stride = gradients.stride(p);
      loops.sumGradients(
          lookup, from, to, begin, end, gradients.base(p), stride, sums, 4L * config.width());
    }
  }

  /** Loads from each line of the gradients, as {@link RowLookup#touch} does of rows. */
  private static int touch(RowParts gradients, int bags) {
    int sum = 0;
    for (int p = 0; p < gradients.count(); p++) {
      for (int j = gradients.begin(p); j < gradients.end(p); j += LINE / 4) {
        long at = gradients.base(p) + 4L * j;
        for (int b = 0; b < bags; b++) {
          sum += Memory.getInt(at + b * gradients.stride(p));
        }
      }
    }
    return sum;
  }

  /** Where each distinct id's update goes: its row, or nowhere if it has none or no gradient. */
  private long[] targets(RowLookup lookup, boolean grouped) {
    int unique = lookup.unique();
    boolean whole = !grouped || lookup.starts[unique] == lookup.count();
    if (whole && lookup.complete) {
      return lookup.addresses;
    }
    if (targets.length < unique) {
      targets = new long[lookup.addresses.length];
    }
    for (int u = 0; u < unique; u++) {
      boolean moves = lookup.rows[u] >= 0 && !(grouped && lookup.isAbsent(u));
      targets[u] = moves ? lookup.addresses[u] : trash;
    }
    Memory.zero(trash, trashBytes);
    return targets;
  }

  /** The same step with gradient 0 on every row in use that had none. */
  private void updateOthers(Step step) {
    slabs.markFree(touched);
    Memory.zero(trash, 4L * config.width());
    int filled = 0;
    int size = slabs.size();
    for (int row = touched.nextClearBit(0); row < size; row = touched.nextClearBit(row + 1)) {
      long address = slabs.address(row);
      targets[filled] = address;
      otherIds[filled++] = RowLayout.keepsId(config) ? Memory.getLong(address + RowLayout.idOffset(config)) : 0;
      if (filled == BLOCK) {
        steps.run(step, targets, otherIds, 0, filled, trash, 0);
        filled = 0;
      }
    }
    steps.run(step, targets, otherIds, 0, filled, trash, 0);
    touched.clear();
  }
}
