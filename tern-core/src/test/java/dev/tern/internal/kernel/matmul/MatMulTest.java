package dev.tern.internal.kernel.matmul;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Workers;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MatMulTest {
  /** A matrix in memory: element (i, j) is at {@code address + 4 (i rows + j columns)}. */
  private record Matrix(long address, long rows, long columns) {
    float get(int i, int j) {
      return Memory.getFloat(address + 4 * (i * rows + j * columns));
    }
  }

  private static Matrix random(Arena arena, Random random, int m, int n, long rows, long columns) {
    long elements = 1 + Math.max(0, m - 1) * rows + Math.max(0, n - 1) * columns;
    long address = Memory.allocate(arena, 4 * elements, 64, "test").address();
    for (long i = 0; i < elements; i++) {
      Memory.setFloat(address + 4 * i, random.nextFloat(-1, 1));
    }
    return new Matrix(address, rows, columns);
  }

  private static List<TileKernel> kernels() {
    List<TileKernel> kernels = new ArrayList<>();
    kernels.add(Tiles.scalar());
    if (VectorSupport.available()) {
      kernels.add(new TileKernel(new VectorTile(), new VectorBlocks(), new VectorDots()));
      kernels.add(Tiles.vectors());
    }
    return kernels;
  }

  /**
   * The product by every kernel and by 1 to 3 threads, against sums in plain Java and, within the
   * bound of k roundings, in double precision.
   */
  private static void check(
      int m, int n, int k, long ars, long acs, long brs, long bcs, boolean accumulate) {
    Random random = new Random(m * 31L + n * 7L + k);
    try (Arena arena = Arena.ofConfined()) {
      Matrix a = random(arena, random, m, k, ars, acs);
      Matrix b = random(arena, random, k, n, brs, bcs);
      boolean many = m > 1 && n > 1 && k >= 2048;
      boolean pieces = many && (acs != 1 || bcs != 1);
      int ldc = many ? n : n + 3;
      Matrix c = random(arena, random, m, ldc, ldc, 1);
      float[] before = new float[m * ldc];
      Memory.copyOut(c.address(), before, 0, before.length);
      float[] want = before.clone();
      boolean lanes = n == 1 ? acs == 1 : m == 1 && brs == 1 && bcs != 1;
      for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
          float start = accumulate ? want[i * ldc + j] : 0;
          want[i * ldc + j] =
              lanes
                  ? laneSum(a, b, i, j, k, start)
                  : pieces ? pieceSum(a, b, i, j, k, start) : sum(a, b, i, j, 0, k, start);
        }
      }
      for (TileKernel kernel : kernels()) {
        for (int threads = 1; threads <= 3; threads++) {
          long scratch =
              Memory.allocate(arena, MatMul.scratchBytes(m, n, k, threads), 64, "test").address();
          Memory.copyIn(before, 0, c.address(), before.length);
          try (Workers workers = Workers.of(threads)) {
            ProductSpec spec = new ProductSpec(ars, acs, brs, bcs, ldc, m, n, k, accumulate);
            new MatMul(workers, spec, scratch, Epilogue.NONE)
                .run(kernel, a.address(), b.address(), c.address());
          }
          assertBits(c.address(), want, ldc, kernel + " with " + threads + " threads");
        }
        ProductSpec spec = new ProductSpec(ars, acs, brs, bcs, ldc, m, n, k, accumulate);
        Memory.copyIn(before, 0, c.address(), before.length);
        if (runPacked(arena, kernel, spec, a, b, c)) {
          assertBits(c.address(), want, ldc, kernel + " with a packed B");
        }
      }
    }
  }

  /** Runs a product with a B packed for another number of rows, where there is such an order. */
  private static boolean runPacked(
      Arena arena, TileKernel kernel, ProductSpec spec, Matrix a, Matrix b, Matrix c) {
    ProductSpec other =
        new ProductSpec(
            spec.ars(),
            spec.acs(),
            spec.brs(),
            spec.bcs(),
            spec.ldc(),
            7,
            spec.n(),
            spec.k(),
            false);
    Optional<PackedOrder> order = MatMul.packedOrder(spec);
    if (order.isEmpty() || !MatMul.packedOrder(other).equals(order)) {
      return false;
    }
    long panels = Memory.allocate(arena, order.get().bytes(), 64, "test").address();
    MatMul.pack(other, b.address(), panels);
    long bytes = MatMul.scratchBytes(spec.m(), spec.n(), spec.k(), 1);
    long scratch = Memory.allocate(arena, bytes, 64, "test").address();
    try (Workers workers = Workers.of(1)) {
      new MatMul(workers, spec, scratch, Epilogue.NONE, panels)
          .run(kernel, a.address(), b.address(), c.address());
    }
    return true;
  }

  /** Pieces of about 512 terms, at most 16, each from zero; added in order to the start. */
  private static float pieceSum(Matrix a, Matrix b, int i, int j, int k, float start) {
    int pieces = Math.min(16, (k + 511) / 512);
    int terms = (k + pieces - 1) / pieces;
    float sum = start;
    for (int from = 0; from < k; from += terms) {
      sum += sum(a, b, i, j, from, Math.min(k, from + terms), 0);
    }
    return sum;
  }

  private static float sum(Matrix a, Matrix b, int i, int j, int from, int k, float start) {
    float sum = start;
    double exact = start;
    double size = Math.abs(start);
    for (int p = from; p < k; p++) {
      sum = Math.fma(a.get(i, p), b.get(p, j), sum);
      double term = (double) a.get(i, p) * b.get(p, j);
      exact += term;
      size += Math.abs(term);
    }
    assertThat((double) sum).isBetween(exact - bound(size, k), exact + bound(size, k));
    return sum;
  }

  /** Whole blocks of 16 terms in as many sums, added as a tree; then the rest, then the start. */
  private static float laneSum(Matrix a, Matrix b, int i, int j, int k, float start) {
    float[] lanes = new float[16];
    int whole = k / 16 * 16;
    for (int p = 0; p < whole; p++) {
      lanes[p % 16] = Math.fma(a.get(i, p), b.get(p, j), lanes[p % 16]);
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int lane = 0; lane < half; lane++) {
        lanes[lane] += lanes[lane + half];
      }
    }
    float sum = lanes[0];
    for (int p = whole; p < k; p++) {
      sum = Math.fma(a.get(i, p), b.get(p, j), sum);
    }
    double exact = sum(a, b, i, j, 0, k, 0);
    double size = 0;
    for (int p = 0; p < k; p++) {
      size += Math.abs((double) a.get(i, p) * b.get(p, j));
    }
    assertThat((double) sum).isBetween(exact - 2 * bound(size, k), exact + 2 * bound(size, k));
    return start + sum;
  }

  @Test
  void manyTermsAreSummedInPiecesUnlessTheyAreColumnsOfRows() {
    int[][] sizes = {
      {2, 3, 2048},
      {13, 16, 2049},
      {7, 65, 5000},
      {16, 17, 20_000},
      {17, 16, 20_000},
      {65, 7, 5000},
      {300, 3, 2049},
      {100, 48, 2050},
      {100, 49, 2050}
    };
    for (int[] size : sizes) {
      int m = size[0];
      int n = size[1];
      int k = size[2];
      check(m, n, k, k, 1, n, 1, false);
      check(m, n, k, 1, m, n, 1, true);
      check(m, n, k, 1, m, 1, k, false);
    }
  }

  @Test
  void aGradientOfWideWeightsIsSummedInPieces() {
    check(270, 257, 2048, 1, 270, 257, 1, false);
  }

  private static double bound(double size, int k) {
    return (k + 1) * size * Math.ulp(1f) / 2;
  }

  private static void assertBits(long c, float[] want, int ldc, String by) {
    for (int i = 0; i < want.length; i++) {
      float got = Memory.getFloat(c + 4L * i);
      if (Float.floatToRawIntBits(got) != Float.floatToRawIntBits(want[i])) {
        assertThat(got).as("%s: row %d, column %d", by, i / ldc, i % ldc).isEqualTo(want[i]);
      }
    }
  }

  @ParameterizedTest(name = "{0} x {1}, {2} terms")
  @CsvSource({
    "0,5,5",
    "5,0,5",
    "5,5,0",
    "1,1,1",
    "1,17,300",
    "1,100,1",
    "100,1,3",
    "515,1,400",
    "1,1000,400",
    "63,1,65",
    "6,16,16",
    "7,17,13",
    "8,8,8",
    "12,33,31",
    "13,64,300",
    "15,15,15",
    "17,65,17",
    "64,64,64",
    "65,15,257",
    "130,33,7",
    "200,40,513",
    "97,101,103",
    "27,27,16",
    "3,2,1000",
    "7,16,1",
    "30,17,1",
    "700,165,1",
    "20,40,35",
    "130,33,530",
    "65,15,1030",
    "18,16,40",
    "25,15,300",
    "96,80,257",
    "103,80,257",
    "109,77,513"
  })
  void everyElementIsTheOrderedSumOfItsTermsInEveryForm(int m, int n, int k) {
    for (int form = 0; form < 8; form++) {
      boolean rowsOfA = (form & 1) == 0;
      boolean rowsOfB = (form & 2) == 0;
      check(
          m,
          n,
          k,
          rowsOfA ? k + 1 : 1,
          rowsOfA ? 1 : m + 2,
          rowsOfB ? n + 5 : 1,
          rowsOfB ? 1 : k + 3,
          (form & 4) != 0);
    }
  }

  @ParameterizedTest(name = "{0} x {1}, {2} terms")
  @CsvSource({"1,20,30", "20,1,30", "30,40,50", "7,65,300"})
  void stridesMayBeAny(int m, int n, int k) {
    check(m, n, k, 2L * k + 1, 2, 3L * n, 3, false);
    check(m, n, k, 2, 2L * m + 1, 3, 3L * k, true);
    check(m, n, k, 0, 1, n, 1, false);
    check(m, n, k, 1, 0, 0, 1, true);
    check(m, n, k, 0, 0, 1, 0, false);
  }

  @Test
  void aMatrixTooWideForOneSlabIsTakenInSeveral() {
    check(7, 4100, 300, 300, 1, 4100, 1, false);
    check(14, 4100, 260, 1, 14, 1, 260, true);
  }

  @Test
  void zerosAndInfinitiesKeepTheirBits() {
    try (Arena arena = Arena.ofConfined()) {
      float[] values = {-0f, 0f, Float.MIN_VALUE, -Float.MIN_VALUE, 1e38f, Float.POSITIVE_INFINITY};
      Random random = new Random(5);
      Matrix a = random(arena, random, 20, 6, 6, 1);
      Matrix b = random(arena, random, 6, 20, 20, 1);
      for (int i = 0; i < 120; i++) {
        Memory.setFloat(a.address() + 4L * i, values[random.nextInt(values.length - 1)]);
        Memory.setFloat(b.address() + 4L * i, values[random.nextInt(values.length)]);
      }
      float[] want = new float[400];
      for (int i = 0; i < 400; i++) {
        float sum = 0;
        for (int p = 0; p < 6; p++) {
          sum = Math.fma(a.get(i / 20, p), b.get(p, i % 20), sum);
        }
        want[i] = sum;
      }
      long c = Memory.allocate(arena, 1600, 64, "test").address();
      long scratch =
          Memory.allocate(arena, MatMul.scratchBytes(20, 20, 6, 1), 64, "test").address();
      for (TileKernel kernel : kernels()) {
        try (Workers workers = Workers.of(1)) {
          ProductSpec spec = new ProductSpec(6, 1, 20, 1, 20, 20, 20, 6, false);
          new MatMul(workers, spec, scratch, Epilogue.NONE)
              .run(kernel, a.address(), b.address(), c);
        }
        for (int i = 0; i < 400; i++) {
          // floatToIntBits: the bits of a NaN are not promised.
          assertThat(Float.floatToIntBits(Memory.getFloat(c + 4L * i)))
              .as("%s: element %d", kernel, i)
              .isEqualTo(Float.floatToIntBits(want[i]));
        }
      }
    }
  }
}
