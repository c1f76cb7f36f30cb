package dev.tern.internal.checkpoint;

import dev.tern.base.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Folders and files that appear whole or not at all: they are written beside their place, made
 * durable, then renamed.
 */
public final class AtomicFolder {
  private static final String WRITING = ".writing";
  private static final String REPLACED = ".replaced";
  private static final String REMOVED = ".removed";

  private AtomicFolder() {}

  /**
   * Lets {@code content} fill a new folder that then takes the place of {@code target}. If anything
   * fails, what was at {@code target} stays as it was.
   */
  public static void write(Path target, Consumer<Path> content) {
    Path absolute = target.toAbsolutePath();
    Path writing = beside(absolute, WRITING);
    Path replaced = beside(absolute, REPLACED);
    try {
      recover(absolute, replaced);
      delete(writing);
      Files.createDirectories(writing);
      content.accept(writing);
      force(writing);
      if (Files.exists(absolute)) {
        Files.move(absolute, replaced, StandardCopyOption.ATOMIC_MOVE);
      }
      Files.move(writing, absolute, StandardCopyOption.ATOMIC_MOVE);
      forceEntry(absolute);
      delete(replaced);
    } catch (IOException e) {
      undo(absolute, writing, replaced, e);
      throw unwritten(target, e);
    } catch (RuntimeException | Error e) {
      undo(absolute, writing, replaced, e);
      throw e;
    }
  }

  /**
   * Lets {@code content} make a file or a folder under a temporary name, then renames it to {@code
   * target}, which must not exist. The temporary name is unique and ends in {@code .writing}; only
   * a crash leaves it behind.
   *
   * <p>If several writers have one target, the first to end succeeds and the others fail. Without
   * hard links, files that end at the same moment may replace one another, each whole.
   *
   * @throws DataException if something is at {@code target}, or a crash left an old folder of that
   *     name; checked before and after {@code content} runs
   */
  public static void writeNew(Path target, Consumer<Path> content) {
    requireNew(target);
    Path absolute = target.toAbsolutePath();
    Path writing = beside(absolute, "." + UUID.randomUUID() + WRITING);
    try {
      content.accept(writing);
      force(writing);
      moveNew(writing, absolute, target);
      delete(writing); // A file's other name.
      forceEntry(absolute);
    } catch (IOException e) {
      discard(writing, e);
      throw unwritten(target, e);
    } catch (RuntimeException | Error e) {
      discard(writing, e);
      throw e;
    }
  }

  private static void moveNew(Path writing, Path absolute, Path target) throws IOException {
    requireNew(target);
    try {
      if (Files.isDirectory(writing) || !link(writing, absolute)) {
        // Fails if a folder with content is there.
        Files.move(writing, absolute, StandardCopyOption.ATOMIC_MOVE);
      }
    } catch (IOException e) {
      requireNew(target); // Another writer came first.
      throw e;
    }
  }

  /** Gives a file a second name, which must be free; false if there are no hard links. */
  private static boolean link(Path file, Path name) throws FileAlreadyExistsException {
    try {
      Files.createLink(name, file);
      return true;
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (IOException | UnsupportedOperationException _) {
      return false;
    }
  }

  private static void requireNew(Path target) {
    Path absolute = target.toAbsolutePath();
    if (absolute.getFileName() == null || isThere(absolute)) {
      throw new DataException(
          target + ": got a path where something is, expected none; give another name");
    }
    Path replaced = beside(absolute, REPLACED);
    if (isThere(replaced)) {
      throw new DataException(
          "%s: got a path that %s stands for, as after a crash while it was replaced, expected none; give another name, or move that away"
              .formatted(target, replaced.getFileName()));
    }
  }

  /** Where {@link #write} lets {@code target} be written. */
  public static Path writing(Path target) {
    return beside(target.toAbsolutePath(), WRITING);
  }

  private static Path beside(Path absolute, String ending) {
    return absolute.resolveSibling(absolute.getFileName() + ending);
  }

  /** Whether anything has that name, even a link to nothing. */
  private static boolean isThere(Path path) {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  private static void discard(Path writing, Throwable because) {
    try {
      delete(writing);
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }

  /** The error of a disk that is full or fails while {@code target} is written. */
  public static UncheckedIOException unwritten(Path target, IOException e) {
    return new UncheckedIOException(
        "%s: got an error writing it (%s), expected room on the disk; free some or choose another folder"
            .formatted(target, DataException.reason(e)),
        e);
  }

  private static void undo(Path target, Path writing, Path replaced, Throwable because) {
    try {
      delete(writing);
      recover(target, replaced);
    } catch (IOException e) {
      because.addSuppressed(e);
    }
  }

  /** Puts the old folder back if a crash came between the two renames. */
  private static void recover(Path target, Path replaced) throws IOException {
    if (Files.exists(target)) {
      delete(replaced);
    } else if (Files.exists(replaced)) {
      Files.move(replaced, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /**
   * The folder to read as {@code target}. If a crash came between the two renames, that is the old
   * folder under its other name. Changes nothing, so it may run beside a writer.
   */
  public static Path current(Path target) {
    Path absolute = target.toAbsolutePath();
    if (absolute.getFileName() == null || Files.exists(absolute)) {
      return target;
    }
    Path replaced = beside(absolute, REPLACED);
    return Files.exists(replaced) ? replaced : target;
  }

  /** The name of a folder without the ending that marks it as unfinished, old or removed. */
  public static String nameOf(Path folder) {
    String name = folder.getFileName().toString();
    for (String ending : List.of(WRITING, REPLACED, REMOVED)) {
      if (name.endsWith(ending)) {
        return name.substring(0, name.length() - ending.length());
      }
    }
    return name;
  }

  /** Makes all files and folders below {@code folder} durable. */
  private static void force(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path path : (Iterable<Path>) below::iterator) {
        forceOne(path);
      }
    }
  }

  private static void forceEntry(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent != null) {
      forceOne(parent);
    }
  }

  private static void forceOne(Path path) throws IOException {
    // POSIX systems can open folders for reading, which makes their entries durable.
    boolean folder = Files.isDirectory(path);
    try (FileChannel channel =
        FileChannel.open(path, folder ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /**
   * Removes a folder whole: whoever reads it and misses a file finds that the folder is gone. It is
   * renamed, then deleted; only a crash leaves the other name, {@code FOLDER.removed}, behind.
   * Removing that deletes it.
   */
  public static void remove(Path folder) throws IOException {
    Path absolute = folder.toAbsolutePath();
    if (nameOf(absolute).equals(absolute.getFileName().toString()) && isThere(absolute)) {
      Path removed = beside(absolute, REMOVED);
      delete(removed);
      try {
        absolute = Files.move(absolute, removed, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException _) {
        // Such as on Windows while a file in it is open: it goes file by file.
      }
    }
    delete(absolute);
  }

  /** Deletes a folder and all below it, or a file, if it is there. Does not follow links. */
  public static void delete(Path folder) throws IOException {
    if (!isThere(folder)) {
      return;
    }
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** The folders in {@code parent}; none if {@code parent} is not there. */
  public static List<Path> children(Path parent) {
    if (!Files.isDirectory(parent)) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(parent)) {
      return children.filter(Files::isDirectory).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(parent + ": cannot be listed: " + DataException.reason(e), e);
    }
  }
}
