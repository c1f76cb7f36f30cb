package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tern.internal.cuda.driver.CudaLibraries;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of CUDA devices, where there are any and where there are none. */
final class CudaDevicesTest {
  @TempDir private Path folder;

  @AfterEach
  void clear() {
    System.clearProperty(CudaLibraries.PATH_PROPERTY);
  }

  private static void useSimulated() {
    assumeTrue(SimulatedCuda.missing().isEmpty(), () -> SimulatedCuda.missing().orElse(""));
    System.setProperty(CudaLibraries.PATH_PROPERTY, SimulatedCuda.library().toString());
    assertThat(SimulatedCuda.driver().isSimulated()).isTrue();
  }

  @Test
  void devicesAreListedWithDriverAndCompiler() {
    useSimulated();
    CudaDevices cuda = CudaDevices.find();
    assertThat(cuda.driver()).contains("CUDA 13.0, " + SimulatedCuda.library());
    assertThat(cuda.devices())
        .hasSize(2)
        .contains(new CudaDevices.Found("Tern simulated device 1", "9.0", 4, 4L << 30));
    assertThat(cuda.compiler().orElse("")).contains("g++");
    assertThat(cuda.missing()).isEmpty();
  }

  @Test
  void aDriverThatFailsIsWhatIsMissing() {
    useSimulated();
    SimulatedCuda.fail("cuDeviceGetName", 2, 214);
    try {
      CudaDevices cuda = CudaDevices.find();
      assertThat(cuda.driver()).isPresent();
      assertThat(cuda.devices()).hasSize(1);
      assertThat(cuda.missing().orElse("")).startsWith("cuDeviceGetName: got 214");
    } finally {
      SimulatedCuda.recover();
    }
  }

  @Test
  void withoutADriverThePlacesAreNamed() {
    System.setProperty(CudaLibraries.PATH_PROPERTY, folder.toString());
    assumeTrue(CudaLibraries.findDriver().found().isEmpty(), "this machine has a driver");
    CudaDevices cuda = CudaDevices.find();
    assertThat(cuda.devices()).isEmpty();
    assertThat(cuda.driver()).isEmpty();
    assertThat(cuda.missing().orElse(""))
        .startsWith("device: got no libcuda.so.1 (looked in " + folder)
        .hasLineCount(1);
  }
}
