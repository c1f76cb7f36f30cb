package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Gradients to rows: adds up the gradients of each distinct id, then gives one to each row. A batch
 * whose bags hold one id each, all distinct, needs no adding and is read in place.
 */
final class RowUpdates {
  private static final int BLOCK = 64;

  private final TableConfig config;
  private final RowSlabs slabs;
  private final RowLoops loops;
  private final RowSteps steps;
  private final Allocator allocator;
  private final String holder;

  /** The step of rows whose ids are not in the batch: without l2. */
  private final Step others;

  /** Takes the updates of ids that are not to be updated. */
  private final long trash;

  private final int trashBytes;

  /** Gradients by distinct id; grows. */
  private long sums;

  private long sumBytes;
  private long[] targets = new long[BLOCK];

  /** Ids of the rows that are updated though they are not in the batch. */
  private final long[] otherIds = new long[BLOCK];

  /** Rows touched in this step, where the others must be updated too. */
  private final BitSet touched = new BitSet();

  /** With {@link #spareBytes} at {@code spare}. */
  RowUpdates(TableConfig config, RowSlabs slabs, Allocator allocator, long spare) {
    this.config = config;
    this.slabs = slabs;
    this.allocator = allocator;
    trash = spare;
    others = new Step(config.optimizer(), config.width(), 0);
    holder = "table " + config.name() + " gradients";
    trashBytes = config.rowBytes();
    loops = RowLoops.fastest(config.storage());
    steps = new RowSteps(config, loops, spare + trashBytes);
  }

  /** Room for a row whose updates are thrown away, and to compute. */
  static long spareBytes(TableConfig config) {
    return config.rowBytes() + RowSteps.scratchBytes(config);
  }

  long bytes() {
    return sumBytes;
  }

  /**
   * One optimizer step on the rows of a lookup whose position i is bag i and which holds no id
   * twice.
   *
   * @param stride bytes from one bag's gradient to the next
   */
  void runDirect(Lookup lookup, long grad, long stride, Step step) {
    finish(lookup, targets(lookup, 0, lookup.count()), grad, stride, step);
  }

  /** One optimizer step for positions {@code from} to {@code to - 1} of a lookup, spread before. */
  void run(Lookup lookup, int from, int to, long grad, long stride, Step step) {
    int unique = lookup.unique();
    int width = config.width();
    long merged = sums(4L * width * unique);
    loops.clear(unique, width, merged, 4L * width);
    loops.addGradients(lookup, from, to, width, grad, stride, merged);
    finish(lookup, targets(lookup, from, to), merged, 4L * width, step);
  }

  private void finish(Lookup lookup, long[] rows, long grad, long stride, Step step) {
    if (step.optimizer() instanceof Optimizer.Ftrl && step.lr() == 0) {
      return;
    }
    steps.run(step, rows, lookup.ids, lookup.unique(), grad, stride);
    if (step.optimizer() instanceof Optimizer.Adam adam && !adam.lazy()) {
      updateOthers(lookup, rows, others.like(step));
    }
  }

  /** Where each distinct id's update goes: its row, or nowhere if it has none or no gradient. */
  private long[] targets(Lookup lookup, int from, int to) {
    boolean whole = from == 0 && to == lookup.count();
    if (whole && lookup.complete) {
      return lookup.addresses;
    }
    int unique = lookup.unique();
    if (targets.length < unique) {
      targets = new long[lookup.addresses.length];
    }
    Arrays.fill(targets, 0, unique, trash);
    for (int i = from; i < to; i++) {
      int u = lookup.inverse[i];
      if (lookup.rows[u] >= 0) {
        targets[u] = lookup.addresses[u];
      }
    }
    Memory.zero(trash, trashBytes);
    return targets;
  }

  private long sums(long bytes) {
    if (bytes > sumBytes || sumBytes == 0) {
      long wanted = Math.max(Math.max(bytes, 64), sumBytes + sumBytes / 2);
      free();
      sums = allocator.allocate(wanted, holder);
      sumBytes = wanted;
    }
    return sums;
  }

  /** The same step with gradient 0 on every row that had none. */
  private void updateOthers(Lookup lookup, long[] updated, Step step) {
    int unique = lookup.unique();
    for (int u = 0; u < unique; u++) {
      if (updated[u] != trash) {
        touched.set(lookup.rows[u]);
      }
    }
    Memory.zero(trash, 4L * config.width());
    int filled = 0;
    int size = slabs.size();
    for (int row = touched.nextClearBit(0); row < size; row = touched.nextClearBit(row + 1)) {
      long address = slabs.address(row);
      targets[filled] = address;
      otherIds[filled++] = config.keepsId() ? Memory.getLong(address + config.idOffset()) : 0;
      if (filled == BLOCK) {
        steps.run(step, targets, otherIds, filled, trash, 0);
        filled = 0;
      }
    }
    steps.run(step, targets, otherIds, filled, trash, 0);
    touched.clear();
  }

  void free() {
    if (sumBytes > 0) {
      allocator.free(sums);
      sumBytes = 0;
    }
  }
}
