package dev.tern.internal.files;

import dev.tern.base.DataException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A file in the making: bytes go to a hidden file beside the target, which {@link #finish} forces
 * to disk and renames to the target. Closed before that, nothing is left behind, folders made for
 * it included.
 */
public final class OutputFile implements TextOutput.Sink {
  private final Path target;
  private final Path part;
  private final FileChannel channel;
  private final List<Path> made;
  private long position;
  private boolean complete;
  private boolean finished;

  private OutputFile(Path target, Path part, FileChannel channel, List<Path> made) {
    this.target = target;
    this.part = part;
    this.channel = channel;
    this.made = made;
  }

  /** Starts a file that will stand at {@code target}; folders above it are made. */
  public static OutputFile create(Path target) {
    Path absolute = target.toAbsolutePath();
    Path folder = Objects.requireNonNullElse(absolute.getParent(), absolute);
    if (Files.exists(absolute) && !Files.isRegularFile(absolute)) {
      throw new DataException(
          target + ": got a folder or device, expected the name of a file; choose another");
    }
    String name =
        "." + absolute.getFileName() + "." + Long.toHexString(System.nanoTime()) + ".part";
    List<Path> made = missing(folder);
    try {
      Files.createDirectories(folder);
      Path part = folder.resolve(name);
      FileChannel channel =
          FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      if (isOfTheSystem(part)) {
        part.toFile().deleteOnExit();
      }
      return new OutputFile(absolute, part, channel, made);
    } catch (IOException e) {
      throw new DataException(
          "%s: got an error creating it (%s), expected a folder that can be written; choose another"
              .formatted(target, DataException.reason(e)),
          e);
    }
  }

  /** {@code folder} and those above it that are not there, the deepest first. */
  private static List<Path> missing(Path folder) {
    List<Path> missing = new ArrayList<>();
    for (Path up = folder; up != null && Files.notExists(up); up = up.getParent()) {
      missing.add(up);
    }
    return missing;
  }

  /** Bytes written. */
  public long position() {
    return position;
  }

  /** Appends what {@code buffer} holds and clears it. */
  public void write(RecordBuffer buffer) {
    write(buffer.bytes(), 0, buffer.size());
    buffer.clear();
  }

  @Override
  public void write(byte[] bytes, int from, int to) {
    put(ByteBuffer.wrap(bytes, from, to - from), position);
    position += to - from;
  }

  /** Overwrites bytes written before, from {@code offset}. */
  public void patch(long offset, RecordBuffer buffer) {
    if (offset + buffer.size() > position) {
      throw new IllegalArgumentException(
          "%s: got a patch up to byte %s of %s"
              .formatted(target, offset + buffer.size(), position));
    }
    put(ByteBuffer.wrap(buffer.bytes(), 0, buffer.size()), offset);
    buffer.clear();
  }

  /** Takes back what was written from {@code offset} on. */
  public void rewind(long offset) {
    requireUnfinished();
    try {
      channel.truncate(offset);
      position = offset;
    } catch (IOException e) {
      throw incomplete(e);
    }
  }

  private void put(ByteBuffer bytes, long offset) {
    requireUnfinished();
    long at = offset;
    try {
      while (bytes.hasRemaining()) {
        at += channel.write(bytes, at);
      }
    } catch (IOException e) {
      throw new DataException(
          ("%s: got an error writing at byte %s (%s), expected room on the disk; free some or "
                  + "choose another place")
              .formatted(target, at, DataException.reason(e)),
          e);
    }
  }

  @Override
  public void complete() {
    requireUnfinished();
    try {
      channel.force(true);
      channel.close();
      complete = true;
    } catch (IOException e) {
      throw incomplete(e);
    }
  }

  private DataException incomplete(IOException e) {
    return new DataException(
        ("%s: got an error completing it (%s), expected room on the disk; free some or "
                + "choose another place")
            .formatted(target, DataException.reason(e)),
        e);
  }

  /** Makes the file appear under its name, replacing one that was there. */
  @Override
  public void finish() {
    if (finished || !complete) {
      complete();
    }
    try {
      Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      forceFolder();
    } catch (IOException e) {
      throw incomplete(e);
    }
    finished = true;
  }

  /** Makes the new name itself durable, where the system lets a folder be forced. */
  private void forceFolder() throws IOException {
    if (File.separatorChar == '/' && isOfTheSystem(part)) {
      try (FileChannel folder = FileChannel.open(Objects.requireNonNull(part.getParent()))) {
        folder.force(true);
      }
    }
  }

  /** Whether {@code path} is a file of the operating system: others cannot be forced or marked. */
  private static boolean isOfTheSystem(Path path) {
    return path.getFileSystem().equals(FileSystems.getDefault());
  }

  private void requireUnfinished() {
    if (!channel.isOpen()) {
      throw new IllegalStateException(target + ": got a write after finish or close; open it anew");
    }
  }

  /** Removes the folders made for this file, up to the first that holds something else. */
  private void removeFolders() throws IOException {
    try {
      for (Path folder : made) {
        Files.deleteIfExists(folder);
      }
    } catch (DirectoryNotEmptyException _) {
      // Another file went there meanwhile.
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
      if (!finished && Files.deleteIfExists(part)) {
        removeFolders();
      }
    } catch (IOException e) {
      throw new DataException(
          "%s: got an error removing it (%s); delete it by hand"
              .formatted(part, DataException.reason(e)),
          e);
    }
  }
}
