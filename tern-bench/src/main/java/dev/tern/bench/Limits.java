package dev.tern.bench;

import dev.tern.internal.kernel.Kernels;
import dev.tern.internal.kernel.MatMul;
import dev.tern.internal.runtime.Workers;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.function.IntConsumer;

/** What this machine can do at most, as measured now: neighbours and clocks change it. */
final class Limits {
  /** Sizes of a product whose operands stay in a second-level cache. */
  private static final int M = 96;

  private static final int N = 192;
  private static final int K = 256;
  private static final int ROUNDS = 15;
  private static final long ROUND_NANOS = 20_000_000;

  private Limits() {}

  /**
   * Billions of operations a second of products in the caches, one for each of {@code threads} at
   * the same time: the median of some rounds.
   */
  static double gigaflops(int threads) {
    MatMul.Spec spec = new MatMul.Spec(K, 1, N, 1, N, M, N, K, false);
    try (Workers team = Workers.of(threads);
        Workers alone = Workers.of(1);
        Arena arena = Arena.ofShared()) {
      Runnable[] products = new Runnable[threads];
      for (int t = 0; t < threads; t++) {
        long scratch = arena.allocate(MatMul.scratchBytes(M, N, K, 1), 64).address();
        long a = arena.allocate(4L * M * K, 64).address();
        long b = arena.allocate(4L * K * N, 64).address();
        long c = arena.allocate(4L * M * N, 64).address();
        MatMul product = new MatMul(alone, spec, scratch);
        products[t] = () -> product.run(a, b, c);
      }
      products[0].run();
      Kernels.awaitWarm(20_000);
      int calls = 1 + (int) (ROUND_NANOS / 200_000);
      double nanos =
          median(team, threads, task -> repeat(products[task], calls)) / ((double) threads * calls);
      return 2.0 * M * N * K / nanos;
    }
  }

  private static void repeat(Runnable work, int calls) {
    for (int i = 0; i < calls; i++) {
      work.run();
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
