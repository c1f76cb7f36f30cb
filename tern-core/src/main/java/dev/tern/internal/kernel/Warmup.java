package dev.tern.internal.kernel;

import com.sun.management.ThreadMXBean;
import dev.tern.internal.kernel.KernelSpec.Access;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Gets vector kernels compiled before they are used. Until the JIT's last tier has compiled it, a
 * loop of Vector API calls boxes every vector and runs a hundred times slower than scalar code, so
 * a background thread drives each new kernel on a buffer of its own and hands it over once a round
 * allocates nothing. A kernel that goes on boxing is defined afresh, because HotSpot can leave a
 * method in an intermediate tier for good.
 *
 * <p>The system property {@code tern.kernels=eager} uses vector kernels at once, for tests.
 */
final class Warmup {
  static final boolean EAGER = "eager".equals(System.getProperty("tern.kernels"));

  private static final int N = 256;
  private static final int N1 = 8;
  private static final int LONG = 16_384;

  /**
   * Sizes of the loops, in turn. The JIT leaves a branch that it never saw taken to the
   * interpreter, where vectors are boxed: so the rest of a loop must run here too, and no vector at
   * all.
   */
  private static final int[][] SIZES = {
    {1, 2, N}, {2, 1, N - 1}, {1, 1, 33}, {1, N1, 17}, {2, 2, 7}
  };

  /** The sizes of work, tried once the small ones run well: the JIT may have bet on small ones. */
  private static final int[][] LARGE = {{1, 1, LONG}, {1, N1, LONG}, {64, N1, N}, {512, 1, 33}};

  private static final int ROUNDS = 4_000;
  private static final int QUIET = 4;
  private static final int ATTEMPTS = 3;
  private static final LinkedBlockingQueue<Consumer<ThreadMXBean>> QUEUE =
      new LinkedBlockingQueue<>();

  private static final AtomicInteger PENDING = new AtomicInteger();

  static {
    Thread.ofPlatform().daemon().name("tern-warmup").start(Warmup::serve);
  }

  private Warmup() {}

  static void enqueue(CompiledKernel kernel) {
    enqueue(bean -> warm(kernel, bean));
  }

  /** Runs {@code work} in the warm-up thread. */
  static void enqueue(Consumer<ThreadMXBean> work) {
    PENDING.incrementAndGet();
    QUEUE.add(work);
  }

  /** Whether all work is done. */
  static boolean isIdle() {
    return PENDING.get() == 0;
  }

  private static void serve() {
    ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    while (true) {
      try {
        QUEUE.take().accept(bean);
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException | LinkageError e) {
        System.getLogger("dev.tern").log(System.Logger.Level.DEBUG, "a kernel stays scalar", e);
      }
      PENDING.decrementAndGet();
    }
  }

  private static void warm(CompiledKernel compiled, ThreadMXBean bean) {
    KernelSpec spec = compiled.spec();
    byte[] code = KernelEmitter.emit(spec, VectorSupport.lanes());
    if (!KernelEmitter.isCompilable(code)) {
      staysScalar(spec);
      return;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Kernel kernel = Kernels.define(spec, code);
      double pace = drive(kernel, spec, bean);
      if (pace > 0) {
        compiled.adopt(kernel, pace);
        return;
      }
    }
    staysScalar(spec);
  }

  private static void staysScalar(KernelSpec spec) {
    System.getLogger("dev.tern")
        .log(System.Logger.Level.DEBUG, "kernel {0} stays scalar", spec.expression());
  }

  /** Three kernels that do nothing. */
  private static final Kernel[] IDLE = {
    new Kernel() {
      @Override
      public void run(long[] a, long[] s, int n0, int n1, int n, float[] c, long scratch) {}
    },
    new Kernel() {
      @Override
      public void run(long[] a, long[] s, int n0, int n1, int n, float[] c, long scratch) {}
    },
    new Kernel() {
      @Override
      public void run(long[] a, long[] s, int n0, int n1, int n, float[] c, long scratch) {}
    }
  };

  /**
   * Runs the kernel until it does not allocate, and returns its nanoseconds for each element; 0 if
   * it never came to that. It takes turns with idle kernels: with one receiver the JIT would
   * compile its code into this loop, and leave others who call it to the interpreter.
   */
  private static double drive(Kernel kernel, KernelSpec spec, ThreadMXBean bean) {
    Kernel[] turns = {kernel, IDLE[0], IDLE[1], IDLE[2]};
    int operands = spec.operands();
    long[] addresses = new long[operands];
    long[] strides = new long[3 * operands];
    float[] scalars = new float[spec.scalars()];
    try (Arena arena = Arena.ofConfined()) {
      for (int k = 0; k < operands; k++) {
        addresses[k] = arena.allocate(4L * (LONG + N * N1), 64).address();
        strides[3 * k + 1] = access(spec, k) == Access.CONTIGUOUS ? 4L * N : 0;
      }
      long scratch = arena.allocate(Lanes.BYTES + spec.scratchBytes(LONG), 64).address();
      int quiet = 0;
      for (int round = 0; round < ROUNDS && quiet < QUIET; round++) {
        int[][] tried = quiet == 0 ? SIZES : LARGE;
        long before = bean.getCurrentThreadAllocatedBytes();
        for (int call = 0; call < tried.length * turns.length; call++) {
          int[] sizes = tried[call / turns.length];
          turns[call % turns.length].run(
              addresses, strides, sizes[0], sizes[1], sizes[2], scalars, scratch);
        }
        long allocated = bean.getCurrentThreadAllocatedBytes() - before;
        quiet = allocated < 64 ? quiet + 1 : 0;
      }
      if (quiet < QUIET) {
        return 0;
      }
      long start = System.nanoTime();
      kernel.run(addresses, strides, 1, N1, LONG, scalars, scratch);
      return Math.max(1, System.nanoTime() - start) / (double) (N1 * LONG);
    }
  }

  private static Access access(KernelSpec spec, int operand) {
    int loads = spec.loads().size();
    return operand < loads
        ? spec.loads().get(operand)
        : spec.stores().get(operand - loads).access();
  }
}
