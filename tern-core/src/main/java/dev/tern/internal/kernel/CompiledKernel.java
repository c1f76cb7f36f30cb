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

  /**
   * Runs over shorter rows are not judged either, as each row has a cost of its own, unless the
   * kernel is for rows of that length.
   */
  private static final long JUDGED_ROW = 256;

  /** How often a kernel is made anew; a machine that is always busy must not keep the JIT so. */
  private static final int MOST_RENEWALS = 3;

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
  private int renewals;

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
    return staysScalar() ? "scalar only" : "scalar";
  }

  private boolean staysScalar() {
    return scalarForGood || !VectorSupport.available() || !spec.isVectorizable();
  }

  /** The fastest form that is ready. */
  public Kernel active() {
    return active;
  }

  /**
   * Tells how long a run took.
   *
   * @param row elements of the inner loop
   * @param elements of the iteration space
   */
  public void ran(long row, long elements, long nanos) {
    long least = spec.row() > 0 ? spec.row() : JUDGED_ROW;
    if (row < least || elements < JUDGED_ELEMENTS) {
      return;
    }
    if (nanos <= slowest * elements) {
      slowRuns = 0;
    } else if (++slowRuns >= SLOW_RUNS) {
      renew();
    }
  }

  /** Threads that compute with devices of their own share kernels. */
  private synchronized void renew() {
    if (active != scalar && renewals < MOST_RENEWALS) {
      renewals++;
      slowest = Double.POSITIVE_INFINITY;
      active = scalar;
      KernelWarmup.start(this);
    }
    slowRuns = 0;
  }

  /** Whether a vector form is being made ready for the first time. */
  public boolean isPending() {
    return active == scalar && renewals == 0 && !Warmup.EAGER && !staysScalar();
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
  synchronized void adopt(Kernel kernel, double pace) {
    slowest = SLOWER * pace + MEMORY_NANOS * spec.operands();
    active = kernel;
  }
}
