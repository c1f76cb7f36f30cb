package dev.tern.internal.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where libraries are looked for, and what is said when there is none. */
final class CudaLibrariesTest {
  @TempDir private Path folder;

  @AfterEach
  void clear() {
    System.clearProperty(CudaLibraries.PATH_PROPERTY);
  }

  @Test
  void aDriverThatIsNotThereIsMissedByAllPlaces() {
    System.setProperty(CudaLibraries.PATH_PROPERTY, folder.toString());
    assumeTrue(CudaLibraries.findDriver().found().isEmpty(), "this machine has a driver");
    assertThatThrownBy(CudaLibraries::driver)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith(
            "device: got no libcuda.so.1 (looked in " + folder + ", the system's")
        .hasMessageEndingWith("expected NVIDIA's driver; install it or use train.device: cpu");
  }

  @Test
  void aFileThatIsNamedIsTheDriver() {
    SimulatedDevice.skipWhereThereIsNone();
    System.setProperty(CudaLibraries.PATH_PROPERTY, SimulatedCuda.library().toString());
    assertThat(CudaLibraries.driver()).isEqualTo(SimulatedCuda.library().toString());
    assertThat(CudaDriver.open().isSimulated()).isTrue();
  }

  @Test
  void aFolderThatIsNamedComesFirst() throws IOException {
    SimulatedDevice.skipWhereThereIsNone();
    Path driver = Files.copy(SimulatedCuda.library(), folder.resolve("libcuda.so.1"));
    System.setProperty(CudaLibraries.PATH_PROPERTY, folder.toString());
    CudaLibraries.Search search = CudaLibraries.findDriver();
    assertThat(search.found()).contains(driver.toString());
    assertThat(search.places()).containsExactly(folder.toString());
  }

  @Test
  void aNamedFileThatIsMissingIsAnError() {
    System.setProperty(CudaLibraries.PATH_PROPERTY, folder.resolve("none.so").toString());
    assertThatThrownBy(CudaLibraries::findDriver)
        .hasMessageContaining("got tern.cuda.path " + folder.resolve("none.so"))
        .hasMessageContaining("which does not exist");
  }

  @Test
  void aLibraryThatIsNoneIsNamedAmongThePlaces() throws IOException {
    Path broken = Files.writeString(folder.resolve("libcuda.so.1"), "not a library");
    System.setProperty(CudaLibraries.PATH_PROPERTY, folder.toString());
    CudaLibraries.Search search = CudaLibraries.findDriver();
    assertThat(search.places()).startsWith(broken + " (which cannot be opened)");
    assertThat(search.found()).isNotEqualTo(java.util.Optional.of(broken.toString()));
  }
}
