package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.checkpoint.CheckpointFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Full checkpoints in a folder that publisher and followers reach, where the topic is not to carry
 * them: {@code RUN/NUMBER/step-N}. The last two of a run stay.
 */
record SharedFolder(Path path) {
  private static final Pattern NAME =
      Pattern.compile("[A-Za-z0-9._-]{1,64}/[0-9]{1,18}/step-[0-9]{1,18}");

  /** A follower may still copy the one before. */
  private static final int KEPT = 2;

  /** Whether {@code text} may name a checkpoint in such a folder, and nothing outside. */
  static boolean isName(String text) {
    return NAME.matcher(text).matches() && !text.startsWith("../") && !text.startsWith("./");
  }

  /** Copies a checkpoint into the folder, whole; gives its name there. */
  String add(CheckpointFiles files, String run, long number) {
    Path target = path.resolve(run).resolve(Long.toString(number));
    Path copy = path.resolve(run).resolve(number + ".copy");
    try {
      delete(copy);
      Files.createDirectories(copy);
      Files.createDirectories(target);
      copy(files, copy);
      CheckpointFiles.read(copy).moveInto(target);
      delete(copy);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: got an error writing it (%s), expected room on the disk; free some or choose another folder with --full"
              .formatted(target, DataException.reason(e)),
          e);
    }
    return run + "/" + number + "/" + files.name();
  }

  /** Removes the checkpoints of a run that are older than the last two. */
  void removeOld(String run) {
    try (Stream<Path> children = Files.list(path.resolve(run))) {
      List<Path> numbered =
          children
              .filter(child -> child.getFileName().toString().matches("[0-9]{1,18}"))
              .sorted(
                  Comparator.comparing(
                          (Path child) -> Long.parseLong(child.getFileName().toString()))
                      .reversed())
              .toList();
      for (Path old : numbered.subList(Math.min(KEPT, numbered.size()), numbered.size())) {
        delete(old);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(path + ": cannot be tidied: " + DataException.reason(e), e);
    }
  }

  /** Copies the files of a checkpoint into a folder. */
  static void copy(CheckpointFiles from, Path to) throws IOException {
    for (String name : from.names()) {
      Path target = to.resolve(name);
      Path parent = target.getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      Files.copy(from.folder().resolve(name), target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static void delete(Path path) throws IOException {
    if (Files.exists(path)) {
      try (Stream<Path> below = Files.walk(path)) {
        for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(each);
        }
      }
    }
  }
}
