package dev.tern.embedding;

import dev.tern.base.DType;
import dev.tern.optim.Optimizer;
import java.util.Optional;

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

  /** The step of the first weights, where they have an optimizer of their own. */
  private final Optional<Step> head;

  private final int headWidth;
  private final float headRate;

  /** From a row to where the state of head and of the other weights would lie behind them. */
  private final long headState;

  private final long restState;

  private final long[] rows = new long[BLOCK];
  private final long[] weights = new long[BLOCK];
  private final long[] rest = new long[BLOCK];
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
    RowRule rule = config.rule();
    headWidth = rule.headWidth();
    head = rule.head().map(first -> new Step(first.optimizer(), headWidth, config.l2()));
    headRate = rule.head().map(first -> times(first.optimizer(), rule.optimizer())).orElse(1f);
    headState = RowLayout.weightBytes(config) - 4L * headWidth;
    restState = RowLayout.weightBytes(config) + 4L * rule.headState() - 4L * (width - headWidth);
    for (int i = 0; i < BLOCK; i++) {
      order[i] = i;
    }
  }

  private static float times(Optimizer first, Optimizer others) {
    return first.lr() == others.lr() ? 1 : first.lr() / others.lr();
  }

  /** Whether a step leaves weights and state as they are. */
  static boolean changesNothing(Step step) {
    return step.optimizer() instanceof Optimizer.Ftrl && step.lr() == 0;
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
    if (head.isPresent()) {
      follow(head.get(), step);
    }
    if (storage == DType.F32 && head.isEmpty()) {
      loops.update(step, targets, targets, from, to, grad - from * stride, stride);
      clamp(targets, from, to);
      return;
    }
    for (int begin = from; begin < to; begin += BLOCK) {
      int block = Math.min(BLOCK, to - begin);
      System.arraycopy(targets, begin, rows, 0, block);
      long gradients = grad + (begin - from) * stride;
      if (storage == DType.F32) {
        System.arraycopy(rows, 0, weights, 0, block);
        update(step, block, gradients, stride);
      } else {
        updateNarrow(step, ids, begin, block, gradients, stride);
      }
    }
  }

  /** Makes a step of the head that of the others. */
  private void follow(Step first, Step step) {
    float rate = headRate * step.rate();
    if (first.number() != step.number() || first.rate() != rate) {
      first.at(rate, step.number());
    }
  }

  /** On {@link #rows} whose weights are not floats: widens them, updates, and rounds. */
  private void updateNarrow(Step step, long[] ids, int begin, int block, long grad, long stride) {
    long stepKey = Hashing.draw(key, step.number());
    for (int i = 0; i < block; i++) {
      weights[i] = widened + 4L * width * i;
      keys[i] = (int) Hashing.mix(ids[begin + i] ^ stepKey);
    }
    loops.gather(rows, order, 0, block, 0, width, widened, 4L * width);
    update(step, block, grad, stride);
    loops.store(rows, keys, block, width, widened);
  }

  /** On {@link #rows} with weights of F32 at {@link #weights}. */
  private void update(Step step, int block, long grad, long stride) {
    if (head.isPresent() && !changesNothing(head.get())) {
      shift(rows, headState, states, block);
      loops.update(head.get(), weights, states, 0, block, grad, stride);
    }
    if (!changesNothing(step)) {
      shift(rows, restState, states, block);
      shift(weights, 4L * headWidth, rest, block);
      loops.update(step, rest, states, 0, block, grad + 4L * headWidth, stride);
    }
    clamp(weights, 0, block);
  }

  private static void shift(long[] addresses, long by, long[] into, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = addresses[i] + by;
    }
  }

  private void clamp(long[] updated, int from, int to) {
    if (bounded) {
      loops.clamp(updated, from, to, width, low, high);
    }
  }
}
