package dev.tern.internal.table.rows;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import java.util.BitSet;

/**
 * Applies the gradients of bags to rows, a block of distinct ids at a time: adds up the gradients
 * of each id, then takes one optimizer step with the sum. If each bag holds one id and all are
 * distinct, no sums are needed, and gradients are read in place. In lanes {@link LaneSums} adds up.
 * One thread at a time.
 */
public final class RowUpdates {
  private static final int BLOCK = StepBlock.ROWS;

  private final TableConfig config;
  private final RowSlabs slabs;
  private final RowSteps steps;
  private final GradientSums ofIds;

  /** Whether a step updates rows that are not in the batch, too. */
  private final boolean all;

  /** The step of these: without l2, unless that is of all rows. */
  private final OptimizerStep others;

  /** A row that takes the updates of ids without a row. */
  private final long trash;

  private final int trashBytes;

  // Where the summed gradients of a block of distinct ids lie, and their stride.
  private final long sumsAt;
  private final long sumStride;
  private final MatrixBlock sums = new MatrixBlock();

  private long[] targets = new long[BLOCK];

  /** Ids of updated rows that are not in the batch. */
  private final long[] otherIds = new long[BLOCK];

  /** Rows updated in this step, if the step updates all others too. */
  private final BitSet touched = new BitSet();

  /** With {@link #spareBytes} bytes at address {@code spare}. */
  public RowUpdates(TableConfig config, RowSlabs slabs, long spare) {
    this.config = config;
    this.slabs = slabs;
    sumsAt = spare;
    sumStride = 4L * config.width();
    trash = spare + sumBytes(config);
    trashBytes = RowLayout.rowBytes(config);
    all = config.updatesAllRows();
    float l2 = config.options().l2OfAllRows() ? config.l2() : 0;
    others = new OptimizerStep(config.optimizer(), config.width(), l2);
    steps = new RowSteps(config, trash + trashBytes);
    ofIds = new GradientSums(config);
  }

  /** Bytes for the sums, for {@link #trash}, and for {@link RowSteps}. */
  static long spareBytes(TableConfig config) {
    return sumBytes(config) + RowLayout.rowBytes(config) + RowSteps.scratchBytes(config);
  }

  private static long sumBytes(TableConfig config) {
    return 4L * BLOCK * config.width();
  }

  /**
   * One optimizer step with the gradients of all bags, after {@link PooledBags#check}; {@link
   * #runOthers} ends the step.
   */
  public void run(RowLookup lookup, PooledBags bags, RowParts gradients, OptimizerStep step) {
    int count = bags.count;
    boolean distinct = bags.areRows() && count == lookup.count() && lookup.unique() == count;
    // In lanes even a single gradient is a sum, so that no bit depends on who computes which lanes.
    boolean inPlace = !bags.areInLanes() && gradients.count() == 1 && !gradients.isInterleaved();
    if (distinct && inPlace && !config.limits().clips()) {
      update(lookup, count, gradients, step, true);
    } else {
      lookup.group(bags);
      ofIds.begin(lookup, count, gradients, bags.arePlural());
      update(lookup, count, gradients, step, false);
    }
  }

  /** As {@link #run}, for a lookup that was grouped. */
  public void runGrouped(RowLookup lookup, int bags, RowParts gradients, OptimizerStep step) {
    ofIds.begin(lookup, bags, gradients, true);
    update(lookup, bags, gradients, step, false);
  }

  /** The step, with gradients read in place or summed for each id. */
  private void update(
      RowLookup lookup, int bags, RowParts gradients, OptimizerStep step, boolean inPlace) {
    if (config.rule().head().isEmpty() && step.changesNothing()) {
      return;
    }
    int unique = lookup.unique();
    long[] rows = targets(lookup, !inPlace);
    for (int from = 0; from < unique; from += BLOCK) {
      int to = Math.min(unique, from + BLOCK);
      lookup.touchRows(rows, from, to, RowLayout.rowBytes(config));
      MatrixBlock block =
          inPlace ? gradients.part(0, from, to) : summed(lookup, bags, gradients, from, to);
      steps.run(step, rows, lookup.ids, block);
    }
    for (int u = 0; all && u < unique; u++) {
      if (rows[u] != trash) {
        touched.set(lookup.rows[u]);
      }
    }
  }

  /** The gradients of distinct ids {@code [from, to)}, added up and clipped. */
  private MatrixBlock summed(RowLookup lookup, int bags, RowParts gradients, int from, int to) {
    sums.at(sumsAt - from * sumStride, sumStride).rows(from, to);
    ofIds.sum(lookup, bags, gradients, sums);
    if (config.limits().clips()) {
      steps.clip(sums);
    }
    return sums;
  }

  /** Address of the row that each distinct id updates: {@link #trash} without row or gradient. */
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

  /**
   * Ends a step: if steps update all rows, takes the same step with gradient 0 on each row in use
   * that had no gradient.
   */
  public void runOthers(OptimizerStep step) {
    if (!all) {
      return;
    }
    others.at(step.rate, step.number);
    if (config.rule().head().isEmpty() && others.changesNothing()) {
      return;
    }
    slabs.markFree(touched);
    Memory.zero(trash, 4L * config.width());
    sums.at(trash, 0);
    int filled = 0;
    int size = slabs.size();
    for (int row = touched.nextClearBit(0); row < size; row = touched.nextClearBit(row + 1)) {
      long address = slabs.address(row);
      targets[filled] = address;
      otherIds[filled++] =
          RowLayout.keepsId(config) ? Memory.getLong(address + RowLayout.idOffset(config)) : 0;
      if (filled == BLOCK) {
        steps.run(others, targets, otherIds, sums.rows(0, filled));
        filled = 0;
      }
    }
    steps.run(others, targets, otherIds, sums.rows(0, filled));
    touched.clear();
  }
}
