package dev.tern.cli.score;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.run.RunFolder;
import dev.tern.data.Reading;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** How files are read for the model of a checkpoint. */
final class SavedRun {
  private SavedRun() {}

  /**
   * What the checkpoint says itself; for one of an earlier version what {@code config.yaml} says,
   * in the folder that was named or above it; else what {@code overrides} say alone.
   *
   * @param named the folder that the user named
   * @param overrides values to put over it
   */
  static DataConfig config(Checkpoint checkpoint, Path named, List<String> overrides) {
    Optional<String> reading =
        checkpoint.encoder().reading().map(Reading::settings).filter(json -> !json.equals("{}"));
    if (reading.isPresent()) {
      return DataConfig.saved(reading.get(), checkpoint.folder() + "/encoders.json", overrides);
    }
    Optional<Path> config = besides(checkpoint.folder()).or(() -> besides(named));
    if (config.isPresent()) {
      return Config.loadTrained(config.get(), overrides).data();
    }
    if (overrides.stream().noneMatch(override -> override.strip().startsWith("data.format"))) {
      throw new ConfigException(
          named
              + ": got a checkpoint that does not say how files are read and no config.yaml in it"
              + " or above it, expected one of them; put the config.yaml of its run beside it, or"
              + " give --set data.format=FORMAT and the other keys that said how files are read");
    }
    return DataConfig.saved("{}", "--set", overrides);
  }

  private static Optional<Path> besides(Path checkpoint) {
    Optional<Path> folder = Optional.of(checkpoint.toAbsolutePath().normalize());
    for (int up = 0; up < 3 && folder.isPresent(); up++) {
      Path file = RunFolder.config(folder.get());
      if (Files.exists(file)) {
        return Optional.of(file);
      }
      folder = Optional.ofNullable(folder.get().getParent());
    }
    return Optional.empty();
  }
}
