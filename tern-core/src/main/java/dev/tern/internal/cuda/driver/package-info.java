/**
 * NVIDIA's driver, and the compilers for it, through the Foreign Function API; no native code of
 * Tern's own.
 *
 * <ul>
 *   <li>{@link dev.tern.internal.cuda.driver.CudaLibraries} finds the libraries and tells where it
 *       looked.
 *   <li>{@link dev.tern.internal.cuda.driver.CudaDriver} is the driver: a typed method for each of
 *       its functions that Tern uses. Each result code is checked ({@link
 *       dev.tern.internal.cuda.driver.CudaException}).
 *   <li>{@link dev.tern.internal.cuda.driver.CudaCompiler} makes code for a device from CUDA C;
 *       {@link dev.tern.internal.cuda.driver.CubinCache} keeps it on disk.
 *   <li>{@link dev.tern.internal.cuda.driver.CudaDevice} is one device in use: its context, limits
 *       and streams.
 * </ul>
 *
 * <p>A library that exports {@code ternSimulated} is the simulated device of the tests, whose code
 * the C++ compiler of the machine makes. Nothing else tells the two apart.
 *
 * <p>Handles and device addresses are {@code long}s. The host never reads a device address.
 */
@NullMarked
package dev.tern.internal.cuda.driver;

import org.jspecify.annotations.NullMarked;
