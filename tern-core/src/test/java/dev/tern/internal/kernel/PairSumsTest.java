package dev.tern.internal.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.assertj.core.data.Offset.offset;

import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums over pairs beside all their dot products, and vectors beside scalar code. */
final class PairSumsTest {
  private static final int[] WIDTHS = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};
  private static final int ROWS = 11;

  /** Results of both passes. */
  private record Results(float[] sums, float[] gradient) {}

  private static float[] random(int n, int d) {
    Random random = new Random(31L * n + d);
    float[] x = new float[ROWS * n * d];
    for (int i = 0; i < x.length; i++) {
      x[i] = random.nextFloat(-1, 1);
    }
    return x;
  }

  /** The gradient of a row's sum. */
  private static float upstream(int row) {
    return row % 3 - 1.5f;
  }

  private static Results run(PairKernel kernel, float[] x, int n, int d) {
    try (Arena arena = Arena.ofConfined()) {
      long in = Memory.allocate(arena, 4L * x.length + 4, 64, "test").address();
      long sums = Memory.allocate(arena, 4L * ROWS, 64, "test").address();
      long upstream = Memory.allocate(arena, 4L * ROWS, 64, "test").address();
      long out = Memory.allocate(arena, 4L * x.length + 4, 64, "test").address();
      long scratch = Memory.allocate(arena, PairSums.scratchBytes(), 64, "test").address();
      Memory.copyIn(x, 0, in, x.length);
      Memory.setFloat(out + 4L * x.length, 5);
      for (int b = 0; b < ROWS; b++) {
        Memory.setFloat(upstream + 4L * b, upstream(b));
      }
      kernel.forward(in, sums, scratch, ROWS, n, d);
      kernel.backward(in, upstream, out, ROWS, n, d);
      assertThat(Memory.getFloat(out + 4L * x.length)).isEqualTo(5);
      Results results = new Results(new float[ROWS], new float[x.length]);
      Memory.copyOut(sums, results.sums, 0, ROWS);
      Memory.copyOut(out, results.gradient, 0, x.length);
      return results;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 26, 27})
  void sumsAreThoseOfAllPairs(int n) {
    for (int d : WIDTHS) {
      float[] x = random(n, d);
      Results results = run(new ScalarPairs(), x, n, d);
      for (int b = 0; b < ROWS; b++) {
        double expected = 0;
        for (int i = 0; i < n; i++) {
          for (int p = 0; p < d; p++) {
            double others = 0;
            for (int j = 0; j < n; j++) {
              others += j == i ? 0 : x[(b * n + j) * d + p];
            }
            int at = (b * n + i) * d + p;
            expected += 0.5 * x[at] * others;
            assertThat((double) results.gradient[at])
                .as("gradient of %d vectors of %d", n, d)
                .isCloseTo(upstream(b) * others, offset(1e-5));
          }
        }
        assertThat((double) results.sums[b])
            .as("%d vectors of %d", n, d)
            .isCloseTo(expected, offset(1e-6 * (1 + n * d)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 26, 27})
  void vectorsGiveTheBitsOfScalarCode(int n) {
    assumeThat(VectorSupport.available()).isTrue();
    for (int d : WIDTHS) {
      float[] x = random(n, d);
      Results expected = run(new ScalarPairs(), x, n, d);
      Results got = run(new VectorPairs(), x, n, d);
      assertThat(got.sums).as("%d vectors of %d", n, d).containsExactly(expected.sums);
      assertThat(got.gradient).as("%d vectors of %d", n, d).containsExactly(expected.gradient);
    }
  }
}
