package dev.tern.internal.kernel.matmul;

import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.memory.Memory;

/**
 * The states of a gated recurrent unit over runs of rows, or the gradients that they get in all, by
 * the equations of {@link dev.tern.internal.ir.Recurrence}. One thread computes a run, row after
 * row; what a row adds by the recurrent weights is a combination of their rows ({@link
 * BlockKernel}). So bits depend neither on threads nor on the vector length.
 */
public final class RecurrentStates {
  private final int width;
  private final long line;
  private final long out;
  private final long[] inputs;
  private final boolean isGradient;

  private RecurrentStates(int width, long[] inputs, long out, boolean isGradient) {
    this.width = width;
    this.inputs = inputs.clone();
    this.out = out;
    this.isGradient = isGradient;
    line = 4L * width;
  }

  /**
   * States of {@code width} numbers.
   *
   * @param inputs addresses of what rows give to gates, factors of updates, and recurrent weights
   */
  public static RecurrentStates forward(int width, long[] inputs, long out) {
    return new RecurrentStates(width, inputs, out, false);
  }

  /**
   * Gradients of states.
   *
   * @param inputs addresses of gradients, of what rows keep, of slopes, and of the transposed
   *     recurrent weights
   */
  public static RecurrentStates backward(int width, long[] inputs, long out) {
    return new RecurrentStates(width, inputs, out, true);
  }

  /** Bytes of scratch memory that one call of {@link #runs} needs: four states. */
  public static long scratchBytes(int width) {
    return (16L * width + 63) / 64 * 64;
  }

  /**
   * Computes runs {@code from} to {@code to - 1}.
   *
   * @param offsets address of offsets, I32, checked
   */
  public void runs(long offsets, int from, int to, long scratch) {
    BlockKernel blocks = TileKernels.active().blocks();
    for (int run = from; run < to; run++) {
      int first = Memory.getInt(offsets + 4L * run);
      int end = Memory.getInt(offsets + 4L * run + 4);
      if (isGradient) {
        gradients(blocks, first, end, scratch);
      } else {
        states(blocks, first, end, scratch);
      }
    }
  }

  private void states(BlockKernel blocks, int first, int end, long scratch) {
    long none = scratch + 3 * line;
    Memory.zero(none, line);
    for (int row = first; row < end; row++) {
      Memory.zero(scratch, 3 * line);
      long before = row == first ? none : out + (row - 1) * line;
      if (row > first) {
        blocks.combine(before, inputs[2], 3 * line, scratch, 3 * width, width);
      }
      float factor = Memory.getFloat(inputs[1] + 4L * row);
      state(inputs[0] + 3 * line * row, factor, scratch, before, out + row * line);
    }
  }

  /** A state from what the row gives, the product of the state before, and this state. */
  private void state(long gates, float factor, long product, long before, long state) {
    for (long update = 0; update < line; update += 4) {
      long reset = update + line;
      long candidate = reset + line;
      float u = factor * Pointwise.sigmoid(sum(gates + update, product + update));
      float r = Pointwise.sigmoid(sum(gates + reset, product + reset));
      float rest = r * Memory.getFloat(product + candidate);
      float c = Pointwise.tanh(Memory.getFloat(gates + candidate) + rest);
      float kept = (1 - u) * Memory.getFloat(before + update);
      Memory.setFloat(state + update, kept + u * c);
    }
  }

  private static float sum(long a, long b) {
    return Memory.getFloat(a) + Memory.getFloat(b);
  }

  private void gradients(BlockKernel blocks, int first, int end, long scratch) {
    long sums = scratch + 3 * line;
    for (int row = end - 1; row >= first; row--) {
      long gradient = inputs[0] + row * line;
      long result = out + row * line;
      if (row == end - 1) {
        Memory.copy(gradient, result, line);
        continue;
      }
      long next = result + line;
      multiply(inputs[2] + 3 * line * (row + 1), next, scratch);
      Memory.zero(sums, line);
      blocks.combine(scratch, inputs[3], line, sums, width, 3 * width);
      long kept = inputs[1] + (row + 1) * line;
      for (long at = 0; at < line; at += 4) {
        float later = Memory.getFloat(kept + at) * Memory.getFloat(next + at);
        float own = Memory.getFloat(gradient + at) + later;
        Memory.setFloat(result + at, own + Memory.getFloat(sums + at));
      }
    }
  }

  /** Each of three parts of {@code slopes} times {@code x}. */
  private void multiply(long slopes, long x, long products) {
    for (long part = 0; part < 3 * line; part += line) {
      for (long at = 0; at < line; at += 4) {
        float product = Memory.getFloat(slopes + part + at) * Memory.getFloat(x + at);
        Memory.setFloat(products + part + at, product);
      }
    }
  }
}
