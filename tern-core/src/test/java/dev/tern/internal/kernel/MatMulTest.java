package dev.tern.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Workers;
import java.lang.foreign.Arena;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MatMulTest {
  /** The product in plain Java: terms in ascending order of k by fused multiply-add. */
  private static float expected(
      long a, long ars, long acs, long b, long brs, long bcs, int k, float start) {
    float sum = start;
    for (int p = 0; p < k; p++) {
      sum = Math.fma(Memory.getFloat(a + 4 * p * acs), Memory.getFloat(b + 4 * p * brs), sum);
    }
    return sum;
  }

  private static long matrix(Arena arena, Random random, int elements) {
    long address = arena.allocate(4L * Math.max(1, elements), 64).address();
    for (int i = 0; i < elements; i++) {
      Memory.setFloat(address + 4L * i, random.nextFloat(-1, 1));
    }
    return address;
  }

  static void check(int m, int n, int k, int threads) {
    Random random = new Random(m * 31L + n * 7L + k);
    try (Arena arena = Arena.ofConfined();
        Workers workers = Workers.of(threads)) {
      long a = matrix(arena, random, m * k);
      long b = matrix(arena, random, k * n);
      int ldc = n + 3;
      long c = matrix(arena, random, m * ldc);
      long scratch = arena.allocate(MatMul.scratchBytes(m, n, k, threads), 64).address();
      for (int form = 0; form < 8; form++) {
        long ars = (form & 1) == 0 ? k : 1;
        long acs = (form & 1) == 0 ? 1 : m;
        long brs = (form & 2) == 0 ? n : 1;
        long bcs = (form & 2) == 0 ? 1 : k;
        boolean accumulate = (form & 4) != 0;
        float[] before = new float[m * ldc];
        Memory.copyOut(c, before, 0, before.length);
        MatMul.run(workers, a, ars, acs, b, brs, bcs, c, ldc, m, n, k, accumulate, scratch);
        for (int i = 0; i < m; i++) {
          for (int j = 0; j < ldc; j++) {
            float old = before[i * ldc + j];
            float start = accumulate ? old : 0;
            float want =
                j >= n
                    ? old
                    : expected(a + 4 * i * ars, ars, acs, b + 4 * j * bcs, brs, bcs, k, start);
            float got = Memory.getFloat(c + 4L * (i * ldc + j));
            if (Float.floatToRawIntBits(got) != Float.floatToRawIntBits(want)) {
              assertThat(got).as("form %d, element %d, %d", form, i, j).isEqualTo(want);
            }
          }
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0,5,5",
    "5,0,5",
    "5,5,0",
    "1,1,1",
    "1,17,300",
    "6,16,16",
    "7,17,13",
    "63,1,65",
    "64,64,64",
    "65,15,257",
    "130,33,7",
    "200,40,513",
    "97,101,103"
  })
  void everyElementIsTheOrderedSumOfItsTermsInEveryForm(int m, int n, int k) {
    check(m, n, k, 1);
    check(m, n, k, 2);
  }

  @Test
  void theScalarAndTheVectorTileGiveTheSameBits() {
    if (!VectorSupport.available()) {
      return;
    }
    int columns = Tiles.columns();
    Random random = new Random(3);
    try (Arena arena = Arena.ofConfined()) {
      long a = matrix(arena, random, 6 * 100);
      long b = matrix(arena, random, columns * 100);
      long zero = arena.allocate(64, 64).address();
      float[][] results = new float[2][6 * columns];
      for (int i = 0; i < 2; i++) {
        TileKernel kernel = i == 0 ? new ScalarTile(columns) : new VectorTile();
        long c = matrix(arena, random, 6 * columns);
        kernel.tile(a, 400, 4, b, 4L * columns, zero, 0, c, 4L * columns, 100);
        Memory.copyOut(c, results[i], 0, 6 * columns);
      }
      assertThat(results[1]).containsExactly(results[0]);
    }
  }
}
