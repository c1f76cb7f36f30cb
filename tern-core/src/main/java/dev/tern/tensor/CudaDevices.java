package dev.tern.tensor;

import dev.tern.internal.cuda.driver.CudaCompiler;
import dev.tern.internal.cuda.driver.CudaCompilers;
import dev.tern.internal.cuda.driver.CudaDriver;
import dev.tern.internal.cuda.driver.CudaException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The CUDA devices of this machine, and what there is to use them with.
 *
 * @param driver the newest CUDA that the driver knows, and where its library is, such as {@code
 *     CUDA 13.0, libcuda.so.1}; empty where there is none
 * @param devices by their number, from 0 on
 * @param compiler what makes code for them, and where it is, such as {@code nvrtc 13.1,
 *     libnvrtc.so.13}; empty where there is none
 * @param missing what keeps devices from being used, in one line that says where it was looked for;
 *     empty where nothing does
 */
public record CudaDevices(
    Optional<String> driver,
    List<Found> devices,
    Optional<String> compiler,
    Optional<String> missing) {
  public CudaDevices {
    devices = List.copyOf(devices);
  }

  /**
   * A device.
   *
   * @param capability its compute capability, such as {@code 9.0}
   * @param multiprocessors their number
   * @param memoryBytes of all its memory, in use or not
   */
  public record Found(String name, String capability, int multiprocessors, long memoryBytes) {}

  /** Looks for the driver, its devices and a compiler; begins no work on a device. */
  public static CudaDevices find() {
    CudaDriver driver;
    try {
      driver = CudaDriver.open();
    } catch (IllegalStateException | CudaException e) {
      return new CudaDevices(Optional.empty(), List.of(), Optional.empty(), said(e));
    }
    Optional<String> about = Optional.empty();
    List<Found> devices = new ArrayList<>();
    try {
      int version = driver.version();
      about =
          Optional.of(
              "CUDA %d.%d, %s".formatted(version / 1000, version % 1000 / 10, driver.path()));
      for (int i = 0; i < driver.deviceCount(); i++) {
        devices.add(found(driver, driver.device(i)));
      }
      CudaCompiler compiler = CudaCompilers.of(driver);
      String words = compiler.name() + ", " + compiler.place();
      return new CudaDevices(about, devices, Optional.of(words), Optional.empty());
    } catch (IllegalStateException | CudaException e) {
      return new CudaDevices(about, devices, Optional.empty(), said(e));
    }
  }

  private static Found found(CudaDriver driver, int device) {
    int architecture = driver.architecture(device);
    return new Found(
        driver.name(device),
        architecture / 10 + "." + architecture % 10,
        driver.multiprocessors(device),
        driver.totalBytes(device));
  }

  private static Optional<String> said(RuntimeException e) {
    return Optional.of(String.valueOf(e.getMessage()).replace('\n', ' '));
  }
}
