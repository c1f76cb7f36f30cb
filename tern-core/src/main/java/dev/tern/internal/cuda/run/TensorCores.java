package dev.tern.internal.cuda.run;

import dev.tern.base.ProductMath;
import dev.tern.internal.cuda.driver.CublasLt;
import dev.tern.internal.cuda.driver.CudaDevice;

/**
 * Products on the tensor cores of a device, for factors that are rounded.
 *
 * @param library that computes them
 * @param math how factors are rounded; never {@link ProductMath#EXACT}
 * @param workspace device memory of {@link CublasLt#WORKSPACE} bytes
 */
public record TensorCores(CublasLt library, ProductMath math, long workspace)
    implements AutoCloseable {
  /** Opens the library for a device, and takes its workspace. */
  public static TensorCores open(CudaDevice device, ProductMath math, long workspace) {
    device.use();
    return new TensorCores(CublasLt.open(device.driver()), math, workspace);
  }

  boolean isHalf() {
    return math == ProductMath.BF16;
  }

  @Override
  public void close() {
    library.close();
  }
}
