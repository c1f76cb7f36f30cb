package dev.tern.internal.cuda.run;

import dev.tern.internal.cuda.driver.CublasLt;
import dev.tern.internal.cuda.driver.CudaGrid;
import dev.tern.internal.kernel.matmul.MatMul;
import dev.tern.internal.kernel.matmul.ProductSpec;
import dev.tern.internal.plan.Step;
import java.util.Optional;

/** The launches of matrix products, in the forms and with the pieces of terms of the CPU. */
final class ProductLaunches {
  /** Most blocks along the second and third dimension of a grid. */
  private static final int MOST_BLOCKS = 65_535;

  /** Fewest rows and columns of C that tiles are worth. */
  private static final int TILED = 32;

  /** Fewest rows, columns and terms that tensor cores are worth. */
  private static final int FOR_CORES = 16;

  /** Halves are read 16 bytes at a time. */
  private static final int HALVES_AT_ONCE = 8;

  private final Launches launches;
  private final StepAddresses at;
  private final Optional<TensorCores> cores;
  private final long scratch;

  /**
   * @param scratch address of {@link #halfBytes} bytes where cores take halves
   */
  ProductLaunches(Launches launches, StepAddresses at, Optional<TensorCores> cores, long scratch) {
    this.launches = launches;
    this.at = at;
    this.cores = cores;
    this.scratch = scratch;
  }

  /** Bytes of both factors as halves, whose rows begin at multiples of 16 bytes. */
  static long halfBytes(Step.ProductSizes size) {
    long m = rounded(size.m());
    long n = rounded(size.n());
    long k = rounded(size.k());
    return 2 * size.batch() * (m * k + k * n) + 256;
  }

  private static long rounded(long count) {
    return (count + HALVES_AT_ONCE - 1) / HALVES_AT_ONCE * HALVES_AT_ONCE;
  }

  /**
   * The operands of a product on the device.
   *
   * @param aStep elements from one A of a batch to the next
   */
  private record Operands(
      long a, long aStep, long b, long bStep, long c, long cStep, ProductSpec spec) {}

  void add(Step.MatMul step) {
    Step.ProductSizes size = step.sizes();
    if (size.batch() == 0 || size.m() == 0 || size.n() == 0) {
      return;
    }
    Operands all = operands(step);
    if (size.n() == 1 || size.m() == 1) {
      vector(all, size.batch());
    } else if (cores.isPresent() && isForCores(all.spec)) {
      onCores(all, size.batch(), cores.get());
    } else if (MatMul.termsOfPiece(all.spec) < size.k()) {
      for (int i = 0; i < size.batch(); i++) {
        split(all, i, at.of(step.scratch().place()));
      }
    } else if (isTiled(all.spec, size.batch())) {
      tiles(all, size.k(), size.batch());
    } else {
      elements(all, size.batch());
    }
  }

  private Operands operands(Step.MatMul step) {
    int[] a = step.a().strides();
    int[] b = step.b().strides();
    int[] c = step.c().strides();
    Step.ProductSizes size = step.sizes();
    ProductSpec spec =
        new ProductSpec(a[1], a[2], b[1], b[2], c[1], size.m(), size.n(), size.k(), false);
    return new Operands(at.of(step.a()), a[0], at.of(step.b()), b[0], at.of(step.c()), c[0], spec);
  }

  private static boolean isForCores(ProductSpec spec) {
    return Math.min(spec.m(), Math.min(spec.n(), spec.k())) >= FOR_CORES
        && (spec.ars() == 1 || spec.acs() == 1)
        && (spec.brs() == 1 || spec.bcs() == 1);
  }

  private void onCores(Operands all, int batch, TensorCores with) {
    ProductSpec spec = all.spec;
    boolean aTurned = spec.acs() != 1;
    boolean bTurned = spec.bcs() != 1;
    CublasLt.Matrix a =
        new CublasLt.Matrix(
            spec.m(), spec.k(), aTurned, aTurned ? spec.acs() : spec.ars(), all.aStep);
    CublasLt.Matrix b =
        new CublasLt.Matrix(
            spec.k(), spec.n(), bTurned, bTurned ? spec.bcs() : spec.brs(), all.bStep);
    CublasLt.Matrix c = new CublasLt.Matrix(spec.m(), spec.n(), false, spec.ldc(), all.cStep);
    long addressOfA = all.a;
    long addressOfB = all.b;
    if (with.isHalf()) {
      CublasLt.Matrix halfOfA = halves(a);
      CublasLt.Matrix halfOfB = halves(b);
      addressOfA = scratch;
      addressOfB = scratch + (2 * batch * halfOfA.step() + 255 & -256);
      round(all.a, a, addressOfA, halfOfA, batch);
      round(all.b, b, addressOfB, halfOfB, batch);
      a = halfOfA;
      b = halfOfB;
    }
    long alignment = Math.min(256, Long.lowestOneBit(addressOfA | addressOfB | all.c | 256));
    CublasLt.Product product = with.library().product(a, b, c, batch, with.isHalf(), alignment);
    launches.add(product, addressOfA, addressOfB, all.c, with.workspace());
  }

  /** The same matrices as halves, dense but for the ends of rows. */
  private static CublasLt.Matrix halves(CublasLt.Matrix of) {
    long rows = of.isTransposed() ? of.columns() : of.rows();
    long ld = rounded(of.isTransposed() ? of.rows() : of.columns());
    return new CublasLt.Matrix(of.rows(), of.columns(), of.isTransposed(), ld, rows * ld);
  }

  private void round(long from, CublasLt.Matrix of, long to, CublasLt.Matrix halves, int batch) {
    int rows = (int) (of.isTransposed() ? of.columns() : of.rows());
    int columns = (int) (of.isTransposed() ? of.rows() : of.columns());
    boolean isWide = from % 16 == 0 && (of.ld() | of.step()) % 4 == 0 && columns % 8 == 0;
    int shares = isWide ? columns / 8 : columns;
    long count = (long) batch * rows * shares;
    launches.add(
        isWide ? "round_eight_to_bf16" : "round_to_bf16",
        count,
        from,
        of.ld(),
        of.step(),
        to,
        halves.ld(),
        halves.step(),
        rows,
        shares,
        (int) count);
  }

  private static boolean isTiled(ProductSpec spec, int batch) {
    return Math.min(spec.m(), spec.n()) >= TILED
        && (spec.ars() == 1 || spec.acs() == 1)
        && (spec.brs() == 1 || spec.bcs() == 1)
        && Math.max(batch, spec.m() / 64 + 1) <= MOST_BLOCKS;
  }

  /** A matrix and a vector: terms side by side go to lanes, others are taken in order. */
  private void vector(Operands all, int batch) {
    ProductSpec spec = all.spec;
    boolean isColumn = spec.n() == 1;
    long line = isColumn ? spec.ars() : spec.bcs();
    long term = isColumn ? spec.acs() : spec.brs();
    long resultStep = isColumn ? spec.ldc() : 1;
    if (line == 1 && resultStep == 1 || term != 1) {
      elements(all, batch);
      return;
    }
    int count = isColumn ? spec.m() : spec.n();
    launches.add(
        "row_dots",
        16L * batch * count,
        isColumn ? all.a : all.b,
        line,
        isColumn ? all.aStep : all.bStep,
        isColumn ? all.b : all.a,
        isColumn ? spec.brs() : spec.acs(),
        isColumn ? all.bStep : all.aStep,
        all.c,
        resultStep,
        all.cStep,
        count,
        spec.k(),
        batch * count);
  }

  private void elements(Operands all, int batch) {
    ProductSpec spec = all.spec;
    int elements = batch * spec.m() * spec.n();
    launches.add(
        "product_small",
        elements,
        all.a,
        spec.ars(),
        spec.acs(),
        all.aStep,
        all.b,
        spec.brs(),
        spec.bcs(),
        all.bStep,
        all.c,
        spec.ldc(),
        all.cStep,
        spec.m(),
        spec.n(),
        spec.k(),
        elements);
  }

  /** One product of a batch, its terms in pieces that are added in order. */
  private void split(Operands all, int index, long parts) {
    ProductSpec spec = all.spec;
    int terms = MatMul.termsOfPiece(spec);
    int pieces = (spec.k() + terms - 1) / terms;
    long part = (long) spec.m() * spec.n();
    long a = all.a + 4 * index * all.aStep;
    long b = all.b + 4 * index * all.bStep;
    tiles(new Operands(a, 0, b, 0, parts, part, spec), terms, pieces);
    long c = all.c + 4 * index * all.cStep;
    launches.add("combine", part, parts, part, pieces, c, (int) part, 1, 0);
  }

  /**
   * Tiles of C.
   *
   * @param terms of a layer
   * @param layers products of a batch, or pieces of the terms
   */
  private void tiles(Operands all, int terms, int layers) {
    ProductSpec spec = all.spec;
    boolean aByTerms = spec.acs() == 1;
    boolean bByTerms = spec.bcs() != 1;
    long lda = aByTerms ? spec.ars() : spec.acs();
    long ldb = bByTerms ? spec.bcs() : spec.brs();
    boolean isWide =
        (all.a | all.b) % 16 == 0 && (lda | ldb | all.aStep | all.bStep | terms) % 4 == 0;
    int side = launches.tile(spec.m(), spec.n(), layers);
    String kernel =
        "product_%s%s_%s_%d"
            .formatted(aByTerms ? "n" : "t", bByTerms ? "t" : "n", isWide ? "wide" : "any", side);
    int columns = (spec.n() + side - 1) / side;
    int rows = (spec.m() + side - 1) / side;
    launches.add(
        kernel,
        new CudaGrid(columns, rows, layers, Launches.THREADS, 1, 1, 0),
        all.a,
        lda,
        all.aStep,
        all.b,
        ldb,
        all.bStep,
        all.c,
        spec.ldc(),
        all.cStep,
        spec.m(),
        spec.n(),
        spec.k(),
        terms);
  }
}
