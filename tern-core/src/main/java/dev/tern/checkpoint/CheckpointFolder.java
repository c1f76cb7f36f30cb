package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A run's checkpoints by their names: {@code step-N}, a full one, {@code step-N.delta}, one of what
 * changed since the one before, and {@code best}, of the evaluation with the highest AUC. Each is
 * renamed into place whole, and an older one goes only when a newer is there that does not need it.
 */
final class CheckpointFolder {
  private static final String PREFIX = "step-";
  private static final String DELTA = ".delta";
  private static final String BEST = "best";

  private final Path folder;

  CheckpointFolder(Path folder) {
    this.folder = folder;
  }

  Path path() {
    return folder;
  }

  /**
   * Lets {@code save} write the full checkpoint of {@code state}, then removes those before.
   *
   * @return where it lies
   */
  Path write(Consumer<Path> save, RunState state) {
    Path latest = folder.resolve(PREFIX + state.step());
    save.accept(latest);
    removeAllBut(List.of(), latest);
    return latest;
  }

  /**
   * Lets {@code save} write what changed since the last of {@code chain}, then removes what is not
   * in that chain, such as halves that a crash left.
   *
   * @return where it lies
   */
  Path writeDelta(Consumer<Path> save, RunState state, List<Path> chain) {
    Path latest = folder.resolve(deltaName(state.step()));
    save.accept(latest);
    removeAllBut(chain, latest);
    return latest;
  }

  private void removeAllBut(List<Path> chain, Path latest) {
    for (Path other : AtomicFolder.children(folder)) {
      if (!other.equals(latest)
          && !chain.contains(other)
          && order(AtomicFolder.nameOf(other)) >= 0) {
        try {
          AtomicFolder.delete(other);
        } catch (IOException e) {
          throw new UncheckedIOException(
              other + ": cannot be removed: " + DataException.reason(e), e);
        }
      }
    }
  }

  void writeBest(Consumer<Path> save) {
    save.accept(folder.resolve(BEST));
  }

  /**
   * The checkpoint of the latest step in {@code folder}, or the best where it stands alone, as in a
   * run that fails in its first epoch: a run goes on from that as well.
   */
  static Optional<Path> latest(Path folder) {
    return ofSteps(folder).or(() -> ofBest(folder));
  }

  /** The best checkpoint in {@code folder}, or the latest if none was evaluated. */
  static Optional<Path> best(Path folder) {
    return ofBest(folder).or(() -> ofSteps(folder));
  }

  private static Optional<Path> ofSteps(Path folder) {
    Optional<Path> latest = Optional.empty();
    long last = -1;
    for (Path child : AtomicFolder.children(folder)) {
      String name = AtomicFolder.nameOf(child);
      Path whole = AtomicFolder.current(folder.resolve(name));
      if (order(name) > last && Files.isDirectory(whole)) {
        latest = Optional.of(whole);
        last = order(name);
      }
    }
    return latest;
  }

  private static Optional<Path> ofBest(Path folder) {
    return Optional.of(AtomicFolder.current(folder.resolve(BEST))).filter(Files::isDirectory);
  }

  /** The name of a checkpoint of what changed up to {@code step}. */
  static String deltaName(long step) {
    return PREFIX + step + DELTA;
  }

  /** Whether a checkpoint of a step may have this name. */
  static boolean isName(String name) {
    return order(name) >= 0;
  }

  /** Grows from one checkpoint of a run to the next; -1 for any other name. */
  private static long order(String name) {
    boolean delta = name.endsWith(DELTA);
    String step = delta ? name.substring(0, name.length() - DELTA.length()) : name;
    String digits = step.startsWith(PREFIX) ? step.substring(PREFIX.length()) : "";
    boolean number =
        !digits.isEmpty()
            && digits.length() <= 18
            && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    // Of one step there is a delta at most, then perhaps a full one.
    return number ? 2 * Long.parseLong(digits) + (delta ? 0 : 1) : -1;
  }
}
