package dev.tern.internal.cuda.driver;

import java.util.List;
import java.util.Optional;

/** Chooses a compiler. */
public final class CudaCompilers {
  private CudaCompilers() {}

  /**
   * The compiler for a driver's devices, with the cache on disk: NVRTC, else nvcc; for the
   * simulated driver g++.
   *
   * @throws IllegalStateException when there is none; the message names all places looked in
   */
  public static CudaCompiler of(CudaDriver driver) {
    return CubinCache.of(uncached(driver));
  }

  static CudaCompiler uncached(CudaDriver driver) {
    if (driver.shim().isPresent()) {
      CudaLibraries.Search search = CudaLibraries.findHostCompiler();
      String path = search.found().orElseThrow(() -> missing("g++", search.places()));
      return new HostCompiler(path, driver.shim().get());
    }
    CudaLibraries.Search library = CudaLibraries.findCompiler();
    if (library.found().isPresent()) {
      return new NvrtcCompiler(library.found().get());
    }
    CudaLibraries.Search command = CudaLibraries.findNvcc();
    return command
        .found()
        .map(NvccCompiler::new)
        .orElseThrow(() ->
            missing(
                "libnvrtc.so.13 or nvcc",
                List.of(String.join(", ", library.places()), String.join(", ", command.places()))));
  }

  /** The compiler command of a toolkit, as a check of texts where there is no device. */
  public static Optional<CudaCompiler> nvcc() {
    return CudaLibraries.findNvcc().found().map(NvccCompiler::new);
  }

  private static IllegalStateException missing(String what, List<String> places) {
    return new IllegalStateException(
        "device: got no %s (looked in %s), expected a compiler for the device; install NVRTC, for"
                .formatted(what, String.join("; ", places))
            + " example the Python package nvidia-cuda-nvrtc, or set tern.cuda.path");
  }
}
