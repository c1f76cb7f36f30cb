package dev.tern.internal.kernel.matmul;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;
import java.util.Optional;

/**
 * A product of F32 matrices, {@code C = A B} or {@code C += A B}, of fixed sizes and strides. It
 * runs on any addresses without allocating, called by one thread at a time. Strides are counted in
 * elements and may be any: a transposed matrix has its two strides exchanged. C has dense rows and
 * overlaps neither A nor B.
 *
 * <p>Every element starts from 0, or from its old value when accumulating. It takes its {@code k}
 * terms in ascending order, each by one fused multiply-add. There are two exceptions. Where C has
 * one row or column and the terms lie side by side, they go to the 16 sums of {@link RowDots#dots}.
 * Where terms are many, C is small, and A or B is transposed, they are summed in the pieces of
 * {@link SplitProduct}. So results depend neither on vectors and their length, nor on the number of
 * threads; and where A and B have dense rows, a row of C depends on its row of A and on B alone.
 */
public final class MatMul {
  /** The epilogue takes rows from workers if C has this many times their memory. */
  private static final int WORTH_KEEPING = 4;

  /** How a product of some sizes is computed. */
  @FunctionalInterface
  private interface Form {
    void run(TileKernel kernel, long a, long b, long c);
  }

  private final ProductSpec spec;
  private final long scratch;
  private final Form form;

  /**
   * The product.
   *
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   * @param epilogue {@link Epilogue#NONE} unless {@link #takesEpilogue} or {@link #mayKeepRows}
   *     allows another
   */
  public MatMul(Workers workers, ProductSpec spec, long scratch, Epilogue epilogue) {
    this(workers, spec, scratch, epilogue, 0);
  }

  /**
   * A product with a B that never changes.
   *
   * @param packedB where {@link #pack} packed it; 0 where it did not
   */
  public MatMul(Workers workers, ProductSpec spec, long scratch, Epilogue epilogue, long packedB) {
    this.spec = spec;
    this.scratch = scratch;
    form = form(workers, epilogue, packedB);
  }

  private Form form(Workers workers, Epilogue epilogue, long packedB) {
    int m = spec.m();
    int n = spec.n();
    int k = spec.k();
    if (m == 0 || n == 0) {
      return (kernel, a, b, c) -> {};
    }
    if (k == 0) {
      return (kernel, a, b, c) -> noTerms(c);
    }
    if (n == 1) {
      VectorProduct product = VectorProduct.byColumn(spec);
      return (kernel, a, b, c) -> product.run(kernel, workers, a, dense(b, spec.brs()), c);
    }
    if (m == 1) {
      VectorProduct product = VectorProduct.byRow(spec);
      return (kernel, a, b, c) -> product.run(kernel, workers, b, dense(a, spec.acs()), c);
    }
    if (k == 1 && spec.bcs() == 1 && !spec.accumulate()) {
      OuterProduct product = new OuterProduct(spec);
      return (kernel, a, b, c) -> product.run(kernel, workers, a, b, c);
    }
    if (isSplit(spec)) {
      return new SplitProduct(spec, workers, scratch)::run;
    }
    BlockedProduct product = new BlockedProduct(spec, workers, epilogue, packedB);
    return (kernel, a, b, c) -> product.run(kernel, a, b, c, scratch);
  }

  /** Whether {@code batch} products of these sizes, with a dense C, can have an epilogue. */
  public static boolean takesEpilogue(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k) || batch == 1 && isBlocked(m, n, k);
  }

  /**
   * Whether the epilogue can take rows from the memory of each of {@code threads} workers, and this
   * saves much of the memory of C.
   */
  public static boolean mayKeepRows(int batch, int m, int n, int k, int threads) {
    long rows = threads * rowsBytes(batch, m, n, k);
    boolean isOneSlab =
        batch == 1
            && isBlocked(m, n, k)
            && BlockedProduct.isOneSlab(m, n, k, TileKernels.columns());
    return 4L * batch * m * n >= WORTH_KEEPING * rows
        && (isOneSlab || BatchProduct.pays(batch, m, n, k));
  }

  /** Bytes of the rows that each worker keeps for such an epilogue. */
  public static long rowsBytes(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k)
        ? BatchProduct.rowsBytes(m, n)
        : BlockedProduct.rowsBytes(n);
  }

  /**
   * Whether the product is summed in pieces. One whose A and B have dense rows never is: rows of A
   * are rows of a batch there, and what becomes of one must not depend on how many others there
   * are.
   */
  private static boolean isSplit(ProductSpec spec) {
    boolean isOfRows = spec.acs() == 1 && spec.bcs() == 1;
    return !isOfRows && spec.ldc() == spec.n() && SplitProduct.pays(spec.m(), spec.n(), spec.k());
  }

  /**
   * How many terms of an element are summed before the sum is added to those of others: a piece of
   * {@link SplitProduct}, or else all terms.
   */
  public static int termsOfPiece(ProductSpec spec) {
    boolean isMatrix = spec.m() > 1 && spec.n() > 1 && (spec.k() > 1 || spec.bcs() != 1);
    return isMatrix && isSplit(spec) ? SplitProduct.terms(spec.k()) : spec.k();
  }

  /** Whether each product of these sizes, with a dense C, is a {@link BlockedProduct}. */
  static boolean isBlocked(int m, int n, int k) {
    return m > 1 && n > 1 && k > 1 && !SplitProduct.pays(m, n, k);
  }

  /**
   * The order in which a product reads a packed B; empty where it reads B in place, or packs it in
   * parts of its own.
   */
  public static Optional<PackedOrder> packedOrder(ProductSpec spec) {
    return spec.m() > 1 && spec.n() > 1 && spec.k() > 1 && !isSplit(spec)
        ? Optional.of(alone(spec, 0).packedOrder())
        : Optional.empty();
  }

  /**
   * Packs the B of products of one {@link #packedOrder} once and for all.
   *
   * @param b address of B
   * @param to address of {@link PackedOrder#bytes} bytes, 64-byte aligned
   */
  public static void pack(ProductSpec spec, long b, long to) {
    alone(spec, to).packPanels(TileKernels.active(), b);
  }

  private static BlockedProduct alone(ProductSpec spec, long panelsAt) {
    return new BlockedProduct(spec, Workers.of(1), Epilogue.NONE, panelsAt);
  }

  /** Starts to make vector code ready, which takes a second or two. */
  public static void prepare() {
    TileKernels.active();
  }

  /** Whether vector code is being made ready for the first time. */
  public static boolean isPending() {
    return TileKernels.isPending();
  }

  /** Bytes of scratch for a product of these sizes on so many threads. */
  public static long scratchBytes(int m, int n, int k, int threads) {
    if (m <= 1 || n <= 1) {
      return 4L * k;
    }
    long whole = BlockedProduct.scratchBytes(m, n, k, TileKernels.columns(), threads);
    return SplitProduct.pays(m, n, k)
        ? Math.max(whole, SplitProduct.scratchBytes(m, n, k, threads))
        : whole;
  }

  /** Runs the product on matrices at these addresses. */
  public void run(long a, long b, long c) {
    run(TileKernels.active(), a, b, c);
  }

  void run(TileKernel kernel, long a, long b, long c) {
    form.run(kernel, a, b, c);
  }

  private void noTerms(long c) {
    for (int i = 0; i < spec.m() && !spec.accumulate(); i++) {
      Memory.zero(c + 4 * i * spec.ldc(), 4L * spec.n());
    }
  }

  /** The address of the {@code k} numbers at {@code x} side by side, gathered if need be. */
  private long dense(long x, long stride) {
    if (stride == 1) {
      return x;
    }
    for (int p = 0; p < spec.k(); p++) {
      Memory.setFloat(scratch + 4L * p, Memory.getFloat(x + 4 * p * stride));
    }
    return scratch;
  }
}
