package dev.tern.internal.kernel.matmul;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Memory;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class DotInteractionTest {
  private static final int ROWS = 3;
  private static final float GUARD = 12345;

  /** Inputs and results of one size; memory behind a result holds {@link #GUARD}. */
  private static final class Case implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final int n;
    private final int d;
    private final int pairs;
    private final float[] x;
    private final float[] weights;

    Case(int n, int d) {
      this.n = n;
      this.d = d;
      pairs = n * (n - 1) / 2;
      Random random = new Random(100L * n + d);
      x = random(random, ROWS * n * d);
      weights = random(random, ROWS * pairs);
    }

    private static float[] random(Random random, int count) {
      float[] values = new float[count];
      for (int i = 0; i < count; i++) {
        values[i] = random.nextFloat(-1, 1);
      }
      return values;
    }

    private long put(float[] values) {
      long address = Memory.allocate(arena, 4L * values.length + 4, 64, "test").address();
      Memory.copyIn(values, 0, address, values.length);
      return address;
    }

    private long guarded(int count) {
      long address = Memory.allocate(arena, 4L * count + 4, 64, "test").address();
      for (int i = 0; i <= count; i++) {
        Memory.setFloat(address + 4L * i, GUARD);
      }
      return address;
    }

    private static float[] take(long address, int count) {
      assertThat(Memory.getFloat(address + 4L * count)).as("behind the result").isEqualTo(GUARD);
      float[] values = new float[count];
      Memory.copyOut(address, values, 0, count);
      return values;
    }

    float[] forward(TileKernel kernel) {
      long out = guarded(ROWS * pairs);
      run(DotInteraction.forward(n, d), kernel, out, 0, ROWS);
      return take(out, ROWS * pairs);
    }

    float[] backward(TileKernel kernel) {
      long out = guarded(ROWS * n * d);
      run(DotInteraction.backward(n, d), kernel, out, 0, ROWS);
      return take(out, ROWS * n * d);
    }

    void run(DotInteraction dots, TileKernel kernel, long out, int from, int to) {
      int scratch = (int) dots.scratchBytes() / 4;
      long lent = guarded(scratch);
      DotInteraction.Samples samples = new DotInteraction.Samples(put(x), put(weights), out);
      dots.run(kernel, samples, from, to, lent);
      take(lent, scratch);
    }

    /** Compares with the sums in double arithmetic. */
    void check(TileKernel kernel) {
      double[] gradient = new double[ROWS * n * d];
      float[] products = forward(kernel);
      int at = 0;
      for (int b = 0; b < ROWS; b++) {
        for (int i = 1; i < n; i++) {
          for (int j = 0; j < i; j++, at++) {
            double sum = 0;
            for (int p = 0; p < d; p++) {
              int left = (b * n + i) * d + p;
              int right = (b * n + j) * d + p;
              sum += (double) x[left] * x[right];
              gradient[left] += (double) weights[at] * x[right];
              gradient[right] += (double) weights[at] * x[left];
            }
            close(products[at], sum, d);
          }
        }
      }
      float[] got = backward(kernel);
      for (int i = 0; i < got.length; i++) {
        close(got[i], gradient[i], n);
      }
    }

    private void close(float got, double expected, int terms) {
      if (!(Math.abs(got - expected) <= 1e-7 * terms)) {
        assertThat((double) got).as("n %d, d %d", n, d).isEqualTo(Double.valueOf(expected));
      }
    }

    @Override
    public void close() {
      arena.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65})
  void productsAndGradientsAreTheSumsOfTheirTerms(int d) {
    for (int n = 0; n <= 40; n++) {
      try (Case sizes = new Case(n, d)) {
        sizes.check(Tiles.scalar());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65})
  void vectorsGiveTheBitsOfTheScalarLoops(int d) {
    assumeThat(VectorSupport.available()).isTrue();
    TileKernel scalar = Tiles.scalar();
    TileKernel vectors = Tiles.vectors();
    for (int n = 0; n <= 40; n++) {
      try (Case sizes = new Case(n, d)) {
        float[] products = sizes.forward(vectors);
        assertThat(products).as("n %d", n).containsExactly(sizes.forward(scalar));
        float[] gradient = sizes.backward(vectors);
        assertThat(gradient).as("n %d", n).containsExactly(sizes.backward(scalar));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
  void aNumberThatIsNotFiniteReachesNoGradientOfItsOwn(float number) {
    List<TileKernel> kernels = new ArrayList<>(List.of(Tiles.scalar()));
    if (VectorSupport.available()) {
      kernels.add(Tiles.vectors());
    }
    for (TileKernel kernel : kernels) {
      for (int n : new int[] {1, 2, 5, 6, 7, 27}) {
        for (int d : new int[] {1, 8, 16, 17, 63}) {
          try (Case sizes = new Case(n, d)) {
            sizes.x[(n + n / 2) * d + d / 2] = number;
            sizes.check(kernel);
          }
        }
      }
    }
  }

  @Test
  void aRangeOfRowsTouchesNoOther() {
    int n = 5;
    int d = 9;
    TileKernel kernel = Tiles.scalar();
    try (Case sizes = new Case(n, d)) {
      float[] products = sizes.forward(kernel);
      float[] gradient = sizes.backward(kernel);
      long out = sizes.guarded(products.length);
      long back = sizes.guarded(gradient.length);
      sizes.run(DotInteraction.forward(n, d), kernel, out, 1, 2);
      sizes.run(DotInteraction.backward(n, d), kernel, back, 1, 2);
      assertMiddle(Case.take(out, products.length), products);
      assertMiddle(Case.take(back, gradient.length), gradient);
    }
  }

  private static void assertMiddle(float[] got, float[] expected) {
    int row = expected.length / ROWS;
    for (int i = 0; i < got.length; i++) {
      assertThat(got[i]).isEqualTo(i / row == 1 ? expected[i] : GUARD);
    }
  }
}
