package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The checkpoints of a run, found by their names. {@code step-N} is a full checkpoint, {@code
 * step-N.delta} holds what changed since the one before, and {@code best} is from the evaluation
 * with the highest AUC. Each is renamed into place whole. An older one is deleted only when a newer
 * one is there that does not need it.
 */
final class CheckpointFolder {
  private static final String PREFIX = "step-";
  private static final String DELTA = ".delta";
  static final String BEST = "best";
  private static final Pattern NAME = Pattern.compile("step-([0-9]{1,18})([.]delta)?");

  private final Path folder;

  CheckpointFolder(Path folder) {
    this.folder = folder;
  }

  Path path() {
    return folder;
  }

  /**
   * Lets {@code save} write checkpoint {@code name}, then removes all others of steps, such as what
   * a crash left. Those in {@code keep} stay.
   *
   * @return its folder
   */
  Path write(String name, Consumer<Path> save, List<Path> keep) {
    Path latest = folder.resolve(name);
    save.accept(latest);
    for (Path other : AtomicFolder.children(folder)) {
      if (!other.equals(latest)
          && !keep.contains(other)
          && order(AtomicFolder.nameOf(other)) >= 0) {
        remove(other);
      }
    }
    return latest;
  }

  void writeBest(Consumer<Path> save) {
    save.accept(folder.resolve(BEST));
  }

  private static void remove(Path checkpoint) {
    try {
      AtomicFolder.remove(checkpoint);
    } catch (IOException e) {
      throw new UncheckedIOException(
          checkpoint + ": cannot be removed: " + DataException.reason(e), e);
    }
  }

  /**
   * The checkpoint of the latest step in {@code folder}. If there is none, as after a failure in
   * the first epoch, the best one: a run can resume from that as well.
   */
  static Optional<Path> latest(Path folder) {
    return ofSteps(folder).or(() -> ofBest(folder));
  }

  /** The best checkpoint in {@code folder}, or the latest if there was no evaluation. */
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

  /**
   * The checkpoints of steps in {@code folder} that stand under their own names, the newest first.
   */
  static List<Path> newestFirst(Path folder) {
    return AtomicFolder.children(folder).stream()
        .filter(child -> order(child.getFileName().toString()) >= 0)
        .sorted(Comparator.comparing((Path child) -> order(child.getFileName().toString())))
        .toList()
        .reversed();
  }

  /** The name of the full checkpoint of {@code step}. */
  static String fullName(long step) {
    return PREFIX + step;
  }

  /** The name of the delta of {@code step}. */
  static String deltaName(long step) {
    return PREFIX + step + DELTA;
  }

  /** Whether {@code name} names a full checkpoint or a delta. */
  static boolean isName(String name) {
    return order(name) >= 0;
  }

  /** A number that grows from one checkpoint of a run to the next; -1 for other names. */
  private static long order(String name) {
    Matcher match = NAME.matcher(name);
    // One step has at most one delta; a full checkpoint of the same step comes after it.
    return match.matches()
        ? 2 * Long.parseLong(match.group(1)) + (match.group(2) == null ? 1 : 0)
        : -1;
  }
}
