package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The files that paths name: a file itself, the files of a folder and of all folders in it, or what
 * matches a pattern ({@link PathPattern}). The only place where names of files are interpreted.
 *
 * <p>A name that begins with {@code .} or {@code _} or ends with {@code .crc} or {@code ._COPYING_}
 * is no data, as of {@code _SUCCESS}: of folders and patterns it is passed over, unless it holds
 * {@code =}, as {@code _day=1} does, or the pattern begins or ends alike. Files of a folder or
 * pattern are sorted by path. Whatever else stands there is read, so nothing is left out in
 * silence: what cannot be read is an error.
 */
public final class InputFiles {
  /** Bytes that an empty gzip file may have, with the name of the file that it was. */
  private static final int EMPTY_GZIP = 300;

  /** How names of files end that Hadoop writes beside data, or before they are whole. */
  private static final List<String> NO_DATA = List.of(".crc", "._COPYING_");

  private InputFiles() {}

  /** What the files hold, and so which of a folder are data. */
  public enum Kind {
    /** Lines of text. A part of a folder or of a pattern that is empty has no rows. */
    TEXT,
    /** Norm or Raw, of which folders are not read. */
    RECORDS,
    /**
     * Parquet. Of a folder the files are data whose name says so, as in {@code a.parquet}, {@code
     * a.PARQUET.gz}, {@code a.pq}, or whose first bytes do.
     */
    PARQUET
  }

  /**
   * The files of {@code paths}, in the order of these. A path that is neither a folder nor a
   * pattern is one of them, whether there is such a file or not.
   *
   * @throws DataException where a folder or pattern has no files or cannot be looked into
   */
  public static List<Path> of(List<Path> paths, Kind kind) {
    List<Path> files = new ArrayList<>();
    for (Path path : paths) {
      boolean many = Files.isDirectory(path) || PathPattern.isPattern(path) && !Files.exists(path);
      // A pattern such as **/* matches a folder and the files in it, too.
      SortedSet<Path> parts = new TreeSet<>();
      for (Path part : PathPattern.isPattern(path) ? named(path) : List.of(path)) {
        if (Files.isDirectory(part) && kind != Kind.RECORDS) {
          parts.addAll(inFolder(part, kind));
        } else {
          parts.add(part);
        }
      }
      files.addAll(many && kind == Kind.TEXT ? withoutEmpty(path, List.copyOf(parts)) : parts);
    }
    return files;
  }

  /**
   * The files and folders that {@code paths} name or match.
   *
   * @throws DataException as {@link #of}, and where there is no such file
   */
  public static List<Path> named(List<Path> paths) {
    return paths.stream().flatMap(path -> named(path).stream()).toList();
  }

  private static List<Path> named(Path path) {
    if (Files.exists(path)) {
      return List.of(path);
    }
    requireNoLink(path);
    if (!PathPattern.isPattern(path)) {
      throw new DataException(
          Shown.path(path) + ": got no such file, expected data; check the path");
    }
    try {
      SortedSet<Path> found = new PathPattern(path).matches();
      if (found.isEmpty()) {
        throw new DataException(
            Shown.path(path) + ": got no file that matches, expected some; check the path");
      }
      return List.copyOf(found);
    } catch (IOException e) {
      throw unreadable(path, e);
    }
  }

  /** Refuses files that come twice, under any name: their rows would count twice. */
  public static void requireOnce(List<Path> files) {
    Map<Path, Path> seen = new HashMap<>();
    for (Path file : files) {
      if (!Files.isRegularFile(file)) {
        continue; // a folder is looked into when it is read; a pipe has no path
      }
      try {
        Path earlier = seen.put(file.toRealPath(), file);
        if (earlier != null) {
          throw new DataException(
              "%s: got the file twice%s, expected each once; name it once, by one pattern"
                  .formatted(
                      Shown.path(file),
                      earlier.equals(file) ? "" : ", also as " + Shown.path(earlier)));
        }
      } catch (IOException e) {
        throw unreadable(file, e);
      }
    }
  }

  private static List<Path> inFolder(Path folder, Kind kind) {
    SortedSet<Path> files = new TreeSet<>();
    try {
      Files.walkFileTree(
          folder, DataFolder.OPTIONS, Integer.MAX_VALUE, new DataFolder(folder, files));
    } catch (IOException e) {
      throw unreadable(folder, e);
    }
    files.removeIf(file -> kind == Kind.PARQUET && !isParquet(file));
    if (files.isEmpty()) {
      String wanted = kind == Kind.PARQUET ? "no Parquet file" : "a folder without files";
      throw new DataException(
          "%s: got %s there, expected data; check the path".formatted(Shown.path(folder), wanted));
    }
    return List.copyOf(files);
  }

  /** Whether the name or the first bytes of {@code file} say that it is Parquet. */
  public static boolean isParquet(Path file) {
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    if (name.matches(".*\\.(parquet|parq|pq)(\\..*)?")) {
      return true;
    }
    FileKind kind = FileKind.of(file);
    return kind == FileKind.PARQUET;
  }

  private static List<Path> withoutEmpty(Path path, List<Path> files) {
    List<Path> full = files.stream().filter(file -> !isEmpty(file)).toList();
    if (full.isEmpty()) {
      throw new DataException(
          Shown.path(path)
              + ": got only files without a byte, expected data; check what writes them");
    }
    return full;
  }

  /** Whether {@code file} has no byte and is named for text, or is the gzip of none. */
  private static boolean isEmpty(Path file) {
    try {
      long size = Files.size(file);
      if (size == 0 && TextBytes.isNamedGzip(file)) {
        return false; // Its gzip header is lost, and perhaps rows with it: reading it says so.
      }
      if (size == 0 || size > EMPTY_GZIP || FileKind.of(file) != FileKind.GZIP) {
        return size == 0 && Files.isRegularFile(file);
      }
      try (InputStream in = GzipInput.open(file)) {
        return in.read() < 0;
      }
    } catch (IOException | DataException e) {
      return false; // reading it says what is wrong
    }
  }

  /** Whether a name, in a folder or of a pattern that does not ask for it, is one of no data. */
  static boolean isHidden(String name) {
    return beginsHidden(name) || NO_DATA.stream().anyMatch(name::endsWith);
  }

  /** Whether the name {@code pattern} asks for the hidden name {@code name}. */
  static boolean asksFor(String pattern, String name) {
    return (!beginsHidden(name) || pattern.charAt(0) == name.charAt(0))
        && NO_DATA.stream().allMatch(end -> !name.endsWith(end) || pattern.endsWith(end));
  }

  private static boolean beginsHidden(String name) {
    return (name.startsWith(".") || name.startsWith("_")) && name.indexOf('=') < 0;
  }

  /** Refuses a link that leads nowhere. */
  static void requireNoLink(Path path) {
    if (Files.isSymbolicLink(path) && !Files.exists(path)) {
      throw new DataException(
          Shown.path(path)
              + ": got a link to a file that is not there, expected data; mend or remove the link");
    }
  }

  /** The fault of a path that cannot be looked into. */
  static DataException unreadable(Path path, IOException e) {
    String got =
        switch (e) {
          case AccessDeniedException denied ->
              denied.getFile() + ", which may not be read, expected files; check its permissions";
          case FileSystemLoopException loop ->
              "the link " + loop.getFile() + " to a folder that it is in, expected none; remove it";
          case NotDirectoryException file ->
              file.getFile() + ", which is no folder, expected one; check the path";
          default -> "an error looking for files (" + DataException.reason(e) + "); check the path";
        };
    return new DataException(Shown.path(path) + ": got " + got, e);
  }

  /** Whether {@code path} is there, as a link too. */
  static boolean isThere(Path path) {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }
}
