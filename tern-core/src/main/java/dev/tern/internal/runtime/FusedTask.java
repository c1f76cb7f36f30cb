package dev.tern.internal.runtime;

import dev.tern.base.Workers;
import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.emit.CompiledKernel;
import dev.tern.internal.kernel.emit.Kernels;
import dev.tern.internal.kernel.matmul.RowSums;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.plan.Step;
import java.util.Arrays;

/**
 * Runs a fused step in chunks of its outermost loop. The kernel runs the three innermost loops;
 * this class runs the loops outside of them. In a reduction over the outermost loop each chunk has
 * a partial result of its own. These are combined in order at the end, so the number of threads
 * does not change the result.
 */
final class FusedTask implements Workers.Task {
  private static final int KERNEL_LOOPS = 3;

  /** Array elements from one thread's number to the next, so that no two share a cache line. */
  private static final int APART = 16;

  private final Step.Fused step;
  private final Step.Loops loops;
  private final CompiledKernel code;
  private final long[] addresses;
  private final long scratch;
  private final int loads;
  private final int outerLoops;
  private final long[] kernelStrides;
  private final long[] partials;
  private final RowSums[] sums;
  private final long[][] current;
  private final int[][] counters;
  private final long elements;
  private final long row;
  private final boolean isEmpty;
  private final long scratchBytes;
  private Kernel kernel;

  /** Elements of the step for each index of the outermost loop. */
  private final long unit;

  private final PassedRows passed;

  /** Nanoseconds in {@link #range}, for worker {@code w} at index {@code w * APART}. */
  private final long[] spent;

  /**
   * Where a step finds its operands and scratch memory.
   *
   * @param operands the address of each operand
   * @param partials the address of the partial results
   * @param scratch the address of {@link #scratchBytes} bytes for each worker
   */
  record Addresses(long[] operands, long partials, long scratch) {}

  /**
   * The operand that a product hands over in rows: each worker reads the rows that it has computed
   * from memory of its own.
   *
   * @param operand its number; -1 where there is none
   * @param bytes from one worker's memory to the next one's
   */
  record PassedRows(int operand, long bytes) {
    static final PassedRows NONE = new PassedRows(-1, 0);
  }

  FusedTask(Step.Fused step, CompiledKernel code, Addresses at, PassedRows passed, int threads) {
    this.step = step;
    this.code = code;
    loops = step.loops();
    this.passed = passed;
    addresses = at.operands;
    scratch = at.scratch;
    kernel = code.active();
    loads = addresses.length - loops.reduced().length;
    scratchBytes = scratchBytes(step);
    elements = loops.elements();
    row = loops.sizes()[loops.sizes().length - 1];
    isEmpty = elements == 0;
    unit = isEmpty ? 1 : elements / loops.sizes()[0];
    spent = new long[threads * APART];
    outerLoops = Math.max(0, loops.sizes().length - KERNEL_LOOPS);
    kernelStrides = new long[KERNEL_LOOPS * addresses.length];
    for (int k = 0; k < addresses.length; k++) {
      int[] strides = loops.strides()[k];
      for (int level = 0; level < KERNEL_LOOPS; level++) {
        int axis = strides.length - KERNEL_LOOPS + level;
        kernelStrides[KERNEL_LOOPS * k + level] = axis < 0 ? 0 : 4L * strides[axis];
      }
    }
    partials = new long[loops.reduced().length];
    sums = new RowSums[partials.length];
    Arrays.setAll(sums, i -> new RowSums(4 * loops.reduced()[i], loops.chunks() - 1));
    long next = at.partials;
    for (int i = 0; i < partials.length; i++) {
      if (isPartial(i)) {
        partials[i] = next;
        next += 4 * loops.reduced()[i] * loops.chunks();
      }
    }
    current = new long[threads][addresses.length];
    counters = new int[threads][outerLoops];
  }

  /** Bytes of scratch memory that each worker needs, for lanes of reductions and for rows. */
  static long scratchBytes(Step.Fused step) {
    int[] sizes = step.loops().sizes();
    return Kernels.scratchBytes(step.spec(), sizes[sizes.length - 1]);
  }

  void run(Workers workers) {
    kernel = code.active();
    long start = System.nanoTime();
    if (loops.chunks() == 1) {
      run(0, 0);
    } else {
      workers.run(loops.chunks(), this);
    }
    code.ran(row, elements, System.nanoTime() - start);
    combine();
  }

  /** Runs {@code producer}, which calls {@link #range} until that has had all elements. */
  void runWithin(Runnable producer) {
    kernel = code.active();
    Arrays.fill(spent, 0);
    producer.run();
    long nanos = 0;
    for (int worker = 0; worker < current.length; worker++) {
      nanos += spent[worker * APART];
    }
    code.ran(row, elements, nanos / current.length);
    combine();
  }

  /**
   * Computes elements {@code from} to {@code to - 1} of the step. Both are multiples of the
   * elements for one index of the outermost loop.
   *
   * @param chunk the chunk that these are part of, where the step reduces over the outermost loop;
   *     the parts of a chunk come in order
   */
  void range(long from, long to, int chunk, int worker) {
    long start = System.nanoTime();
    indices((int) (from / unit), (int) (to / unit), chunk, worker);
    spent[worker * APART] += System.nanoTime() - start;
  }

  private boolean isPartial(int store) {
    return loops.isAcross(store) && loops.chunks() > 1;
  }

  private boolean isMax(int store) {
    return step.spec().stores().get(store).mode() == KernelSpec.Mode.MAX;
  }

  @Override
  public void run(int chunk, int worker) {
    indices(loops.chunkStart(chunk), loops.chunkStart(chunk + 1), chunk, worker);
  }

  private void indices(int from, int to, int chunk, int worker) {
    long[] at = current[worker];
    for (int k = 0; k < at.length; k++) {
      int store = k - loads;
      boolean partial = store >= 0 && isPartial(store);
      if (k == passed.operand) {
        at[k] = addresses[k] + worker * passed.bytes;
      } else if (partial) {
        at[k] = partials[store] + 4 * loops.reduced()[store] * chunk;
      } else {
        at[k] = addresses[k] + 4L * from * loops.strides()[k][0];
      }
      if (store >= 0
          && loops.reduced()[store] > 0
          && !(partial && from > loops.chunkStart(chunk))) {
        fill(store, at[k], from, to);
      }
    }
    if (to > from && !isEmpty) {
      runLoops(at, counters[worker], to - from, scratch + worker * scratchBytes);
    }
  }

  /** Sets the memory that a chunk reduces into to 0 (sum) or minus infinity (maximum). */
  private void fill(int store, long address, int from, int to) {
    int stride = loops.strides()[loads + store][0];
    long elements = stride == 0 ? loops.reduced()[store] : (long) (to - from) * stride;
    if (!isMax(store)) {
      Memory.zero(address, 4 * elements);
      return;
    }
    for (long i = 0; i < elements; i++) {
      Memory.setFloat(address + 4 * i, Float.NEGATIVE_INFINITY);
    }
  }

  private void runLoops(long[] at, int[] counter, int outermost, long lanes) {
    int[] sizes = loops.sizes();
    int rank = sizes.length;
    int n = rank == 1 ? outermost : sizes[rank - 1];
    int n1 = rank < 2 ? 1 : rank == 2 ? outermost : sizes[rank - 2];
    int n0 = rank < 3 ? 1 : rank == 3 ? outermost : sizes[rank - 3];
    if (outerLoops == 0) {
      kernel.run(at, kernelStrides, n0, n1, n, step.scalars(), lanes);
      return;
    }
    Arrays.fill(counter, 0);
    boolean more = true;
    while (more) {
      kernel.run(at, kernelStrides, n0, n1, n, step.scalars(), lanes);
      more = advance(at, counter, outermost);
    }
  }

  /** Moves the outer loops on by one, like an odometer; false at the end. */
  private boolean advance(long[] at, int[] counter, int outermost) {
    for (int axis = outerLoops - 1; axis >= 0; axis--) {
      int size = axis == 0 ? outermost : loops.sizes()[axis];
      boolean wraps = ++counter[axis] == size;
      int by = wraps ? 1 - size : 1;
      for (int k = 0; k < at.length; k++) {
        at[k] += 4L * by * loops.strides()[k][axis];
      }
      if (!wraps) {
        return true;
      }
      counter[axis] = 0;
    }
    return false;
  }

  private void combine() {
    for (int i = 0; i < partials.length; i++) {
      if (isPartial(i)) {
        combine(i);
      }
    }
  }

  /** Adds the partial results of all chunks up in order, or takes their maximum. */
  private void combine(int store) {
    long bytes = 4 * loops.reduced()[store];
    long out = addresses[loads + store];
    Memory.copy(partials[store], out, bytes);
    if (!isMax(store)) {
      int elements = (int) loops.reduced()[store];
      sums[store].add(partials[store] + bytes, out, elements);
      return;
    }
    for (int chunk = 1; chunk < loops.chunks(); chunk++) {
      long in = partials[store] + bytes * chunk;
      for (long i = 0; i < bytes; i += 4) {
        Memory.setFloat(out + i, Math.max(Memory.getFloat(out + i), Memory.getFloat(in + i)));
      }
    }
  }
}
