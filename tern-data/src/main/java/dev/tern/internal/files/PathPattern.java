package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.PatternSyntaxException;

/**
 * A path of which some names are patterns: {@code *} and {@code ?} stand for any characters of a
 * name or one, {@code [ab]} for one of these, {@code {a,b}} for one of these texts, and a name
 * {@code **} for any folders, none too. A name that is there as it is written is no pattern.
 * Examples: {@code day=*}{@code /*.csv}, {@code logs/**}{@code /part-?.parquet}.
 */
final class PathPattern {
  private static final String ANY_FOLDERS = "**";

  private final Path pattern;
  private final SortedSet<Path> found = new TreeSet<>();

  PathPattern(Path pattern) {
    this.pattern = pattern;
  }

  /** Whether a name of {@code path} may be a pattern. */
  static boolean isPattern(Path path) {
    return path.toString().chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
  }

  /** What matches: files and folders; the folder before it where the last name is {@code **}. */
  SortedSet<Path> matches() throws IOException {
    List<Path> names = new ArrayList<>();
    pattern.forEach(names::add);
    Path root = pattern.getRoot();
    find(root == null ? pattern.getFileSystem().getPath("") : root, names);
    return found;
  }

  /** Adds what matches {@code names} below {@code base}. */
  private void find(Path base, List<Path> names) throws IOException {
    Path name = names.getFirst();
    Path literal = base.resolve(name);
    if (!isPattern(name) || InputFiles.isThere(literal)) {
      enter(literal, names);
    } else if (name.toString().equals(ANY_FOLDERS)) {
      if (names.size() == 1) {
        found.add(folder(base));
        return;
      }
      for (Path folder : foldersIn(folder(base))) {
        find(folder, names.subList(1, names.size()));
      }
    } else {
      for (Path child : childrenOf(base, name.toString())) {
        enter(child, names);
      }
    }
  }

  /** The empty path names the working folder, but no method of a file takes it. */
  private static Path folder(Path base) {
    return base.toString().isEmpty() ? base.getFileSystem().getPath(".") : base;
  }

  private void enter(Path child, List<Path> names) throws IOException {
    if (names.size() > 1) {
      if (Files.isDirectory(child)) {
        find(child, names.subList(1, names.size()));
      }
    } else if (InputFiles.isThere(child)) {
      InputFiles.requireNoLink(child);
      found.add(child);
    }
  }

  private List<Path> childrenOf(Path folder, String name) throws IOException {
    PathMatcher matcher = matcher(name);
    List<Path> children = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
      for (Path child : all) {
        Path file = folder.relativize(child);
        String own = file.toString();
        if (matcher.matches(file) && (!InputFiles.isHidden(own) || InputFiles.asksFor(name, own))) {
          children.add(child);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return children;
  }

  private PathMatcher matcher(String name) {
    try {
      // Each star more would double the time of the JDK's matcher, which goes back over them.
      String once = name.replaceAll("(?<!\\\\)[*]{2,}", "*");
      return pattern.getFileSystem().getPathMatcher("glob:" + once);
    } catch (PatternSyntaxException e) {
      throw new DataException(
          "%s: got the pattern %s (%s), expected one whose brackets close; mend it, or check the path"
              .formatted(pattern, name, e.getDescription()),
          e);
    }
  }

  /** {@code start} and all folders below it that are not hidden. */
  private static List<Path> foldersIn(Path start) throws IOException {
    List<Path> folders = new ArrayList<>();
    Files.walkFileTree(
        start,
        DataFolder.OPTIONS,
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            boolean hidden =
                !folder.equals(start) && InputFiles.isHidden(String.valueOf(folder.getFileName()));
            if (!hidden) {
              folders.add(folder);
            }
            return hidden ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }
        });
    return folders;
  }
}
