package dev.tern.serve.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DriftWatchTest {
  private static float[] predictions(long seed, double mean, int count) {
    Random random = new Random(seed);
    float[] all = new float[count];
    for (int i = 0; i < count; i++) {
      all[i] = (float) (1 / (1 + Math.exp(-(mean + random.nextGaussian()))));
    }
    return all;
  }

  @Test
  void theIndexOfTheExampleIsThatOfTheFormula() {
    assertThat(DriftWatch.psi(new int[] {5_000_000, 5_000_000}, new int[] {6_000_000, 4_000_000}))
        .isCloseTo(0.1 * Math.log(1.2) - 0.1 * Math.log(0.8), within(1e-6));
    assertThat(DriftWatch.psi(new int[] {3, 4}, new int[] {3, 4})).isZero();
    assertThat(DriftWatch.psi(new int[] {0, 7}, new int[] {7, 0})).isPositive().isFinite();
  }

  @Test
  void predictionsOfTheSameKindAreNearAndOthersAreFar() {
    DriftWatch watch = new DriftWatch();
    float[] first = predictions(1, -2, DriftWatch.WINDOW);
    watch.add(first, first.length, 1);
    assertThat(watch.recent().psi()).isNaN();
    assertThat(watch.firstMean()).isCloseTo(mean(first), within(1e-6));
    float[] same = predictions(2, -2, DriftWatch.WINDOW);
    watch.add(same, same.length - 1, 1);
    assertThat(watch.recent().psi()).as("before a window is full").isNaN();
    watch.add(new float[] {Float.NaN, same[same.length - 1]}, 2, 1);
    assertThat(watch.recent().psi()).isBetween(0.0, 0.01);
    assertThat(watch.recent().mean()).isCloseTo(mean(same), within(1e-6));
    float[] other = predictions(3, -1, DriftWatch.WINDOW);
    watch.add(other, other.length, 1);
    assertThat(watch.recent().psi()).isGreaterThan(0.25);
    assertThat(watch.recent().mean()).isGreaterThan(1.3 * watch.firstMean());
  }

  @Test
  void equalPredictionsAndTasksSideBySideAreCounted() {
    DriftWatch watch = new DriftWatch();
    float[] pairs = new float[2 * DriftWatch.WINDOW];
    Arrays.fill(pairs, 0.5f);
    watch.add(pairs, DriftWatch.WINDOW, 2);
    watch.add(pairs, DriftWatch.WINDOW, 2);
    assertThat(watch.recent()).isEqualTo(new DriftWatch.Recent(0, 0.5));
  }

  private static double mean(float[] all) {
    double sum = 0;
    for (float each : all) {
      sum += each;
    }
    return sum / all.length;
  }
}
