package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;

/**
 * Many small matrix products of equal sizes and strides. A thread computes whole products, to the
 * same bits as {@link MatMul}.
 */
public final class BatchProduct {
  /** Products of so many multiplications are shared by all threads instead. */
  private static final long LARGE = 1 << 20;

  private static final int FEW = 4;

  /** Pieces of work for each thread, so that none waits long for another at the end. */
  private static final int CHUNKS_PER_THREAD = 8;

  /** Fewest multiplications in a piece of work. */
  private static final long WORTH_SHARING = 100_000;

  private final Workers workers;
  private final Epilogue epilogue;
  private final long elements;
  private final BlockedProduct[] products;
  private final Batch batch;
  private final int chunks;
  private final long scratch;
  private final long scratchEach;
  private final long rowsBytes;
  private final Workers.Task task = this::chunk;

  // The products at hand.
  private TileKernel kernel = TileKernels.active();
  private long a;
  private long b;
  private long c;

  /** So many products; {@code aStep} elements lie from one A to the next, and so for B and C. */
  public record Batch(int count, long aStep, long bStep, long cStep) {}

  /**
   * The products of a batch.
   *
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   * @param epilogue runs on whole products as they become final; except for {@link Epilogue#NONE},
   *     all C must lie densely one after another
   */
  public BatchProduct(
      Workers workers, ProductSpec spec, Batch batch, long scratch, Epilogue epilogue) {
    this.workers = workers;
    this.epilogue = epilogue;
    elements = (long) spec.m() * spec.n();
    this.batch = batch;
    this.scratch = scratch;
    scratchEach = scratchEach(spec.m(), spec.n(), spec.k());
    rowsBytes = rowsBytes(spec.m(), spec.n());
    products = new BlockedProduct[workers.threads()];
    for (int i = 0; i < products.length; i++) {
      products[i] = new BlockedProduct(spec, workers, Epilogue.NONE);
    }
    long each = (long) spec.m() * spec.n() * spec.k();
    long most = Math.max(1, batch.count() * each / WORTH_SHARING);
    chunks =
        (int) Math.min(Math.min(batch.count(), most), (long) CHUNKS_PER_THREAD * products.length);
  }

  /** Whether products of these sizes are faster here than each by a {@link MatMul}. */
  public static boolean pays(int batch, int m, int n, int k) {
    return batch >= FEW && (long) m * n * k < LARGE && MatMul.isBlocked(m, n, k);
  }

  /** Bytes of scratch for products of these sizes. */
  public static long scratchBytes(int m, int n, int k, int threads) {
    return threads * scratchEach(m, n, k);
  }

  private static long scratchEach(int m, int n, int k) {
    return BlockedProduct.scratchBytes(m, n, k, TileKernels.columns(), 1) + 63 & -64;
  }

  /** Bytes of the products that a worker keeps until an epilogue takes them. */
  static long rowsBytes(int m, int n) {
    return 4L * (Epilogue.ELEMENTS + (long) m * n) + 63 & -64;
  }

  /** Runs all products on matrices that begin at these addresses. */
  public void run(long firstA, long firstB, long firstC) {
    kernel = TileKernels.active();
    a = firstA;
    b = firstB;
    c = firstC;
    workers.run(chunks, task);
  }

  private void chunk(int index, int worker) {
    int from = (int) ((long) batch.count() * index / chunks);
    int to = (int) ((long) batch.count() * (index + 1) / chunks);
    long own = scratch + worker * scratchEach;
    long rows = epilogue.rows() + worker * rowsBytes;
    int finished = from;
    for (int i = from; i < to; i++) {
      long target =
          epilogue.isOnC() ? c + 4 * i * batch.cStep() : rows + (i - finished) * 4 * elements;
      long left = a + 4 * i * batch.aStep();
      long right = b + 4 * i * batch.bStep();
      products[worker].runAlone(kernel, left, right, target, own);
      if (i + 1 == to || (i + 1 - finished) * elements >= Epilogue.ELEMENTS) {
        epilogue.task().run(finished * elements, (i + 1) * elements, 0, worker);
        finished = i + 1;
      }
    }
  }
}
