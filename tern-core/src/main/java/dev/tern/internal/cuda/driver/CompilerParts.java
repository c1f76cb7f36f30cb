package dev.tern.internal.cuda.driver;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The second library of NVRTC. NVRTC opens it by name, which fails outside the folders of the
 * system's loader unless it is open already.
 */
final class CompilerParts {
  private CompilerParts() {}

  /** Opens the part beside a library of NVRTC, if there is one. */
  static void openFor(Path library) {
    Optional<Path> folder = Optional.ofNullable(library.getParent());
    if (folder.isEmpty() || !library.getFileName().toString().startsWith("libnvrtc.so")) {
      return;
    }
    try (DirectoryStream<Path> parts =
        Files.newDirectoryStream(folder.get(), "libnvrtc-builtins.so.*")) {
      for (Path part : parts) {
        SymbolLookup opened = SymbolLookup.libraryLookup(part, Arena.global());
        if (opened == null) {
          return;
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      // NVRTC itself names the part that it lacks.
      return;
    }
  }
}
