package dev.tern.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Folders that appear whole or not at all: written beside their place, made durable, then renamed.
 */
final class AtomicFolder {
  private static final String WRITING = ".writing";
  private static final String REPLACED = ".replaced";

  private AtomicFolder() {}

  /**
   * Lets {@code content} fill a new folder that then takes the place of {@code target}. If anything
   * fails, what was at {@code target} stays as it was.
   */
  static void write(Path target, Consumer<Path> content) {
    Path absolute = target.toAbsolutePath();
    Path writing = absolute.resolveSibling(absolute.getFileName() + WRITING);
    Path replaced = absolute.resolveSibling(absolute.getFileName() + REPLACED);
    try {
      recover(absolute);
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
      undo(absolute, writing, e);
      throw new UncheckedIOException(
          target + ": cannot be written: " + reason(e) + "; free space or choose another folder",
          e);
    } catch (RuntimeException | Error e) {
      undo(absolute, writing, e);
      throw e;
    }
  }

  private static String reason(IOException e) {
    return e.getClass().getSimpleName() + " " + e.getMessage();
  }

  private static void undo(Path target, Path writing, Throwable because) {
    try {
      delete(writing);
      recover(target);
    } catch (IOException | UncheckedIOException e) {
      because.addSuppressed(e);
    }
  }

  /** Puts the old folder back where a crash came between the two renames. */
  static void recover(Path target) {
    Path absolute = target.toAbsolutePath();
    Path replaced = absolute.resolveSibling(absolute.getFileName() + REPLACED);
    try {
      if (Files.exists(replaced)) {
        if (Files.exists(absolute)) {
          delete(replaced);
        } else {
          Files.move(replaced, absolute, StandardCopyOption.ATOMIC_MOVE);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(target + ": cannot be recovered: " + reason(e), e);
    }
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
    // Folders can be opened for reading on POSIX systems, which makes their entries durable.
    boolean folder = Files.isDirectory(path);
    try (FileChannel channel =
        FileChannel.open(path, folder ? StandardOpenOption.READ : StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Deletes a folder and all below it, if it is there. */
  static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** The folders in {@code parent}, recovered as by {@link #recover}; none if it is not there. */
  static List<Path> children(Path parent) {
    for (Path child : list(parent)) {
      String name = child.getFileName().toString();
      if (name.endsWith(REPLACED)) {
        recover(child.resolveSibling(name.substring(0, name.length() - REPLACED.length())));
      }
    }
    return list(parent);
  }

  private static List<Path> list(Path parent) {
    if (!Files.isDirectory(parent)) {
      return List.of();
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(parent, Files::isDirectory)) {
      List<Path> children = new ArrayList<>();
      stream.forEach(children::add);
      return children;
    } catch (IOException e) {
      throw new UncheckedIOException(parent + ": cannot be listed: " + reason(e), e);
    }
  }
}
