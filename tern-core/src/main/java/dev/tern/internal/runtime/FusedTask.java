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
 * Runs a fused step in chunks of its outermost loop. The three innermost loops are the kernel's
 * own; further ones are counted here. A reduction over the outermost loop goes to partial results,
 * one per chunk, added up in order at the end, so the number of threads does not matter.
 */
final class FusedTask implements Workers.Task {
  private static final int KERNEL_LOOPS = 3;

  /** Numbers of different threads lie so far apart that no two share a cache line. */
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

  /** Elements of the step in one index of the outermost loop. */
  private final long unit;

  /** The operand of which each worker has rows of its own, or -1, and from one's to the next's. */
  private final int passed;

  private final long passedBytes;

  /** By worker, at distances, time spent in {@link #range}. */
  private final long[] spent;

  /**
   * Where a step finds its operands and scratch memory.
   *
   * @param operands address of each
   * @param partials address of the partial results
   * @param scratch address of the lanes of each worker
   */
  record Addresses(long[] operands, long partials, long scratch) {}

  /**
   * An operand whose first elements {@link #range} finds where a worker's own memory begins.
   *
   * @param operand its number, or -1
   * @param bytes from one worker's memory for it to the next one's
   */
  record PassedRows(int operand, long bytes) {
    static final PassedRows NONE = new PassedRows(-1, 0);
  }

  FusedTask(
      Step.Fused step, CompiledKernel code, Addresses at, PassedRows passedRows, int threads) {
    this.step = step;
    this.code = code;
    loops = step.loops();
    passed = passedRows.operand;
    passedBytes = passedRows.bytes;
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
    this.partials = new long[loops.reduced().length];
    sums = new RowSums[this.partials.length];
    Arrays.setAll(sums, i -> new RowSums(4 * loops.reduced()[i], loops.chunks() - 1));
    long next = at.partials;
    for (int i = 0; i < this.partials.length; i++) {
      if (isPartial(i)) {
        this.partials[i] = next;
        next += 4 * loops.reduced()[i] * loops.chunks();
      }
    }
    current = new long[threads][addresses.length];
    counters = new int[threads][outerLoops];
  }

  /** Bytes of lanes and rows that each worker needs. */
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

  /** Runs {@code producer}, which calls {@link #range} for all elements. */
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
   * Elements {@code from} to {@code to - 1} of the step, whole indices of its outermost loop.
   *
   * @param chunk of which they are part, in order, where the step reduces over that loop
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
      if (k == passed) {
        at[k] = addresses[k] + worker * passedBytes;
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

  /** Sets what this chunk reduces into. */
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

  /** Steps the outer loops like an odometer; false at the end. */
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
