package dev.tern.internal.kernel;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.ConcurrentHashMap;

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

  /** A new instance of the kernel; {@code lanes} is the vector length, 1 for scalar code. */
  static Kernel define(KernelSpec spec, int lanes) {
    byte[] bytes = KernelEmitter.emit(spec, lanes);
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
