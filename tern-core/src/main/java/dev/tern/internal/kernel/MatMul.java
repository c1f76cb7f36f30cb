package dev.tern.internal.kernel;

import dev.tern.base.Workers;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Optional;

/**
 * A product of F32 matrices, {@code C = A B} or {@code C += A B}, of fixed sizes and strides, to be
 * run on any addresses without allocating; one thread at a time. Strides are counted in elements
 * and may be any, so a transposed matrix is one with its strides exchanged; C has dense rows and
 * overlaps neither A nor B.
 *
 * <p>Every element starts from 0, or from its old value when accumulating, and takes its {@code k}
 * terms in ascending order, each by one fused multiply-add; where C has one row or column and the
 * terms lie side by side, by {@link RowDots#dots} in 16 sums; where terms are many and C is small,
 * in the pieces of {@link SplitProduct}. So neither the vector length, nor the lack of vectors, nor
 * the number of threads shows in the result.
 */
public final class MatMul {
  /** Zeros, where a tile that starts from nothing finds its start. */
  static final long ZEROS = Memory.allocate(Arena.global(), 256, 64, "zeros").address();

  /**
   * Sizes and strides: A is {@code m x k}, B {@code k x n}, C {@code m x n}.
   *
   * @param ars elements between rows of A, {@code acs} between columns; so for B
   * @param ldc elements between rows of C
   * @param accumulate whether C's old values are added to
   */
  public record Spec(
      long ars, long acs, long brs, long bcs, long ldc, int m, int n, int k, boolean accumulate) {}

  /** What the sizes call for. */
  private enum Form {
    NOTHING,
    NO_TERMS,
    MATRIX_BY_COLUMN,
    ROW_BY_MATRIX,
    OUTER,
    MANY_TERMS,
    GENERAL
  }

  private final Spec spec;
  private final Workers workers;
  private final long scratch;
  private final Form form;
  private final VectorProduct vectors;
  private final OuterProduct outer;
  private final Product product;
  private final Optional<SplitProduct> split;

  /**
   * @param scratch address of {@link #scratchBytes} bytes, 64-byte aligned
   */
  public MatMul(Workers workers, Spec spec, long scratch) {
    this(workers, spec, scratch, Epilogue.NONE);
  }

  /**
   * A product with an epilogue.
   *
   * @param epilogue other than {@link Epilogue#NONE} only where {@link Epilogue#isTakenBy} or
   *     {@link Epilogue#mayKeepRows} says so
   */
  public MatMul(Workers workers, Spec spec, long scratch, Epilogue epilogue) {
    this.workers = workers;
    this.spec = spec;
    this.scratch = scratch;
    form = form(spec);
    vectors =
        form == Form.ROW_BY_MATRIX
            ? new VectorProduct(4 * spec.bcs, 4 * spec.brs, 4, spec.n, spec.k, spec.accumulate)
            : new VectorProduct(
                4 * spec.ars, 4 * spec.acs, 4 * spec.ldc, spec.m, spec.k, spec.accumulate);
    outer = new OuterProduct(spec);
    product = new Product(spec, epilogue);
    split =
        form == Form.MANY_TERMS ? Optional.of(new SplitProduct(spec, workers)) : Optional.empty();
  }

  /** Has vector code made ready, which takes a second or two: best before it is needed. */
  public static void prepare() {
    Tiles.active();
  }

  /** Whether vector code is being made ready. */
  public static boolean isPending() {
    return Tiles.isPending();
  }

  /** Whether products of these sizes, with a dense C, can have an epilogue. */
  static boolean takesEpilogue(int m, int n, int k) {
    return form(new Spec(k, 1, n, 1, n, m, n, k, false)) == Form.GENERAL;
  }

  /** Whether they hand on rows that are nowhere else. */
  static boolean handsOnRows(int m, int n, int k) {
    return takesEpilogue(m, n, k) && Product.isOneSlab(m, n, k, Tiles.columns());
  }

  private static Form form(Spec spec) {
    if (spec.m == 0 || spec.n == 0) {
      return Form.NOTHING;
    }
    if (spec.k == 0) {
      return Form.NO_TERMS;
    }
    if (spec.n == 1) {
      return Form.MATRIX_BY_COLUMN;
    }
    if (spec.m == 1) {
      return Form.ROW_BY_MATRIX;
    }
    if (spec.k == 1 && spec.bcs == 1 && !spec.accumulate) {
      return Form.OUTER;
    }
    boolean dense = spec.ldc == spec.n;
    return dense && SplitProduct.pays(spec.m, spec.n, spec.k) ? Form.MANY_TERMS : Form.GENERAL;
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
    long whole = Product.scratchBytes(m, n, k, Tiles.columns(), threads);
    return SplitProduct.pays(m, n, k)
        ? Math.max(whole, SplitProduct.scratchBytes(m, n, k, threads))
        : whole;
  }

  /** Runs the product on matrices at these addresses. */
  public void run(long a, long b, long c) {
    run(Tiles.active(), a, b, c);
  }

  void run(TileKernel kernel, long a, long b, long c) {
    switch (form) {
      case NOTHING -> {}
      case NO_TERMS -> {
        for (int i = 0; i < spec.m && !spec.accumulate; i++) {
          Memory.zero(c + 4 * i * spec.ldc, 4L * spec.n);
        }
      }
      case MATRIX_BY_COLUMN -> vectors.run(kernel, workers, a, dense(b, spec.brs), c);
      case ROW_BY_MATRIX -> vectors.run(kernel, workers, b, dense(a, spec.acs), c);
      case OUTER -> outer.run(kernel, workers, a, b, c);
      case MANY_TERMS -> split.orElseThrow().run(kernel, a, b, c, scratch);
      case GENERAL -> product.run(kernel, workers, a, b, c, scratch);
    }
  }

  /** The {@code k} numbers at {@code x}, gathered into scratch unless side by side. */
  private long dense(long x, long stride) {
    if (stride == 1) {
      return x;
    }
    for (int p = 0; p < spec.k; p++) {
      Memory.setFloat(scratch + 4L * p, Memory.getFloat(x + 4 * p * stride));
    }
    return scratch;
  }
}
