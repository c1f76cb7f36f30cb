package dev.tern.internal.kernel.matmul;

import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.emit.CompiledKernel;
import dev.tern.internal.kernel.emit.Kernels;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;

/**
 * The states of a gated recurrent unit over runs of rows, or the gradients that they get in all, by
 * the equations of {@link dev.tern.internal.ir.Recurrence}. One thread computes some runs side by
 * side, row after row: what their rows add by the recurrent weights is one product. Bits depend
 * neither on threads nor on which runs lie side by side.
 */
public final class RecurrentStates {
  private static final int ALIGNMENT = 64;
  private static final float[] ONE = {1};
  private static final float[] NO_SCALARS = {};

  /** States, products of them and sums: {@code 3 + 1 + 1 + 1} numbers for each of a state's. */
  private static final int NUMBERS = 6;

  private final int width;
  private final long line;
  private final long[] inputs;
  private final long out;
  private final boolean isGradient;
  private final CompiledKernel product;
  private final CompiledKernel result;
  private final Lane[] lanes;

  /**
   * Where states are computed.
   *
   * @param inputs addresses of what rows give to gates, factors of updates, and recurrent weights;
   *     for gradients of gradients, of what rows keep, of slopes, and of the transposed weights
   * @param out address of the states, or of the gradients
   * @param scratch address of {@link #scratchBytes} bytes for each thread, 64-byte aligned
   */
  public record Addresses(long[] inputs, long out, long scratch) {}

  private RecurrentStates(int width, boolean isGradient, Addresses at, int threads) {
    this.width = width;
    line = 4L * width;
    inputs = at.inputs.clone();
    out = at.out;
    this.isGradient = isGradient;
    product = Kernels.of(StateKernels.PRODUCT);
    result = Kernels.of(isGradient ? StateKernels.GRADIENT : StateKernels.STATE);
    lanes = new Lane[threads];
    Arrays.setAll(lanes, i -> new Lane(at.scratch + i * scratchBytes(width)));
  }

  /** States of {@code width} numbers. */
  public static RecurrentStates forward(int width, Addresses at, int threads) {
    return new RecurrentStates(width, false, at, threads);
  }

  /** Gradients of states. */
  public static RecurrentStates backward(int width, Addresses at, int threads) {
    return new RecurrentStates(width, true, at, threads);
  }

  /** Bytes of scratch memory that each thread needs. */
  public static long scratchBytes(int width) {
    return aligned(4L * NUMBERS * RunBlock.RUNS * width)
        + aligned(StateProduct.scratchBytes(3 * width, width))
        + aligned(StateProduct.scratchBytes(width, 3 * width));
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /**
   * Computes runs {@code from} to {@code to - 1}.
   *
   * @param offsets address of offsets, I32, checked
   * @param thread whose scratch memory is used
   */
  public void runs(long offsets, int from, int to, int thread) {
    Lane lane = lanes[thread];
    for (int run = from; run < to; run += RunBlock.RUNS) {
      int end = Math.min(to, run + RunBlock.RUNS);
      lane.block.take(offsets, run, end);
      if (isGradient) {
        lane.gradients(end - run);
      } else {
        lane.states(end - run);
      }
    }
  }

  /** What one thread computes with: some runs, and a row of each. */
  private final class Lane {
    final RunBlock block = new RunBlock();
    private final Rows ofProduct = new Rows(StateKernels.PRODUCT, NO_SCALARS);
    private final Rows ofResult;
    private final StateProduct sums;
    private final long products;
    private final long found;
    private long before;
    private long after;

    Lane(long scratch) {
      ofResult =
          isGradient
              ? new Rows(StateKernels.GRADIENT, NO_SCALARS)
              : new Rows(StateKernels.STATE, ONE);
      long each = RunBlock.RUNS * line;
      products = scratch;
      found = products + 3 * each;
      before = found + each;
      after = before + each;
      long rest = scratch + aligned(NUMBERS * each);
      sums =
          isGradient
              ? new StateProduct(width, 3 * width, rest)
              : new StateProduct(3 * width, width, rest);
    }

    /** The new states are the old ones of the rows that follow. */
    private void exchange() {
      long old = before;
      before = after;
      after = old;
    }

    void states(int count) {
      Kernel kernel = result.active();
      int active = block.longer(0, count);
      Memory.zero(before, active * line);
      Memory.zero(products, 3 * active * line);
      for (int t = 0; active > 0; t++) {
        if (t > 0) {
          sums.run(before, inputs[2], products, active);
        }
        for (int i = 0; i < active; i++) {
          state(kernel, block.first(i) + t, i);
        }
        exchange();
        active = block.longer(t + 1, active);
      }
    }

    private void state(Kernel kernel, long row, int run) {
      long[] at = ofResult.addresses;
      for (int part = 0; part < 3; part++) {
        at[part] = inputs[0] + (3 * row + part) * line;
        at[3 + part] = products + (3L * run + part) * line;
      }
      at[6] = before + run * line;
      at[7] = inputs[1] + 4 * row;
      at[8] = out + row * line;
      at[9] = after + run * line;
      ofResult.run(kernel, width);
    }

    void gradients(int count) {
      Kernel multiply = product.active();
      Kernel kernel = result.active();
      int active = block.longer(0, count);
      for (int i = 0; i < active; i++) {
        long given = inputs[0] + block.last(i) * line;
        Memory.copy(given, out + block.last(i) * line, line);
        Memory.copy(given, before + i * line, line);
      }
      for (int t = 1; (active = block.longer(t, active)) > 0; t++) {
        for (int i = 0; i < active; i++) {
          multiply(multiply, block.last(i) - t + 1L, i);
        }
        sums.run(products, inputs[3], found, active);
        for (int i = 0; i < active; i++) {
          gradient(kernel, block.last(i) - (long) t, i);
        }
        exchange();
      }
    }

    /** Each of three parts of the slopes of a row times the gradient of its state. */
    private void multiply(Kernel kernel, long row, int run) {
      long[] at = ofProduct.addresses;
      at[1] = before + run * line;
      for (int part = 0; part < 3; part++) {
        at[0] = inputs[2] + (3 * row + part) * line;
        at[2] = products + (3L * run + part) * line;
        ofProduct.run(kernel, width);
      }
    }

    private void gradient(Kernel kernel, long row, int run) {
      long[] at = ofResult.addresses;
      at[0] = inputs[0] + row * line;
      at[1] = inputs[1] + (row + 1) * line;
      at[2] = before + run * line;
      at[3] = found + run * line;
      at[4] = out + row * line;
      at[5] = after + run * line;
      ofResult.run(kernel, width);
    }
  }

  /** Runs a kernel on rows whose numbers lie side by side. */
  private static final class Rows {
    final long[] addresses;
    private final long[] strides;
    private final float[] scalars;

    Rows(KernelSpec spec, float[] scalars) {
      this.scalars = scalars;
      addresses = new long[spec.operands()];
      strides = new long[3 * addresses.length];
      for (int k = 0; k < addresses.length; k++) {
        strides[3 * k + 2] = spec.access(k) == KernelSpec.Access.BROADCAST ? 0 : 4;
      }
    }

    void run(Kernel kernel, int width) {
      kernel.run(addresses, strides, 1, 1, width, scalars, 0);
    }
  }
}
