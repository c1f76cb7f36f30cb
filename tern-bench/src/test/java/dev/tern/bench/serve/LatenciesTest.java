package dev.tern.bench.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class LatenciesTest {
  @Test
  void quantilesAreThoseOfTheTimesToASixtyFourth() {
    Random random = new Random(1);
    long[] times = new long[10_001];
    Latencies first = new Latencies();
    Latencies second = new Latencies();
    for (int i = 0; i < times.length; i++) {
      times[i] = (long) Math.exp(random.nextDouble() * 25);
      (i % 2 == 0 ? first : second).add(times[i]);
    }
    first.add(second);
    Arrays.sort(times);
    assertThat(first.count()).isEqualTo(times.length);
    for (double share : new double[] {0, 0.1, 0.5, 0.9, 0.99, 0.999, 1}) {
      double expected = times[Math.max(0, (int) Math.ceil(share * times.length) - 1)];
      assertThat(first.quantile(share))
          .as("quantile %s", share)
          .isCloseTo(expected, within(1 + expected / 64));
    }
  }
}
