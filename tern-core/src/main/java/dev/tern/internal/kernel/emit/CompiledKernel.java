package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.Kernel;
import dev.tern.internal.kernel.KernelSpec;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.kernel.warmup.Warmup;
import java.time.Duration;

/**
 * One kernel's code, made when {@link #active} is first called. The scalar form serves until the
 * JIT has compiled the vector form. Both give the same bits, so results do not depend on the moment
 * of the exchange.
 *
 * <p>The JIT may drop the compiled code of a vector form. The form then boxes every vector until it
 * is compiled again, which can take many seconds. So runs are timed: after a few runs that are
 * slower than memory explains, the scalar form serves again while a new vector form is made ready.
 *
 * <p>Devices share kernels; any thread may call any method.
 */
public final class CompiledKernel {
  /** Stands for the scalar form before there is one. */
  private static final Kernel NONE =
      (addresses, strides, n0, n1, n, scalars, scratch) -> {
        throw new IllegalStateException("kernel: run before its code was made");
      };

  // Fewest elements and shortest rows of a run that is judged: the clock is coarse, and each row
  // has a cost of its own. A kernel for rows of one length is judged at that length.
  private static final long JUDGED_ELEMENTS = 4096;
  private static final long JUDGED_ROW = 256;

  /** Most times that a kernel is made anew, so that a busy machine does not keep the JIT busy. */
  private static final int MOST_RENEWALS = 3;

  /** Most tries of a vector form after one that was given up, and the time before each. */
  private static final int MOST_RETRIES = 5;

  private static final Duration RETRY = Duration.ofMinutes(1);

  /** Slow runs in a row after which the vector form is taken out of use. */
  private static final int SLOW_RUNS = 3;

  /** A run that takes this many times as long as in warm-up is slow. */
  private static final int SLOWER = 10;

  /** Nanoseconds that memory may cost for each number, far more than it does. */
  private static final double MEMORY_NANOS = 4;

  private final KernelSpec spec;
  private volatile Kernel scalar = NONE;
  private volatile Kernel active = NONE;
  private volatile double slowest = Double.POSITIVE_INFINITY;
  private volatile boolean scalarForGood;
  private int slowRuns;
  private int renewals;
  private volatile int retries;

  CompiledKernel(KernelSpec spec) {
    this.spec = spec;
  }

  /** What the kernel computes. */
  public KernelSpec spec() {
    return spec;
  }

  /** Which form serves: {@code vector}, {@code scalar} until then, or {@code scalar only}. */
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
    Kernel kernel = active;
    return kernel == NONE ? begin() : kernel;
  }

  private synchronized Kernel begin() {
    if (active == NONE) {
      boolean vectors = !staysScalar();
      scalar = Kernels.define(spec, vectors && Warmup.EAGER ? VectorSupport.lanes() : 1);
      active = scalar;
      if (vectors && !Warmup.EAGER) {
        Warmup.enqueue(() -> KernelWarmup.of(this));
      }
    }
    return active;
  }

  /** Judges the form in use by the time of a run over so many elements, {@code row} in a row. */
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

  private synchronized void renew() {
    if (active != scalar && renewals < MOST_RENEWALS) {
      renewals++;
      slowest = Double.POSITIVE_INFINITY;
      active = scalar;
      Warmup.enqueue(() -> KernelWarmup.of(this));
    }
    slowRuns = 0;
  }

  /** Whether a vector form is being made ready for the first time. */
  public boolean isPending() {
    return active == scalar && renewals == 0 && retries == 0 && !Warmup.EAGER && !staysScalar();
  }

  /** There will be no vector form. */
  void stayScalar() {
    scalarForGood = true;
  }

  /** The JIT has not compiled the vector form; it gets a few more tries, each after a minute. */
  synchronized void giveUp() {
    if (retries == MOST_RETRIES) {
      stayScalar();
    } else {
      retries++;
      Warmup.enqueueAfter(RETRY, () -> KernelWarmup.of(this));
    }
  }

  /** Takes the vector form into use; {@code pace} is its nanoseconds an element in warm-up. */
  synchronized void adopt(Kernel kernel, double pace) {
    slowest = SLOWER * pace + MEMORY_NANOS * spec.operands();
    active = kernel;
  }
}
