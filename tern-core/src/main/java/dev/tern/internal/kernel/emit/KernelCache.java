package dev.tern.internal.kernel.emit;

import dev.tern.internal.kernel.KernelSpec;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;

/**
 * One kernel for each structure, for any threads. A kernel that somebody holds is never made twice.
 * Of the others the cache keeps those that were asked for last; the garbage collector takes the
 * rest, with their classes.
 */
final class KernelCache {
  /** All kernels that are reachable. An entry goes with its kernel, which holds the key. */
  private final Map<KernelSpec, WeakReference<CompiledKernel>> reachable = new WeakHashMap<>();

  /** The kernels that were asked for last. */
  private final Map<KernelSpec, CompiledKernel> latest;

  /** Keeps {@code most} kernels, though nobody may hold them. */
  KernelCache(int most) {
    latest =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<KernelSpec, CompiledKernel> eldest) {
            return size() > most;
          }
        };
  }

  /** The kernel of {@code spec}; made if there is none. */
  synchronized CompiledKernel of(KernelSpec spec) {
    CompiledKernel kernel =
        Optional.ofNullable(reachable.get(spec))
            .map(WeakReference::get)
            .orElseGet(() -> new CompiledKernel(spec));
    // A put alone would keep the old key, which may belong to a kernel that is gone.
    reachable.remove(spec);
    reachable.put(kernel.spec(), new WeakReference<>(kernel));
    latest.put(kernel.spec(), kernel);
    return kernel;
  }

  /** Kernels in the cache. */
  synchronized int size() {
    return reachable.size();
  }
}
