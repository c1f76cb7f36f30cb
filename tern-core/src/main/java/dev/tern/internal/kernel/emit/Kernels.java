package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.HiddenClasses;
import dev.tern.internal.kernel.warmup.Warmup;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * The fused kernels of the process, one for each structure. They are shared by all threads and
 * devices. {@link #of} only names a kernel; its code is made when somebody first asks for it.
 */
public final class Kernels {
  /** Kernels that are kept for the next plan though no plan uses them. */
  static final int MOST_UNUSED = 1024;

  /** Elements of the longest rows that code is written for. */
  private static final int LONGEST_ROW = 128;

  /** Most ops and operands of rows that end in a part of a vector: with more, C2 boxes vectors. */
  private static final int MOST_WORK = 48;

  private static final KernelCache CACHE = new KernelCache(MOST_UNUSED);

  private Kernels() {}

  /** The kernel of {@code spec}, which is the same as long as somebody holds it. */
  public static CompiledKernel of(KernelSpec spec) {
    return CACHE.of(spec);
  }

  /**
   * The structure of the kernel that is best for rows of {@code n} elements. It is {@code spec}
   * itself for long rows, and for rows that end in a part of a vector where that is too much for
   * the JIT.
   */
  public static KernelSpec forRows(KernelSpec spec, int n) {
    if (n <= 0 || n > LONGEST_ROW || !spec.isVectorizable()) {
      return spec;
    }
    KernelSpec rows = spec.withRow(n);
    KernelPasses phases = new KernelPasses(rows);
    if (phases.reductions().isEmpty()) {
      return spec;
    }
    int work = IntStream.range(0, phases.count()).map(phases::work).sum();
    int lanes = VectorSupport.lanes();
    boolean fits = work <= MOST_WORK || RowEmitter.takes(rows, phases, lanes);
    return n % ReductionLanes.COUNT == 0 || (fits && VectorSupport.hasMasks(lanes)) ? rows : spec;
  }

  /** Bytes of scratch memory that a run of the kernel over rows of {@code n} elements needs. */
  public static long scratchBytes(KernelSpec spec, int n) {
    return new KernelPasses(spec).scratchBytes(n);
  }

  /** Kernels that are held or kept. */
  public static int count() {
    return CACHE.size();
  }

  /** Whether no kernel waits to become faster: each has its vector form, or will never have it. */
  public static boolean isWarm() {
    return Warmup.isIdle();
  }

  /** Waits until {@link #isWarm}, at most {@code millis}. */
  public static void awaitWarm(long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    while (!isWarm() && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** A new instance of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static Kernel define(KernelSpec spec, int lanes) {
    return define(KernelEmitter.emit(spec, lanes));
  }

  /** A new instance of a kernel from its class file, in a class of its own. */
  static Kernel define(byte[] code) {
    return (Kernel) HiddenClasses.define(Kernels.class, code);
  }
}
