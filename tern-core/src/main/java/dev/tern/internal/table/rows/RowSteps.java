package dev.tern.internal.table.rows;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.table.index.Hashing;
import dev.tern.optim.Optimizer;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Optimizer steps on rows as they are stored. Rows of F32 are updated in place. Rows of F16 or BF16
 * are widened a block at a time, updated, and rounded back. The rounding of BF16 depends on (seed,
 * table index, id, step, column) alone. One thread at a time.
 */
final class RowSteps {
  private static final int BLOCK = StepBlock.ROWS;

  private final RowReads reads;
  private final UpdateLoops loops = UpdateLoops.fastest();
  private final DType storage;
  private final int width;
  private final long key;
  private final float clipNorm;

  // Bounds that weights keep after rounding, if there are any.
  private final boolean bounded;
  private final float low;
  private final float high;

  /** The step of the first weights, if they have an optimizer of their own. */
  private final Optional<OptimizerStep> head;

  private final int headWidth;

  /** The head's learning rate divided by the rate of the other weights. */
  private final float headRate;

  // Bytes from a row to what a StepBlock calls the states of the head, and of the other weights.
  private final long headState;
  private final long restState;

  private final StepBlock block = new StepBlock();
  private final MatrixBlock widened = new MatrixBlock();
  private final long[] rows = new long[BLOCK];
  private final long[] weights = new long[BLOCK];
  private final long[] rest = new long[BLOCK];
  private final long[] states = new long[BLOCK];
  private final int[] keys = new int[BLOCK];
  private final int[] order = IntStream.range(0, BLOCK).toArray();

  /** With {@link #scratchBytes} bytes at address {@code scratch}. */
  RowSteps(TableConfig config, long scratch) {
    storage = config.storage();
    reads = RowReads.of(VectorSupport.available(), storage);
    width = config.width();
    widened.at(scratch, 4L * width).columns(0, width);
    clipNorm = config.limits().clipNorm();
    bounded = config.limits().bounds();
    low = config.limits().low(storage);
    high = config.limits().high(storage);
    // The complement makes it differ from the key of initial weights.
    key = Hashing.mix(~Hashing.mix(config.seed()) + config.index());
    RowRule rule = config.rule();
    headWidth = rule.headWidth();
    head = rule.head().map(first -> new OptimizerStep(first.optimizer(), headWidth, config.l2()));
    headRate = rule.head().map(first -> ratio(first.optimizer(), rule.optimizer())).orElse(1f);
    headState = RowLayout.weightBytes(config) - 4L * headWidth;
    restState = RowLayout.weightBytes(config) + 4L * rule.headState() - 4L * (width - headWidth);
  }

  private static float ratio(Optimizer first, Optimizer others) {
    return first.lr() == others.lr() ? 1 : first.lr() / others.lr();
  }

  /** Bytes to widen a block of rows. */
  static long scratchBytes(TableConfig config) {
    return config.storage() == DType.F32 ? 0 : 4L * BLOCK * config.width();
  }

  /** Scales the gradients of rows down to a norm of at most {@code clipNorm}. */
  void clip(MatrixBlock gradients) {
    block.gradients.at(gradients.base, gradients.stride).rows(gradients.from, gradients.to);
    block.gradients.columns(0, width);
    loops.clip(clipNorm, block);
  }

  /**
   * One step: row {@code i} of {@code gradients} updates the row of {@code ids[i]} at address
   * {@code targets[i]}, at most {@link StepBlock#ROWS} rows. See {@link UpdateLoops#update}.
   */
  void run(OptimizerStep step, long[] targets, long[] ids, MatrixBlock gradients) {
    if (head.isPresent()) {
      follow(head.get(), step);
    }
    int from = gradients.from;
    long stride = gradients.stride;
    block.gradients.at(gradients.base, stride).rows(from, gradients.to);
    if (storage == DType.F32 && head.isEmpty()) {
      update(step, targets, targets);
      clamp(targets);
      return;
    }
    int count = gradients.to - from;
    long base = gradients.base + from * stride;
    block.gradients.rows(0, count);
    System.arraycopy(targets, from, rows, 0, count);
    if (storage == DType.F32) {
      System.arraycopy(rows, 0, weights, 0, count);
      updateParts(step, base, stride);
    } else {
      widen(count);
      makeKeys(step, ids, from, count);
      updateParts(step, base, stride);
      loops.store(storage, rows, keys, widened);
    }
  }

  /** Sets the number and, in proportion, the rate of the head's step. */
  private void follow(OptimizerStep first, OptimizerStep step) {
    float rate = headRate * step.rate;
    if (first.number != step.number || first.rate != rate) {
      first.at(rate, step.number);
    }
  }

  private void widen(int count) {
    reads.gather(rows, order, widened.rows(0, count));
    for (int i = 0; i < count; i++) {
      weights[i] = widened.base + i * widened.stride;
    }
  }

  private void makeKeys(OptimizerStep step, long[] ids, int begin, int count) {
    long stepKey = Hashing.draw(key, step.number);
    for (int i = 0; i < count; i++) {
      keys[i] = (int) Hashing.mix(ids[begin + i] ^ stepKey);
    }
  }

  /** Updates head and other weights, floats at {@link #weights}, of {@link #rows}. */
  private void updateParts(OptimizerStep step, long base, long stride) {
    int count = block.gradients.to;
    if (head.isPresent() && !head.get().changesNothing()) {
      shift(rows, headState, states, count);
      block.gradients.at(base, stride);
      update(head.get(), weights, states);
    }
    if (!step.changesNothing()) {
      shift(rows, restState, states, count);
      shift(weights, 4L * headWidth, rest, count);
      block.gradients.at(base + 4L * headWidth, stride);
      update(step, rest, states);
    }
    clamp(weights);
  }

  private static void shift(long[] addresses, long by, long[] into, int count) {
    for (int i = 0; i < count; i++) {
      into[i] = addresses[i] + by;
    }
  }

  private void update(OptimizerStep step, long[] ofWeights, long[] ofStates) {
    block.weights = ofWeights;
    block.states = ofStates;
    loops.update(step, block);
  }

  private void clamp(long[] ofWeights) {
    if (bounded) {
      block.weights = ofWeights;
      loops.clamp(block, width, low, high);
    }
  }
}
