package dev.tern.internal.kernel;

import com.sun.management.ThreadMXBean;
import dev.tern.internal.kernel.KernelSpec.Access;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.concurrent.LinkedBlockingQueue;
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

  /**
   * Sizes of the loops, in turn. The JIT leaves a branch that it never saw taken to the
   * interpreter, where vectors are boxed: so the rest of a loop must run here too, and no vector at
   * all.
   */
  private static final int[][] SIZES = {
    {1, N1, N}, {2, 3, N - 1}, {1, N1, N}, {3, 2, 7}, {1, 1, 33}
  };

  private static final int ROUNDS = 4_000;
  private static final int ATTEMPTS = 3;
  private static final LinkedBlockingQueue<Consumer<ThreadMXBean>> QUEUE =
      new LinkedBlockingQueue<>();

  static {
    Thread.ofPlatform().daemon().name("tern-warmup").start(Warmup::serve);
  }

  private Warmup() {}

  static void enqueue(CompiledKernel kernel) {
    QUEUE.add(bean -> warm(kernel, bean));
  }

  /** Runs {@code work} in the warm-up thread. */
  static void enqueue(Consumer<ThreadMXBean> work) {
    QUEUE.add(work);
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
    }
  }

  private static void warm(CompiledKernel compiled, ThreadMXBean bean) {
    KernelSpec spec = compiled.spec();
    if (!KernelEmitter.isCompilable(KernelEmitter.emit(spec, VectorSupport.lanes()))) {
      staysScalar(spec);
      return;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Kernel kernel = Kernels.define(spec, VectorSupport.lanes());
      if (drive(kernel, spec, bean)) {
        compiled.adopt(kernel);
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
   * Whether the kernel came to run without allocating. It takes turns with idle kernels: with one
   * receiver the JIT would compile its code into this loop, and leave others who call it to the
   * interpreter.
   */
  private static boolean drive(Kernel kernel, KernelSpec spec, ThreadMXBean bean) {
    Kernel[] turns = {kernel, IDLE[0], IDLE[1], IDLE[2]};
    int operands = spec.operands();
    long[] addresses = new long[operands];
    long[] strides = new long[3 * operands];
    float[] scalars = new float[spec.scalars()];
    try (Arena arena = Arena.ofConfined()) {
      for (int k = 0; k < operands; k++) {
        addresses[k] = arena.allocate(4L * N * N1, 64).address();
        strides[3 * k + 1] = access(spec, k) == Access.CONTIGUOUS ? 4L * N : 0;
      }
      long scratch = arena.allocate((long) Lanes.BYTES * (1 + spec.laneReductions()), 64).address();
      int quiet = 0;
      for (int round = 0; round < ROUNDS && quiet < 3; round++) {
        long before = bean.getCurrentThreadAllocatedBytes();
        for (int call = 0; call < 2 * SIZES.length * turns.length; call++) {
          int[] sizes = SIZES[call / turns.length % SIZES.length];
          turns[call % turns.length].run(
              addresses, strides, sizes[0], sizes[1], sizes[2], scalars, scratch);
        }
        long allocated = bean.getCurrentThreadAllocatedBytes() - before;
        quiet = allocated < 8 * N1 ? quiet + 1 : 0;
      }
      return quiet >= 3;
    }
  }

  private static Access access(KernelSpec spec, int operand) {
    int loads = spec.loads().size();
    return operand < loads
        ? spec.loads().get(operand)
        : spec.stores().get(operand - loads).access();
  }
}
