package dev.tern.internal.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * NVIDIA's products of matrices on tensor cores, the library cuBLASLt. The algorithm of a product
 * is the first of its heuristic, without timing, so equal runs on one device take the same. Numbers
 * of types and attributes are those of {@code cublasLt.h}, CUDA 12 and 13.
 */
public final class CublasLt implements AutoCloseable {
  /** Memory of the device that products of one stream share. */
  public static final long WORKSPACE = 32L << 20;

  private static final int R_32F = 0;
  private static final int R_16BF = 14;
  private static final int COMPUTE_32F = 68;
  private static final int COMPUTE_TF32 = 77;
  private static final int TRANSA = 3;
  private static final int TRANSB = 4;
  private static final int BATCH_COUNT = 5;
  private static final int BATCH_STEP = 6;
  private static final int MOST_WORKSPACE = 1;

  /** The first of four attributes, for A, B, C and D. */
  private static final int ALIGNMENTS = 5;

  private static final int ALGORITHM_BYTES = 64;
  private static final int RESULT_BYTES = 96;
  private static final int STATE_AT = 72;
  private static final int NOT_SUPPORTED = 15;

  private final SymbolLookup library;
  private final MethodHandle createDesc;
  private final MethodHandle setDesc;
  private final MethodHandle destroyDesc;
  private final MethodHandle createLayout;
  private final MethodHandle setLayout;
  private final MethodHandle destroyLayout;
  private final MethodHandle createPreference;
  private final MethodHandle setPreference;
  private final MethodHandle destroyPreference;
  private final MethodHandle heuristic;
  private final MethodHandle matmul;
  private final MethodHandle destroy;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment one = arena.allocateFrom(JAVA_FLOAT, 1f);
  private final MemorySegment zero = arena.allocateFrom(JAVA_FLOAT, 0f);
  private final long handle;

  /**
   * Rows and columns as they lie in memory, row after row.
   *
   * @param isTransposed whether they are those of the transposed matrix
   * @param ld elements from one row to the next
   * @param step elements from one matrix of a batch to the next
   */
  public record Matrix(long rows, long columns, boolean isTransposed, long ld, long step) {
    private long storedRows() {
      return isTransposed ? columns : rows;
    }

    private long storedColumns() {
      return isTransposed ? rows : columns;
    }
  }

  private CublasLt(SymbolLookup library) {
    this.library = library;
    MethodHandle create = function("cublasLtCreate", "P");
    destroy = function("cublasLtDestroy", "L");
    createDesc = function("cublasLtMatmulDescCreate", "PII");
    setDesc = function("cublasLtMatmulDescSetAttribute", "LIPL");
    destroyDesc = function("cublasLtMatmulDescDestroy", "L");
    createLayout = function("cublasLtMatrixLayoutCreate", "PILLL");
    setLayout = function("cublasLtMatrixLayoutSetAttribute", "LIPL");
    destroyLayout = function("cublasLtMatrixLayoutDestroy", "L");
    createPreference = function("cublasLtMatmulPreferenceCreate", "P");
    setPreference = function("cublasLtMatmulPreferenceSetAttribute", "LIPL");
    destroyPreference = function("cublasLtMatmulPreferenceDestroy", "L");
    heuristic = function("cublasLtMatmulAlgoGetHeuristic", "LLLLLLLIPP");
    matmul = function("cublasLtMatmul", "LLPLLLLPLLLLPLLL");
    handle = made("cublasLtCreate", create);
  }

  /**
   * Opens the library for the device of the current context.
   *
   * @throws IllegalStateException when it is not found; the message names the places looked in
   */
  public static CublasLt open(CudaDriver driver) {
    if (driver.isSimulated()) {
      return new CublasLt(SymbolLookup.libraryLookup(driver.path(), Arena.global()));
    }
    CudaLibraries.Search search = CudaLibraries.findProducts();
    String path =
        search
            .found()
            .orElseThrow(() ->
                new IllegalStateException(
                    "device: got no libcublasLt.so (looked in %s), expected it for products on tensor cores; %s"
                        .formatted(
                            String.join(", ", search.places()),
                            "install the Python package nvidia-cublas, or use train.device_math:"
                                + " exact")));
    return new CublasLt(SymbolLookup.libraryLookup(path, Arena.global()));
  }

  private MethodHandle function(String name, String parameters) {
    MemoryLayout[] layouts =
        parameters
            .chars()
            .mapToObj(c -> (MemoryLayout) (c == 'I' ? JAVA_INT : c == 'P' ? ADDRESS : JAVA_LONG))
            .toArray(MemoryLayout[]::new);
    MemorySegment address =
        library
            .find(name)
            .orElseThrow(() ->
                new IllegalStateException(
                    "device: got a cuBLASLt without %s, expected that of CUDA 12 or later"
                        .formatted(name)));
    return Linker.nativeLinker().downcallHandle(address, FunctionDescriptor.of(JAVA_INT, layouts));
  }

  private static void check(String name, MethodHandle function, Object... values) {
    int code;
    try {
      code = (int) function.invokeWithArguments(values);
    } catch (Throwable e) {
      throw new IllegalStateException(name, e);
    }
    if (code != 0) {
      throw new CudaException(
          code,
          "%s: got status %d, expected success; use train.device_math: exact"
              .formatted(name, code));
    }
  }

  private long made(String name, MethodHandle function, Object... values) {
    try (Arena own = Arena.ofConfined()) {
      MemorySegment out = own.allocate(JAVA_LONG);
      Object[] all = new Object[values.length + 1];
      all[0] = out;
      System.arraycopy(values, 0, all, 1, values.length);
      check(name, function, all);
      return out.get(JAVA_LONG, 0);
    }
  }

  private void set(
      String name, MethodHandle function, long of, int attribute, long value, int bytes) {
    try (Arena own = Arena.ofConfined()) {
      MemorySegment at = own.allocate(JAVA_LONG);
      at.set(JAVA_LONG, 0, value);
      check(name, function, of, attribute, at, (long) bytes);
    }
  }

  /** {@code batch} products of two matrices, made ready; for one thread at a time. */
  public final class Product implements AutoCloseable {
    private final long desc;
    private final long[] layouts;
    private final MemorySegment algorithm = arena.allocate(ALGORITHM_BYTES, 8);

    private Product(Matrix a, Matrix b, Matrix c, int batch, boolean isHalf, long alignment) {
      desc =
          made("cublasLtMatmulDescCreate", createDesc, isHalf ? COMPUTE_32F : COMPUTE_TF32, R_32F);
      // Rows one after another are the columns of the transposed matrix: C' = B' A'.
      set("cublasLtMatmulDescSetAttribute", setDesc, desc, TRANSA, b.isTransposed ? 1 : 0, 4);
      set("cublasLtMatmulDescSetAttribute", setDesc, desc, TRANSB, a.isTransposed ? 1 : 0, 4);
      int factors = isHalf ? R_16BF : R_32F;
      layouts =
          new long[] {
            layout(b, factors, batch), layout(a, factors, batch), layout(c, R_32F, batch)
          };
      choose(alignment);
    }

    private long layout(Matrix m, int type, int batch) {
      long made =
          made(
              "cublasLtMatrixLayoutCreate",
              createLayout,
              type,
              m.storedColumns(),
              m.storedRows(),
              m.ld);
      set("cublasLtMatrixLayoutSetAttribute", setLayout, made, BATCH_COUNT, batch, 4);
      set("cublasLtMatrixLayoutSetAttribute", setLayout, made, BATCH_STEP, m.step, 8);
      return made;
    }

    private void choose(long alignment) {
      long preference = made("cublasLtMatmulPreferenceCreate", createPreference);
      String name = "cublasLtMatmulPreferenceSetAttribute";
      set(name, setPreference, preference, MOST_WORKSPACE, WORKSPACE, 8);
      for (int i = 0; i < 4; i++) {
        set(name, setPreference, preference, ALIGNMENTS + i, alignment, 4);
      }
      try (Arena own = Arena.ofConfined()) {
        MemorySegment result = own.allocate(RESULT_BYTES, 8);
        MemorySegment found = own.allocate(JAVA_INT);
        check(
            "cublasLtMatmulAlgoGetHeuristic",
            heuristic,
            handle,
            desc,
            layouts[0],
            layouts[1],
            layouts[2],
            layouts[2],
            preference,
            1,
            result,
            found);
        if (found.get(JAVA_INT, 0) < 1 || result.get(JAVA_INT, STATE_AT) != 0) {
          throw new CudaException(
              NOT_SUPPORTED,
              "cublasLtMatmulAlgoGetHeuristic: got no algorithm, expected one; use"
                  + " train.device_math: exact");
        }
        MemorySegment.copy(result, 0, algorithm, 0, ALGORITHM_BYTES);
      } finally {
        check("cublasLtMatmulPreferenceDestroy", destroyPreference, preference);
      }
    }

    /** Has a stream compute the products at these addresses, with {@link #WORKSPACE} bytes. */
    public void run(long a, long b, long c, long workspace, long stream) {
      check(
          "cublasLtMatmul",
          matmul,
          handle,
          desc,
          one,
          b,
          layouts[0],
          a,
          layouts[1],
          zero,
          c,
          layouts[2],
          c,
          layouts[2],
          algorithm,
          workspace,
          WORKSPACE,
          stream);
    }

    @Override
    public void close() {
      for (long layout : layouts) {
        check("cublasLtMatrixLayoutDestroy", destroyLayout, layout);
      }
      check("cublasLtMatmulDescDestroy", destroyDesc, desc);
    }
  }

  /**
   * {@code C = A B}, {@code batch} times.
   *
   * @param isHalf whether A and B are bfloat16; else they are binary32 and multiplied as TF32
   * @param alignment bytes that all addresses are multiples of
   */
  public Product product(Matrix a, Matrix b, Matrix c, int batch, boolean isHalf, long alignment) {
    return new Product(a, b, c, batch, isHalf, alignment);
  }

  @Override
  public void close() {
    check("cublasLtDestroy", destroy, handle);
    arena.close();
  }
}
