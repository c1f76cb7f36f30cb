package dev.tern.bench;

import dev.tern.base.Workers;
import dev.tern.internal.kernel.VectorSupport;
import java.util.Arrays;
import java.util.function.IntConsumer;

/** What this machine can do at most, as measured now: neighbours and clocks change it. */
final class Limits {
  /** Turns of a call; and calls of a round, some milliseconds. */
  private static final int TURNS = 10_000;

  private static final int CALLS = 100;

  private static final int ROUNDS = 15;
  private static final int WARM_UP = 3;

  private Limits() {}

  /**
   * Billions of operations a second of fused multiply-adds on registers, by {@code threads} at the
   * same time: what no product exceeds. The median of some rounds; 0 without the Vector API.
   */
  static double gigaflops(int threads) {
    if (!VectorSupport.available()) {
      return 0;
    }
    float[] sums = new float[threads];
    try (Workers team = Workers.of(threads)) {
      IntConsumer work =
          task -> {
            for (int i = 0; i < CALLS; i++) {
              sums[task] += FusedMultiplyAdds.run(TURNS);
            }
          };
      for (int i = 0; i < WARM_UP; i++) {
        median(team, threads, work);
      }
      double operations = (double) FusedMultiplyAdds.OPERATIONS * TURNS * CALLS * threads;
      double result = operations / median(team, threads, work);
      for (float sum : sums) {
        if (!Float.isFinite(sum)) {
          throw new IllegalStateException("limits: got " + sum + " from fused multiply-adds");
        }
      }
      return result;
    }
  }

  /**
   * Billions of bytes a second of {@code a[i] = b[i] + s * c[i]} (STREAM's triad, McCalpin 1995) in
   * plain Java over arrays of {@code elements} floats, which are shared out among {@code threads};
   * 12 bytes an element. The median of some rounds.
   */
  static double triad(int threads, int elements) {
    float[] a = new float[elements];
    float[] b = new float[elements];
    float[] c = new float[elements];
    int calls = Math.max(1, 4_000_000 / elements);
    try (Workers team = Workers.of(threads)) {
      IntConsumer work =
          task -> {
            int from = (int) ((long) elements * task / threads);
            int to = (int) ((long) elements * (task + 1) / threads);
            for (int i = 0; i < calls; i++) {
              triad(a, b, c, from, to);
            }
          };
      for (int i = 0; i < 5; i++) {
        median(team, threads, work);
      }
      return 12.0 * elements * calls / median(team, threads, work);
    }
  }

  /**
   * Billions of bytes a second read from an array of {@code elements} floats, as {@link #triad}.
   */
  static double read(int threads, int elements) {
    float[] a = new float[elements];
    float[] sums = new float[threads];
    return bandwidth(threads, a, (task, from, to) -> sums[task] += Streams.read(a, from, to));
  }

  /** Billions of bytes a second written to an array of {@code elements} floats, likewise. */
  static double write(int threads, int elements) {
    float[] a = new float[elements];
    return bandwidth(threads, a, (task, from, to) -> Streams.write(a, from, to));
  }

  /** Goes through a part of an array. */
  private interface Pass {
    void run(int task, int from, int to);
  }

  private static double bandwidth(int threads, float[] a, Pass pass) {
    int calls = Math.max(1, 4_000_000 / a.length);
    try (Workers team = Workers.of(threads)) {
      IntConsumer work =
          task -> {
            int from = (int) ((long) a.length * task / threads);
            int to = (int) ((long) a.length * (task + 1) / threads);
            for (int i = 0; i < calls; i++) {
              pass.run(task, from, to);
            }
          };
      median(team, threads, work);
      return 4.0 * a.length * calls / median(team, threads, work);
    }
  }

  private static void triad(float[] a, float[] b, float[] c, int from, int to) {
    for (int i = from; i < to; i++) {
      a[i] = b[i] + 3f * c[i];
    }
  }

  private static double median(Workers team, int threads, IntConsumer work) {
    double[] nanos = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      team.run(threads, (task, worker) -> work.accept(task));
      nanos[round] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    return nanos[ROUNDS / 2];
  }
}
