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
 * Where terms are many and C is small, they are summed in the pieces of {@link SplitProduct}. So
 * neither the vector length, nor the lack of vectors, nor the number of threads shows in the
 * result.
 */
public final class MatMul {
  /** A C that takes so many times the memory of all workers' rows is worth leaving out. */
  private static final int WORTH_KEEPING = 4;

  /** How a product of some sizes is computed. */
  private enum Form {
    NOTHING,
    NO_TERMS,
    MATRIX_BY_COLUMN,
    ROW_BY_MATRIX,
    OUTER,
    MANY_TERMS,
    GENERAL
  }

  private final ProductSpec spec;
  private final Workers workers;
  private final long scratch;
  private final Form form;
  private final VectorProduct vectors;
  private final OuterProduct outer;
  private final BlockedProduct product;
  private final Optional<SplitProduct> split;

  /**
   * A product without an epilogue.
   *
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  public MatMul(Workers workers, ProductSpec spec, long scratch) {
    this(workers, spec, scratch, Epilogue.NONE);
  }

  /**
   * A product with an epilogue.
   *
   * @param epilogue {@link Epilogue#NONE} unless {@link #takesEpilogue} or {@link #mayKeepRows}
   *     allows another
   */
  public MatMul(Workers workers, ProductSpec spec, long scratch, Epilogue epilogue) {
    this.workers = workers;
    this.spec = spec;
    this.scratch = scratch;
    form = form(spec);
    vectors = form == Form.ROW_BY_MATRIX ? VectorProduct.byRow(spec) : VectorProduct.byColumn(spec);
    outer = new OuterProduct(spec);
    product = new BlockedProduct(spec, workers, epilogue);
    split =
        form == Form.MANY_TERMS
            ? Optional.of(new SplitProduct(spec, workers, scratch))
            : Optional.empty();
  }

  /** Whether {@code batch} products of these sizes, with a dense C, can have an epilogue. */
  public static boolean takesEpilogue(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k) || batch == 1 && takesEpilogue(m, n, k);
  }

  /**
   * Whether the epilogue can take rows from where each of {@code threads} workers keeps them, and
   * this saves much of the memory of C.
   */
  public static boolean mayKeepRows(int batch, int m, int n, int k, int threads) {
    long rows = threads * rowsBytes(batch, m, n, k);
    boolean isLarge = 4L * batch * m * n >= WORTH_KEEPING * rows;
    boolean isBatch = BatchProduct.pays(batch, m, n, k);
    return isLarge && (isBatch || batch == 1 && handsOnRows(m, n, k));
  }

  /** Bytes of the rows that each worker keeps for such an epilogue. */
  public static long rowsBytes(int batch, int m, int n, int k) {
    return BatchProduct.pays(batch, m, n, k)
        ? BatchProduct.rowsBytes(m, n)
        : BlockedProduct.rowsBytes(n);
  }

  /** Begins to make vector code ready, which takes a second or two. */
  public static void prepare() {
    TileKernels.active();
  }

  /** Whether vector code is being made ready for the first time. */
  public static boolean isPending() {
    return TileKernels.isPending();
  }

  /** Whether products of these sizes, with a dense C, can have an epilogue. */
  static boolean takesEpilogue(int m, int n, int k) {
    return form(new ProductSpec(k, 1, n, 1, n, m, n, k, false)) == Form.GENERAL;
  }

  /** Whether such an epilogue may take rows from where the workers keep them. */
  static boolean handsOnRows(int m, int n, int k) {
    return takesEpilogue(m, n, k) && BlockedProduct.isOneSlab(m, n, k, TileKernels.columns());
  }

  private static Form form(ProductSpec spec) {
    if (spec.m() == 0 || spec.n() == 0) {
      return Form.NOTHING;
    }
    if (spec.k() == 0) {
      return Form.NO_TERMS;
    }
    if (spec.n() == 1) {
      return Form.MATRIX_BY_COLUMN;
    }
    if (spec.m() == 1) {
      return Form.ROW_BY_MATRIX;
    }
    if (spec.k() == 1 && spec.bcs() == 1 && !spec.accumulate()) {
      return Form.OUTER;
    }
    boolean dense = spec.ldc() == spec.n();
    return dense && SplitProduct.pays(spec.m(), spec.n(), spec.k())
        ? Form.MANY_TERMS
        : Form.GENERAL;
  }

  /**
   * Bytes of scratch for a product of these sizes.
   *
   * @param threads of the workers that will run it
   */
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
    switch (form) {
      case NOTHING -> {}
      case NO_TERMS -> {
        for (int i = 0; i < spec.m() && !spec.accumulate(); i++) {
          Memory.zero(c + 4 * i * spec.ldc(), 4L * spec.n());
        }
      }
      case MATRIX_BY_COLUMN -> vectors.run(kernel, workers, a, dense(b, spec.brs()), c);
      case ROW_BY_MATRIX -> vectors.run(kernel, workers, b, dense(a, spec.acs()), c);
      case OUTER -> outer.run(kernel, workers, a, b, c);
      case MANY_TERMS -> split.orElseThrow().run(kernel, a, b, c);
      case GENERAL -> product.run(kernel, a, b, c, scratch);
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
