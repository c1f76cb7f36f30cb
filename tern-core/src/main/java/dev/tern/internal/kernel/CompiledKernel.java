package dev.tern.internal.kernel;

/**
 * One kernel's code: scalar at first, and the vector form once the JIT has compiled it. Both give
 * the same bits, so the moment of the exchange cannot be seen in results.
 *
 * <p>The JIT may take a compiled vector form back, and it then boxes every vector until it is
 * compiled again, which can take many seconds. So runs are timed: after a few that are slow beyond
 * what memory explains the scalar form serves again, while a new vector form is made ready.
 */
public final class CompiledKernel {
  /** Runs of fewer elements are not judged: the clock is too coarse for them. */
  private static final long JUDGED_ELEMENTS = 4096;

  /** Slow runs in a row that are no accident. */
  private static final int SLOW_RUNS = 3;

  /** How much slower than in warm-up code that does not box may run. */
  private static final int SLOWER = 10;

  /** Most nanoseconds that memory costs for each number, by a wide margin. */
  private static final double MEMORY_NANOS = 4;

  private final KernelSpec spec;
  private final Kernel scalar;
  private volatile Kernel active;
  private volatile double slowest = Double.POSITIVE_INFINITY;
  private volatile boolean scalarForGood;
  private int slowRuns;

  CompiledKernel(KernelSpec spec) {
    this.spec = spec;
    boolean vectors = VectorSupport.available() && spec.isVectorizable();
    scalar = Kernels.define(spec, vectors && Warmup.EAGER ? VectorSupport.lanes() : 1);
    active = scalar;
    if (vectors && !Warmup.EAGER) {
      KernelWarmup.start(this);
    }
  }

  /** What the kernel computes. */
  public KernelSpec spec() {
    return spec;
  }

  /** Which form serves: {@code vector}, {@code scalar} until that is ready, or for good. */
  public String state() {
    if (active != scalar || Warmup.EAGER) {
      return "vector";
    }
    return VectorSupport.available() && spec.isVectorizable() && !scalarForGood
        ? "scalar"
        : "scalar only";
  }

  /** The fastest form that is ready. */
  public Kernel active() {
    return active;
  }

  /**
   * Tells how long a run took; one thread at a time.
   *
   * @param elements of the iteration space
   */
  public void ran(long elements, long nanos) {
    if (elements < JUDGED_ELEMENTS || nanos <= slowest * elements) {
      slowRuns = 0;
    } else if (++slowRuns == SLOW_RUNS) {
      slowRuns = 0;
      slowest = Double.POSITIVE_INFINITY;
      active = scalar;
      KernelWarmup.start(this);
    }
  }

  /** Says that there will be no vector form. */
  void stayScalar() {
    scalarForGood = true;
  }

  /**
   * Takes the vector form into use.
   *
   * @param pace nanoseconds for each element, in warm-up
   */
  void adopt(Kernel kernel, double pace) {
    active = kernel;
    slowest = SLOWER * pace + MEMORY_NANOS * spec.operands();
  }
}
