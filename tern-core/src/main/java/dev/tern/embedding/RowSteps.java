package dev.tern.embedding;

import dev.tern.tensor.DType;

/**
 * Optimizer steps on rows as they are stored. Rows of F32 are updated in place; those of two bytes
 * are widened a block at a time, updated, and rounded back. How BF16 is rounded depends on (seed,
 * table index, id, step, column) alone.
 */
final class RowSteps {
  /** Rows widened at once: few enough that they stay in the nearest cache. */
  private static final int BLOCK = 64;

  private final RowLoops loops;
  private final DType storage;
  private final int width;
  private final long key;

  /** Whether weights have bounds, and which: such that rounding does not leave them. */
  private final boolean bounded;

  private final float low;
  private final float high;
  private final long widened;

  /** From a row to where its state would lie behind {@code W} weights of F32. */
  private final long stateShift;

  private final long[] rows = new long[BLOCK];
  private final long[] weights = new long[BLOCK];
  private final long[] states = new long[BLOCK];
  private final int[] keys = new int[BLOCK];
  private final int[] order = new int[BLOCK];

  /** With {@link #scratchBytes} at {@code scratch}. */
  RowSteps(TableConfig config, RowLoops loops, long scratch) {
    this.loops = loops;
    storage = config.storage();
    width = config.width();
    widened = scratch;
    bounded = config.limits().bounds();
    low = config.limits().low(storage);
    high = config.limits().high(storage);
    // Apart from the key of initial weights.
    key = Hashing.mix(~Hashing.mix(config.seed()) + config.index());
    stateShift = config.weightBytes() - 4L * width;
    for (int i = 0; i < BLOCK; i++) {
      weights[i] = scratch + 4L * width * i;
      order[i] = i;
    }
  }

  /** Bytes needed to widen rows. */
  static long scratchBytes(TableConfig config) {
    return config.storage() == DType.F32 ? 0 : 4L * BLOCK * config.width();
  }

  /**
   * One step on {@code targets[from .. to)}, the rows of {@code ids}; the gradient of {@code
   * targets[from + i]} lies at {@code grad + i * stride} (bytes); as {@link RowLoops#update}.
   */
  void run(Step step, long[] targets, long[] ids, int from, int to, long grad, long stride) {
    if (storage == DType.F32) {
      loops.update(step, targets, targets, from, to, grad - from * stride, stride);
      clamp(targets, from, to);
      return;
    }
    long stepKey = Hashing.draw(key, step.number());
    for (int begin = from; begin < to; begin += BLOCK) {
      int block = Math.min(BLOCK, to - begin);
      for (int i = 0; i < block; i++) {
        rows[i] = targets[begin + i];
        states[i] = rows[i] + stateShift;
        keys[i] = (int) Hashing.mix(ids[begin + i] ^ stepKey);
      }
      loops.gather(rows, order, 0, block, 0, width, widened, 4L * width);
      loops.update(step, weights, states, 0, block, grad + (begin - from) * stride, stride);
      clamp(weights, 0, block);
      loops.store(rows, keys, block, width, widened);
    }
  }

  private void clamp(long[] updated, int from, int to) {
    if (bounded) {
      loops.clamp(updated, from, to, width, low, high);
    }
  }
}
