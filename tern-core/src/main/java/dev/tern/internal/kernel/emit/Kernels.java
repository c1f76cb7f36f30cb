package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.ReductionLanes;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.HiddenClasses;

/** The fused kernels of the process, one for each structure, shared by all threads and devices. */
public final class Kernels {
  /** Kernels that are kept for later plans though no plan uses them. */
  private static final int MOST_UNUSED = 1024;

  /** Elements of the longest rows that code is written for. */
  private static final int LONGEST_ROW = 128;

  /** Most ops and operands where rows end in a part of a vector: with more, C2 boxes vectors. */
  private static final int MOST_WORK = 48;

  private static final KernelCache CACHE = new KernelCache(MOST_UNUSED);

  private Kernels() {}

  /** The kernel of {@code spec}; its code is made when somebody first asks for it. */
  public static CompiledKernel of(KernelSpec spec) {
    return CACHE.of(spec);
  }

  /**
   * The structure that is fastest for rows of {@code n} elements: one for rows of this length, or
   * {@code spec} itself for long rows and where the code would be too much for the JIT.
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
    int lanes = VectorSupport.lanes();
    boolean fits = phases.work() <= MOST_WORK || RowEmitter.takes(rows, phases, lanes);
    return n % ReductionLanes.COUNT == 0 || (fits && VectorSupport.hasMasks(lanes)) ? rows : spec;
  }

  /** Bytes of scratch memory that the kernel needs for rows of {@code n} elements. */
  public static long scratchBytes(KernelSpec spec, int n) {
    return new KernelPasses(spec).scratchBytes(n);
  }

  /** Kernels that are held or kept. */
  public static int count() {
    return CACHE.size();
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
