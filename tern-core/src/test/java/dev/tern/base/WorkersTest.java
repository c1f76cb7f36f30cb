package dev.tern.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WorkersTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8})
  void everyTaskOfManyJobsRunsOnceAndBeforeItsJobEnds(int threads) {
    try (Workers workers = Workers.of(threads)) {
      int[] plain = new int[40];
      for (int job = 0; job < 20_000; job++) {
        int tasks = job % 40;
        int expected = job + 1;
        workers.run(
            tasks,
            (index, worker) -> {
              assertThat(worker).isBetween(0, threads - 1);
              plain[index] += expected;
            });
        // Plain reads: what tasks wrote must be seen when run returns.
        for (int i = 0; i < plain.length; i++) {
          if (plain[i] != (i < tasks ? expected : 0)) {
            assertThat(plain[i]).as("job %d, task %d of %d", job, i, tasks).isEqualTo(expected);
          }
          plain[i] = 0;
        }
      }
    }
  }

  @Test
  void noTwoTasksShareAWorkerAtOnce() {
    int threads = 4;
    AtomicIntegerArray busy = new AtomicIntegerArray(threads);
    AtomicInteger shared = new AtomicInteger();
    try (Workers workers = Workers.of(threads)) {
      for (int job = 0; job < 500; job++) {
        workers.run(
            64,
            (index, worker) -> {
              if (busy.getAndIncrement(worker) != 0) {
                shared.incrementAndGet();
              }
              Thread.onSpinWait();
              busy.decrementAndGet(worker);
            });
      }
    }
    assertThat(shared.get()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void aFailureReachesTheCallerAndLaterJobsRun(int threads) {
    try (Workers workers = Workers.of(threads)) {
      for (int job = 0; job < 2000; job++) {
        int bad = job % 50;
        assertThatThrownBy(() -> workers.run(50, (index, worker) -> fail(index, bad)))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("task " + bad);
        AtomicInteger ran = new AtomicInteger();
        workers.run(50, (index, worker) -> ran.incrementAndGet());
        assertThat(ran.get()).isEqualTo(50);
      }
    }
  }

  private static void fail(int index, int bad) {
    if (index == bad) {
      throw new IllegalStateException("task " + bad);
    }
  }

  @Test
  void aJobAfterCloseIsRefusedAndNumbersOfThreadsAreChecked() {
    Workers workers = Workers.of(2);
    workers.close();
    assertThatThrownBy(() -> workers.run(1, (index, worker) -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after close");
    assertThatThrownBy(() -> Workers.of(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got 0, expected 1 to 1024");
  }
}
