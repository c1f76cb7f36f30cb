package dev.tern.internal.kernel;

import dev.tern.base.Workers;

/**
 * A matrix product of one term, which only writes: rows of C in chunks, in the order of memory, as
 * fast as it takes them.
 */
final class OuterProduct {
  /** Numbers of C per task. */
  private static final int CHUNK = 1 << 16;

  private final MatMul.Spec spec;
  private final int rows;
  private final int chunks;
  private final Workers.Task computing = this::task;

  // The product at hand.
  private TileKernel kernel = Tiles.active();
  private long a;
  private long b;
  private long c;

  OuterProduct(MatMul.Spec spec) {
    this.spec = spec;
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
    long row = 4 * spec.ldc();
    long step = 4 * spec.ars();
    kernel.blocks().outer(a + from * step, step, b, c + from * row, row, count, spec.n());
  }
}
