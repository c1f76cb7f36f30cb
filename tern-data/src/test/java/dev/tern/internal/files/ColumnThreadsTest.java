package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ColumnThreadsTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void tasksRunOnceUpToTheFirstThatThrowsWhichIsHeardOf(int threads) {
    SplittableRandom random = new SplittableRandom(threads);
    try (ColumnThreads team = new ColumnThreads(threads)) {
      for (int run = 0; run < 500; run++) {
        int count = random.nextInt(20);
        int first = random.nextInt(20);
        int[] spins = random.ints(20, 0, 3000).toArray();
        AtomicIntegerArray runs = new AtomicIntegerArray(20);
        Runnable job =
            () ->
                team.run(
                    count,
                    i -> {
                      for (int k = spins[i]; k > 0; k--) {
                        Thread.onSpinWait();
                      }
                      runs.incrementAndGet(i);
                      if (i == first || i > first + 1) {
                        throw new IllegalStateException("task " + i);
                      }
                    });
        if (first < count) {
          assertThatExceptionOfType(IllegalStateException.class)
              .isThrownBy(job::run)
              .withMessage("task " + first);
        } else {
          job.run();
        }
        for (int i = 0; i < 20; i++) {
          assertThat(runs.get(i)).isBetween(i < count && i <= first ? 1 : 0, i < count ? 1 : 0);
        }
      }
    }
  }

  @Test
  void oneThreadGoesNoFurtherThanTheTaskThatThrows() {
    List<Integer> begun = new ArrayList<>();
    try (ColumnThreads team = new ColumnThreads(1)) {
      assertThatExceptionOfType(IllegalStateException.class)
          .isThrownBy(() ->
              team.run(
                  5,
                  i -> {
                    begun.add(i);
                    if (i >= 2) {
                      throw new IllegalStateException("task " + i);
                    }
                  }))
          .withMessage("task 2");
    }
    assertThat(begun).containsExactly(0, 1, 2);
  }
}
