package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.house.ModuleUse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What this module takes from core by the module path, and what of it a user sees. */
final class ConvertModuleTest {
  /** The name that the manifest of this module's jar gives it. */
  private static final String NAME = "dev.tern.convert";

  private static ModuleUse module() throws IOException {
    return ModuleUse.of(Path.of("target/classes"));
  }

  @Test
  void packagesOfCoreThatThisModuleUsesAreExportedToIt() throws Exception {
    Set<String> used = module().internalPackages();
    assertThat(used).isNotEmpty();
    assertThat(ModuleUse.exportedByCoreTo(NAME)).containsAll(used);
  }

  @Test
  void signaturesThatUsersSeeNameNoInternalType() throws IOException {
    assertThat(module().leaks()).isEmpty();
  }
}
