package dev.tern.internal.files;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * HugeCTR file lists: text whose first line is a number N, then N lines with a path each. Lines
 * beyond may be empty or repeat these, as HugeCTR's generator writes them. A path is taken
 * verbatim; a relative one is looked for in the folder of the list, then in the working folder,
 * which is the only one where HugeCTR looks.
 */
public final class FileList {
  private static final int MAX_FILES = 10_000_000;
  private static final int LONGEST_NUMBER = 100;
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private FileList() {}

  /** The files named by {@code list}. */
  public static List<Path> read(Path list) {
    try (BufferedReader lines = Files.newBufferedReader(list, StandardCharsets.UTF_8)) {
      int count = count(list, firstLine(lines));
      Set<String> names = new HashSet<>();
      List<Path> files = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String line = lines.readLine();
        if (line == null || line.isEmpty()) {
          throw new DataException(
              ("%s: line %s: got %s, expected the path of file %s of %s; mend the list or its "
                      + "first line")
                  .formatted(list, i + 2, (line == null ? "the end" : "no path"), i + 1, count));
        }
        names.add(line);
        files.add(resolve(list, i + 2, line));
      }
      requireNoOther(list, count + 2, lines, names);
      return files;
    } catch (CharacterCodingException e) {
      throw new DataException(
          list + ": got bytes that are no UTF-8 text, expected a file list; check the format", e);
    } catch (IOException e) {
      throw BinaryInput.unreadable(list, e);
    }
  }

  /** The first line without a byte order mark; of a long one, which is no number, the beginning. */
  private static @Nullable String firstLine(BufferedReader lines) throws IOException {
    StringBuilder line = new StringBuilder();
    lines.mark(1);
    if (lines.read() != BYTE_ORDER_MARK) {
      lines.reset();
    }
    int next = lines.read();
    if (next < 0) {
      return null;
    }
    while (next >= 0 && next != '\n' && line.length() < LONGEST_NUMBER) {
      line.append((char) next);
      next = lines.read();
    }
    return line.toString();
  }

  private static void requireNoOther(Path list, int number, BufferedReader lines, Set<String> names)
      throws IOException {
    int at = number;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.isBlank() && !names.contains(line)) {
        throw new DataException(
            "%s: line %s: got %s behind the %s files of line 1, expected none but those; mend the first line or remove it"
                .formatted(list, at, Shown.quoted(line), number - 2));
      }
      at++;
    }
  }

  private static int count(Path list, @Nullable String line) {
    int count = 0;
    // Of a longer line only the beginning is here: the rest of it is no path.
    if (line != null && line.length() < LONGEST_NUMBER && line.strip().matches("\\+?[0-9]{1,9}")) {
      count = Integer.parseInt(line.strip());
    }
    if (count < 1 || count > MAX_FILES) {
      throw new DataException(
          "%s: line 1: got %s, expected the number of files, 1 to %s; mend the list"
              .formatted(list, (line == null ? "no line" : Shown.quoted(line)), MAX_FILES));
    }
    return count;
  }

  private static Path resolve(Path list, int number, String line) {
    try {
      Path path = list.getFileSystem().getPath(line);
      Path beside = list.resolveSibling(path);
      return Files.exists(beside) ? beside : path;
    } catch (InvalidPathException e) {
      throw new DataException(
          "%s: line %s: got a name that no file can have (%s), expected a path; mend the list"
              .formatted(list, number, e.getReason()),
          e);
    }
  }

  /** Writes a list of {@code files}, by absolute paths, so that it holds in any working folder. */
  public static void write(Path list, List<Path> files) {
    StringBuilder text = new StringBuilder().append(files.size()).append('\n');
    files.forEach(file -> text.append(file.toAbsolutePath().normalize()).append('\n'));
    WholeFile.write(list, text.toString());
  }

  /** {@code paths} with each file list among them replaced by the files it names. */
  public static List<Path> expand(List<Path> paths) {
    List<Path> files = new ArrayList<>();
    for (Path path : paths) {
      if (isList(path)) {
        files.addAll(read(path));
      } else {
        files.add(path);
      }
    }
    return files;
  }

  /** True where {@code path} starts as a list does, with a digit, and no Norm header can. */
  private static boolean isList(Path path) {
    if (!Files.isRegularFile(path)) {
      return false;
    }
    try (InputStream in = Files.newInputStream(path)) {
      int first = in.read();
      if (first == 0xEF && in.read() == 0xBB && in.read() == 0xBF) {
        first = in.read();
      }
      return first == '+' || first == ' ' || first == '\t' || (first >= '0' && first <= '9');
    } catch (IOException e) {
      throw BinaryInput.unreadable(path, e);
    }
  }
}
