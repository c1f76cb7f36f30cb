package dev.tern.internal.kernel;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** The compiled kernels of the process, one for each structure. */
public final class Kernels {
  private static final ConcurrentHashMap<KernelSpec, CompiledKernel> CACHE =
      new ConcurrentHashMap<>();

  private Kernels() {}

  /** The kernel of {@code spec}, emitted on first use. */
  public static CompiledKernel of(KernelSpec spec) {
    return CACHE.computeIfAbsent(spec, CompiledKernel::new);
  }

  /** Kernels emitted so far. */
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
    return define(spec, KernelEmitter.emit(spec, lanes));
  }

  /** A new instance of the kernel from its class file, a class of its own. */
  static Kernel define(KernelSpec spec, byte[] bytes) {
    try {
      return (Kernel)
          MethodHandles.lookup()
              .defineHiddenClass(bytes, true)
              .lookupClass()
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel " + spec.expression() + ": cannot be defined", e);
    }
  }
}
