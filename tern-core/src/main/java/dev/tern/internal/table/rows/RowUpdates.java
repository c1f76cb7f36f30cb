package dev.tern.internal.table.rows;

import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.memory.Memory;
import java.util.BitSet;

/**
 * Brings the gradients of bags to rows, a block of distinct ids at a time: adds up the gradients of
 * each id, then takes one optimizer step with the sum. A batch whose bags hold one id each, all
 * distinct, needs no sums; its gradients are read in place.
 *
 * <p>Belongs to one table, and is used by the thread that changes it: one at a time.
 */
public final class RowUpdates {
  private static final int BLOCK = 64;
  private static final int LINE = 64;

  /** So many gradients fit into the second cache beside other things. */
  private static final int NEAR_FLOATS = 1 << 17;

  private final TableConfig config;
  private final RowSlabs slabs;
  private final UpdateLoops loops = UpdateLoops.fastest();
  private final RowSteps steps;

  /** The step of rows whose ids are not in the batch: without l2. */
  private final OptimizerStep others;

  /** Takes the updates of ids that have no row. */
  private final long trash;

  private final int trashBytes;

  /** Address of the sums of a block of distinct ids. */
  private final long sumsAt;

  private final long sumStride;

  /** The gradients that the next steps take. */
  private final MatrixBlock sums = new MatrixBlock();

  private long[] targets = new long[BLOCK];

  /** Ids of the rows that are updated though they are not in the batch. */
  private final long[] otherIds = new long[BLOCK];

  /** Rows touched in this step, where the others must be updated too. */
  private final BitSet touched = new BitSet();

  /**
   * @param spare address of {@link #spareBytes} bytes
   */
  public RowUpdates(TableConfig config, RowSlabs slabs, long spare) {
    this.config = config;
    this.slabs = slabs;
    sumsAt = spare;
    sumStride = 4L * config.width();
    trash = spare + sumBytes(config);
    trashBytes = RowLayout.rowBytes(config);
    others = new OptimizerStep(config.optimizer(), config.width(), 0);
    steps = new RowSteps(config, trash + trashBytes);
  }

  /** Bytes for sums of gradients, for a row whose updates are thrown away, and for the steps. */
  static long spareBytes(TableConfig config) {
    return sumBytes(config) + RowLayout.rowBytes(config) + RowSteps.scratchBytes(config);
  }

  private static long sumBytes(TableConfig config) {
    return 4L * BLOCK * config.width();
  }

  /**
   * One optimizer step with the gradients of all bags of a lookup, which {@link PooledBags#check}
   * has seen; {@link #runOthers} ends the step.
   */
  public void run(RowLookup lookup, PooledBags bags, RowParts gradients, OptimizerStep step) {
    int count = bags.count;
    boolean distinct = bags.areRows() && count == lookup.count() && lookup.unique() == count;
    boolean inPlace = gradients.count() == 1 && !gradients.isInterleaved();
    if (distinct && inPlace && !config.limits().clips()) {
      runInPlace(lookup, gradients, step);
    } else {
      lookup.group(bags);
      runGrouped(lookup, count, gradients, step);
    }
  }

  /** As {@link #run}, for a lookup that was grouped. */
  public void runGrouped(RowLookup lookup, int bags, RowParts gradients, OptimizerStep step) {
    if (gradients.isInterleaved()) {
      lookup.placeBags(gradients);
    }
    if (changesNothing(step)) {
      return;
    }
    int unique = lookup.unique();
    long[] rows = targets(lookup, true);
    if (!gradients.isInterleaved() && (long) bags * config.width() <= NEAR_FLOATS) {
      lookup.touched += touch(gradients, bags);
    }
    for (int from = 0; from < unique; from += BLOCK) {
      int to = Math.min(unique, from + BLOCK);
      lookup.touchRows(rows, from, to, RowLayout.rowBytes(config));
      sums.at(sumsAt - from * sumStride, sumStride).rows(from, to);
      for (int p = 0; p < gradients.count(); p++) {
        loops.sumGradients(lookup, gradients.part(p, 0, bags), sums);
      }
      if (config.limits().clips()) {
        steps.clip(sums);
      }
      steps.run(step, rows, lookup.ids, sums);
    }
    mark(lookup, rows, step);
  }

  private void runInPlace(RowLookup lookup, RowParts gradients, OptimizerStep step) {
    if (changesNothing(step)) {
      return;
    }
    int unique = lookup.unique();
    long[] rows = targets(lookup, false);
    MatrixBlock whole = gradients.part(0, 0, unique);
    for (int from = 0; from < unique; from += BLOCK) {
      int to = Math.min(unique, from + BLOCK);
      lookup.touchRows(rows, from, to, RowLayout.rowBytes(config));
      steps.run(step, rows, lookup.ids, whole.rows(from, to));
    }
    mark(lookup, rows, step);
  }

  private boolean changesNothing(OptimizerStep step) {
    return config.rule().head().isEmpty() && step.changesNothing();
  }

  /** Notes the rows that were updated, where {@link #runOthers} updates the others. */
  private void mark(RowLookup lookup, long[] updated, OptimizerStep step) {
    int unique = step.updatesAllRows() ? lookup.unique() : 0;
    for (int u = 0; u < unique; u++) {
      if (updated[u] != trash) {
        touched.set(lookup.rows[u]);
      }
    }
  }

  /** Loads from each line of the gradients, as {@link RowLookup#touch} does of rows. */
  private static int touch(RowParts gradients, int bags) {
    int sum = 0;
    for (int p = 0; p < gradients.count(); p++) {
      MatrixBlock part = gradients.part(p, 0, bags);
      for (int j = part.begin; j < part.end; j += LINE / 4) {
        long at = part.base + 4L * j;
        long stride = part.stride;
        for (int b = 0; b < bags; b++) {
          sum += Memory.getInt(at + b * stride);
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

  /**
   * Ends a step: where the optimizer updates all rows, takes the same step with gradient 0 on every
   * row in use that had none.
   */
  public void runOthers(OptimizerStep step) {
    if (!step.updatesAllRows()) {
      return;
    }
    others.like(step);
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
