package dev.tern.train;

import dev.tern.data.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A run's checkpoints: {@code step-N}, the latest, and {@code best}, of the evaluation with the
 * highest AUC. Each is renamed into place whole, and an older one goes only when a newer is there.
 */
final class CheckpointFolder {
  private static final String PREFIX = "step-";
  private static final String BEST = "best";

  private final Path folder;

  CheckpointFolder(Path folder) {
    this.folder = folder;
  }

  /** Lets {@code save} write the checkpoint of {@code state}, then removes the one before. */
  void write(Consumer<Path> save, RunState state) {
    Path latest = folder.resolve(PREFIX + state.step());
    save.accept(latest);
    for (Path other : AtomicFolder.children(folder)) {
      if (!other.equals(latest) && stepOf(AtomicFolder.nameOf(other)) >= 0) {
        try {
          AtomicFolder.delete(other);
        } catch (IOException e) {
          throw new UncheckedIOException(
              other + ": cannot be removed: " + DataException.reason(e), e);
        }
      }
    }
  }

  void writeBest(Consumer<Path> save, RunState state) {
    save.accept(folder.resolve(BEST));
  }

  /** The latest checkpoint in {@code folder}. */
  static Optional<Path> latest(Path folder) {
    Optional<Path> latest = Optional.empty();
    long latestStep = -1;
    for (Path child : AtomicFolder.children(folder)) {
      long step = stepOf(AtomicFolder.nameOf(child));
      Path whole = AtomicFolder.current(folder.resolve(PREFIX + step));
      if (step > latestStep && Files.isDirectory(whole)) {
        latest = Optional.of(whole);
        latestStep = step;
      }
    }
    return latest;
  }

  /** The best checkpoint in {@code folder}, or the latest if none was evaluated. */
  static Optional<Path> best(Path folder) {
    Path best = AtomicFolder.current(folder.resolve(BEST));
    return Files.isDirectory(best) ? Optional.of(best) : latest(folder);
  }

  /** The step of a checkpoint's name; -1 for any other name. */
  private static long stepOf(String name) {
    String digits = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : "";
    boolean number =
        !digits.isEmpty()
            && digits.length() <= 18
            && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    return number ? Long.parseLong(digits) : -1;
  }
}
