package dev.tern.internal.kernel;

import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.Workers;

/** Provisional. */
public final class MatMul {
  private MatMul() {}

  public static long scratchBytes(int m, int n, int k, int threads) {
    return 64;
  }

  public static void run(
      Workers workers,
      long a,
      long ars,
      long acs,
      long b,
      long brs,
      long bcs,
      long c,
      long ldc,
      int m,
      int n,
      int k,
      boolean accumulate,
      long scratch) {
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        float s = accumulate ? Memory.getFloat(c + 4 * (i * ldc + j)) : 0;
        for (int p = 0; p < k; p++)
          s =
              Math.fma(
                  Memory.getFloat(a + 4 * (i * ars + p * acs)),
                  Memory.getFloat(b + 4 * (p * brs + j * bcs)),
                  s);
        Memory.setFloat(c + 4 * (i * ldc + j), s);
      }
  }
}
