package dev.tern.internal.kernel;

/**
 * One kernel's code: scalar at first, and the vector form once the JIT has compiled it. Both give
 * the same bits, so the moment of the exchange cannot be seen in results.
 */
public final class CompiledKernel {
  private final KernelSpec spec;
  private volatile Kernel active;

  CompiledKernel(KernelSpec spec) {
    this.spec = spec;
    boolean vectors = VectorSupport.available() && spec.isVectorizable();
    active = Kernels.define(spec, vectors && Warmup.EAGER ? VectorSupport.lanes() : 1);
    if (vectors && !Warmup.EAGER) {
      Warmup.enqueue(this);
    }
  }

  /** What the kernel computes. */
  public KernelSpec spec() {
    return spec;
  }

  /** The fastest form that is ready. */
  public Kernel active() {
    return active;
  }

  void adopt(Kernel kernel) {
    active = kernel;
  }
}
