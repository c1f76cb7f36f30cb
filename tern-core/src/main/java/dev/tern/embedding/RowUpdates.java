package dev.tern.embedding;

import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Gradients to rows: adds up the gradients of each distinct id, a block of ids at a time, then
 * gives the block to the optimizer. An id that stands in one bag alone is not copied.
 */
final class RowUpdates {
  private static final int BLOCK = 64;

  private final TableConfig config;
  private final RowSlabs slabs;
  private final RowKernels kernels;
  private final Allocator allocator;
  private final long merged;
  private final long[] rows = new long[BLOCK];
  private final long[] grads = new long[BLOCK];
  private float[] scales = new float[0];
  private boolean scaled;

  /** Rows touched in this step, where the others must be updated too. */
  private final BitSet touched = new BitSet();

  RowUpdates(TableConfig config, RowSlabs slabs, RowKernels kernels, Allocator allocator) {
    this.config = config;
    this.slabs = slabs;
    this.kernels = kernels;
    this.allocator = allocator;
    merged = allocator.allocate(bytes(), "table " + config.name() + " gradients");
  }

  long bytes() {
    return 4L * config.width() * BLOCK;
  }

  /** Sets by how much the gradient of each bag counts. */
  void scale(int[] offsets, int bags, boolean single, Combiner combiner) {
    scaled = combiner == Combiner.MEAN && !single;
    if (scales.length < bags) {
      scales = new float[Math.max(bags, 2 * scales.length)];
      Arrays.fill(scales, 1);
    }
    for (int b = 0; b < bags; b++) {
      scales[b] = scaled ? 1f / (offsets[b + 1] - offsets[b]) : 1;
    }
  }

  /** One optimizer step on the rows of a lookup whose bags are grouped; stride in bytes. */
  void run(Lookup lookup, long grad, long stride, RowKernels.Step step) {
    if (step.optimizer() instanceof Optimizer.Ftrl && step.lr() == 0) {
      return;
    }
    boolean all = step.optimizer() instanceof Optimizer.Adam adam && !adam.lazy();
    int filled = 0;
    for (int u = 0; u < lookup.unique(); u++) {
      int from = lookup.starts[u];
      int to = lookup.starts[u + 1];
      int row = lookup.rows[u];
      if (from == to || row < 0) {
        continue;
      }
      rows[filled] = lookup.addresses[u];
      if (to - from == 1 && !scaled) {
        grads[filled] = grad + lookup.order[from] * stride;
      } else {
        grads[filled] = merged + 4L * config.width() * filled;
        kernels.merge(grad, stride, lookup.order, from, to, scales, config.width(), grads[filled]);
      }
      if (all) {
        touched.set(row);
      }
      if (++filled == BLOCK) {
        kernels.update(step, rows, grads, filled);
        filled = 0;
      }
    }
    kernels.update(step, rows, grads, filled);
    if (all) {
      updateOthers(step);
    }
  }

  /** The same step with gradient 0 on every row not touched. */
  private void updateOthers(RowKernels.Step step) {
    RowKernels.Step still =
        new RowKernels.Step(step.optimizer(), step.width(), 0, step.lr(), step.vScale());
    Memory.zero(merged, 4L * config.width());
    Arrays.fill(grads, merged);
    int filled = 0;
    int size = slabs.size();
    for (int row = touched.nextClearBit(0); row < size; row = touched.nextClearBit(row + 1)) {
      rows[filled] = slabs.address(row);
      if (++filled == BLOCK) {
        kernels.update(still, rows, grads, filled);
        filled = 0;
      }
    }
    kernels.update(still, rows, grads, filled);
    touched.clear();
  }

  void free() {
    allocator.free(merged);
  }
}
