package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;

/**
 * A matrix product of one term. Most of its time goes into writing C, so tasks are chunks of rows
 * in the order of memory.
 */
final class OuterProduct {
  /** Elements of C in a task. */
  private static final int CHUNK = 1 << 16;

  private final ProductSpec spec;
  private final BlockKernel.Outer shape;
  private final int rows;
  private final int chunks;
  private final Workers.Task computing = this::task;

  // The product at hand.
  private TileKernel kernel = TileKernels.active();
  private long a;
  private long b;
  private long c;

  OuterProduct(ProductSpec spec) {
    this.spec = spec;
    shape = new BlockKernel.Outer(4 * spec.ars(), 4 * spec.ldc(), spec.n());
    rows = Math.max(1, CHUNK / Math.max(1, spec.n()));
    chunks = (spec.m() + rows - 1) / rows;
  }

  void run(TileKernel tiles, Workers workers, long addressA, long addressB, long addressC) {
    kernel = tiles;
    a = addressA;
    b = addressB;
    c = addressC;
    workers.run(chunks, computing);
  }

  private void task(int chunk, int worker) {
    int from = chunk * rows;
    int count = Math.min(rows, spec.m() - from);
    kernel.blocks().outer(shape, a + from * shape.xStep(), b, c + from * shape.cRow(), count);
  }
}
