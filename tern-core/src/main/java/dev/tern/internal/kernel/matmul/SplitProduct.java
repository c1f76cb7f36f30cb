package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;

/**
 * A product of many terms with a small C, such as the gradient of weights over a batch. The terms
 * are cut into pieces, whose number depends on the sizes alone. For example, 2048 terms are four
 * pieces of 512. One thread computes each piece into a C of its own; these are added in order. So
 * threads do not wait for each other's packing, and their number does not change a bit.
 *
 * <p>A C of few columns is computed transposed, as it is cheaper to pack the long side as panels.
 */
final class SplitProduct {
  /** Terms in a piece, whose panels of B stay in a second-level cache. */
  private static final int TERMS = 512;

  private static final int MOST_PIECES = 16;
  private static final int WORTH_SPLITTING = 4 * TERMS;

  /** Most elements of C. */
  private static final long MOST_RESULTS = 1 << 18;

  /** Elements that one task adds. */
  private static final int SUMS = 1 << 14;

  /** Most columns of a C that is computed transposed. */
  private static final int FEW_COLUMNS = 48;

  private final ProductSpec spec;
  private final Workers workers;
  private final int terms;
  private final int pieces;
  private final boolean transposed;
  private final BlockedProduct[] parts;
  private final long partBytes;
  private final long ownBytes;
  private final long scratch;
  private final RowSums sums;
  private final Workers.Task computing = this::compute;
  private final Workers.Task adding = this::add;

  // The product at hand.
  private TileKernel kernel = TileKernels.active();
  private long a;
  private long b;
  private long c;

  /** The product; {@code scratch} has {@link #scratchBytes} bytes, 64-byte aligned. */
  SplitProduct(ProductSpec spec, Workers workers, long scratch) {
    this.spec = spec;
    this.workers = workers;
    this.scratch = scratch;
    pieces = pieces(spec.k());
    terms = terms(spec.k());
    parts = new BlockedProduct[pieces];
    transposed = isTransposed(spec.m(), spec.n());
    for (int i = 0; i < pieces; i++) {
      parts[i] =
          new BlockedProduct(part(Math.min(terms, spec.k() - i * terms)), workers, Epilogue.NONE);
    }
    partBytes = partBytes(spec.m(), spec.n());
    ownBytes = ownBytes(spec.m(), spec.n(), terms);
    sums = new RowSums(partBytes, pieces);
  }

  private static boolean isTransposed(int m, int n) {
    return n < m && n <= FEW_COLUMNS;
  }

  private ProductSpec part(int count) {
    int m = spec.m();
    int n = spec.n();
    return transposed
        ? new ProductSpec(spec.bcs(), spec.brs(), spec.acs(), spec.ars(), m, n, m, count, false)
        : new ProductSpec(spec.ars(), spec.acs(), spec.brs(), spec.bcs(), n, m, n, count, false);
  }

  private static long ownBytes(int m, int n, int terms) {
    boolean transposed = isTransposed(m, n);
    return BlockedProduct.scratchBytes(
        transposed ? n : m, transposed ? m : n, terms, TileKernels.columns(), 1);
  }

  /** Whether a product of these sizes is worth splitting; C must be dense. */
  static boolean pays(int m, int n, int k) {
    return k >= WORTH_SPLITTING && (long) m * n <= MOST_RESULTS;
  }

  static long scratchBytes(int m, int n, int k, int threads) {
    return (pieces(k) + 1) * partBytes(m, n) + threads * ownBytes(m, n, terms(k));
  }

  private static int pieces(int k) {
    int terms = terms(k);
    return (k + terms - 1) / terms;
  }

  /** Terms of a piece; the last may have fewer. */
  static int terms(int k) {
    int wanted = Math.min(MOST_PIECES, (k + TERMS - 1) / TERMS);
    return (k + wanted - 1) / wanted;
  }

  private static long partBytes(int m, int n) {
    return 4L * m * n + 63 & -64;
  }

  void run(TileKernel tiles, long addressA, long addressB, long addressC) {
    kernel = tiles;
    a = addressA;
    b = addressB;
    c = addressC;
    workers.run(pieces, computing);
    long results = (long) spec.m() * spec.n();
    workers.run((int) ((results + SUMS - 1) / SUMS), adding);
  }

  private void compute(int piece, int worker) {
    long from = (long) piece * terms;
    long mine = scratch + (pieces + 1) * partBytes + worker * ownBytes;
    long pieceOfA = a + 4 * from * spec.acs();
    long pieceOfB = b + 4 * from * spec.brs();
    long left = transposed ? pieceOfB : pieceOfA;
    long right = transposed ? pieceOfA : pieceOfB;
    parts[piece].runAlone(kernel, left, right, scratch + piece * partBytes, mine);
  }

  private void add(int chunk, int worker) {
    long from = (long) chunk * SUMS;
    int count = (int) Math.min(SUMS, (long) spec.m() * spec.n() - from);
    long target = transposed ? scratch + pieces * partBytes : c;
    if (!spec.accumulate()) {
      Memory.zero(target + 4 * from, 4L * count);
    } else if (transposed) {
      for (long i = from; i < from + count; i++) {
        Memory.setFloat(target + 4 * i, Memory.getFloat(c + 4 * turned(i)));
      }
    }
    sums.add(kernel, scratch + 4 * from, target + 4 * from, count);
    for (long i = from; transposed && i < from + count; i++) {
      Memory.setFloat(c + 4 * turned(i), Memory.getFloat(target + 4 * i));
    }
  }

  /** The place in C of element {@code i} of its transpose. */
  private long turned(long i) {
    return i % spec.m() * spec.n() + i / spec.m();
  }
}
