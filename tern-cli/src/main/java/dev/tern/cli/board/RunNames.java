package dev.tern.cli.board;

import dev.tern.base.DataException;
import dev.tern.cli.run.RunException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.PatternSyntaxException;

/**
 * The folders that arguments of {@code tern board} name: runs, folders of runs, and patterns such
 * as <code>runs/*</code>, where {@code *}, {@code ?}, {@code [ab]} and {@code {a,b}} stand for
 * parts of a name.
 *
 * @param plain folders by their names
 * @param patterns those that may match more folders later
 */
record RunNames(List<Path> plain, List<Path> patterns) {
  /**
   * Takes the arguments.
   *
   * @param wait whether folders may be missing
   * @throws RunException if one names no run
   */
  static RunNames of(List<String> arguments, boolean wait) {
    List<Path> plain = new ArrayList<>();
    List<Path> patterns = new ArrayList<>();
    for (String argument : arguments) {
      Path path = path(argument);
      if (Files.isDirectory(path)) {
        if (isRun(path)) {
          plain.add(path);
        } else if (!matches(path.resolve("*")).isEmpty() || wait) {
          patterns.add(path.resolve("*"));
        } else {
          throw noRun(argument, "a folder without a run");
        }
      } else if (isPattern(path)) {
        matches(path); // A pattern whose brackets do not close is refused now.
        patterns.add(path);
      } else if (Files.exists(path)) {
        throw noRun(argument, "a file");
      } else if (wait) {
        plain.add(path);
      } else {
        throw noRun(argument, "no such folder");
      }
    }
    return new RunNames(plain, patterns);
  }

  private static RunException noRun(String argument, String got) {
    return new RunException(
        argument
            + ": got "
            + got
            + ", expected the folder of a run (run.dir of its configuration), or a pattern of such"
            + " folders; check the path, or give --wait to wait for a run that begins later");
  }

  private static Path path(String argument) {
    try {
      return Path.of(argument);
    } catch (InvalidPathException e) {
      throw new RunException(
          argument + ": got no path (" + e.getReason() + "), expected a run's folder", e);
    }
  }

  private static boolean isPattern(Path path) {
    return path.toString().chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
  }

  /** Whether a folder holds a run of Tern, or its metrics. */
  static boolean isRun(Path folder) {
    return Files.isRegularFile(FolderFacts.metrics(folder))
        || Files.isRegularFile(FolderFacts.config(folder));
  }

  /** All folders as of now, in order: those named first. */
  List<Path> folders() {
    List<Path> all = new ArrayList<>(plain);
    patterns.forEach(pattern -> all.addAll(matches(pattern)));
    return all.stream().distinct().toList();
  }

  private static SortedSet<Path> matches(Path pattern) {
    List<Path> names = new ArrayList<>();
    pattern.forEach(names::add);
    Path root = pattern.getRoot();
    SortedSet<Path> found = new TreeSet<>();
    find(root == null ? Path.of("") : root, names, found);
    return found;
  }

  private static void find(Path base, List<Path> names, SortedSet<Path> found) {
    if (names.isEmpty()) {
      if (isRun(base)) {
        found.add(base);
      }
      return;
    }
    String name = names.getFirst().toString();
    List<Path> rest = names.subList(1, names.size());
    if (!isPattern(names.getFirst()) || Files.exists(base.resolve(name))) {
      find(base.resolve(name), rest, found);
      return;
    }
    Path folder = base.toString().isEmpty() ? Path.of(".") : base;
    try (DirectoryStream<Path> children = Files.newDirectoryStream(folder, name)) {
      for (Path child : children) {
        String own = String.valueOf(child.getFileName());
        if (!own.startsWith(".") && Files.isDirectory(child)) {
          find(base.resolve(own), rest, found);
        }
      }
    } catch (PatternSyntaxException e) {
      throw new RunException(
          name
              + ": got a pattern that cannot be read ("
              + e.getDescription()
              + "), expected one whose brackets close; mend it",
          e);
    } catch (IOException | DirectoryIteratorException _) {
      return; // Not there yet, or not ours to read.
    }
  }

  /** Why {@code e} happened, in short. */
  static String reason(IOException e) {
    return DataException.reason(e);
  }
}
