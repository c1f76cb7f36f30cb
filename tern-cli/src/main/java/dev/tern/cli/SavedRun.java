package dev.tern.cli;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The configuration that a checkpoint was trained with. */
final class SavedRun {
  private SavedRun() {}

  /**
   * Finds {@code config.yaml} in the folder of {@code checkpoint} or above it.
   *
   * @param overrides values to put over it
   */
  static Config config(Path checkpoint, List<String> overrides) {
    Optional<Path> folder = Optional.of(checkpoint.toAbsolutePath().normalize());
    for (int up = 0; up < 3 && folder.isPresent(); up++) {
      Path file = RunFolder.config(folder.get());
      if (Files.exists(file)) {
        return Config.loadTrained(file, overrides);
      }
      folder = Optional.ofNullable(folder.get().getParent());
    }
    throw new ConfigException(
        checkpoint
            + ": got no config.yaml in it or above it, expected a run's folder; give the folder"
            + " that tern train wrote");
  }
}
