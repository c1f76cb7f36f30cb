package dev.tern.internal.memory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Memory that the system may move to a disk: each range is a sparse file, of which those units have
 * room on the disk that memory was asked for. Files lose their names as soon as they are open, so
 * that none is left, however the process ends. On Linux alone; {@link WholeFiles} serves elsewhere.
 */
final class FileMemory implements Backing {
  private final Path folder;
  private final boolean gives;

  /** By the address of a range, its file. */
  private final TreeMap<Long, Integer> files = new TreeMap<>();

  private FileMemory(Path folder) {
    this.folder = folder;
    int probe = open(folder);
    try {
      gives =
          FileCalls.keepRoom(probe, 0, Pages.PAGE).isEmpty()
              && FileCalls.punch(probe, 0, Pages.PAGE);
    } finally {
      FileCalls.close(probe);
    }
  }

  /**
   * Memory in files of a folder.
   *
   * @throws UncheckedIOException where no file can be made in {@code folder}
   */
  static Backing in(Path folder) {
    return Pages.RESERVES ? new FileMemory(folder) : new WholeFiles(folder);
  }

  /** An empty file in a folder that nobody else uses. */
  static Path fresh(Path folder) {
    try {
      return Files.createTempFile(folder, "tern-", ".memory");
    } catch (IOException e) {
      throw new UncheckedIOException(
          "mapped memory: got %s, expected a folder where files can be made; %s"
              .formatted(folder, "make it, or name another"),
          e);
    }
  }

  /** The error for {@code bytes} that a disk has no room for. */
  static UncheckedIOException full(Path folder, long bytes, IOException cause) {
    return new UncheckedIOException(
        "mapped memory: got no room for %d bytes more in %s (%s), expected as much as the budget;"
                .formatted(bytes, folder, cause.getMessage())
            + " free space there, name a folder on another disk, or lower the budget",
        cause);
  }

  private static int open(Path folder) {
    Path file = fresh(folder);
    try {
      Optional<Integer> descriptor = FileCalls.open(file);
      Files.delete(file);
      return descriptor.orElseThrow(() -> new IOException("the file could not be opened"));
    } catch (IOException e) {
      throw full(folder, 0, e);
    }
  }

  @Override
  public boolean isWhole() {
    return false;
  }

  @Override
  public boolean gives() {
    return gives;
  }

  @Override
  public long reserve(long bytes) {
    long address = Pages.reserve(bytes);
    if (address == 0) {
      return 0;
    }
    try {
      files.put(address, open(folder));
    } catch (UncheckedIOException e) {
      Pages.unreserve(address, bytes);
      throw e;
    }
    return address;
  }

  @Override
  public int commit(long address, long bytes) {
    Map.Entry<Long, Integer> file = files.floorEntry(address);
    long offset = address - file.getKey();
    Optional<String> wrong = FileCalls.keepRoom(file.getValue(), offset, bytes);
    if (wrong.isPresent()) {
      throw full(folder, bytes, new IOException(wrong.get()));
    }
    FileCalls.map(address, bytes, file.getValue(), offset);
    return 2;
  }

  @Override
  public int decommit(long address, long bytes) {
    Map.Entry<Long, Integer> file = files.floorEntry(address);
    FileCalls.hide(address, bytes);
    if (!FileCalls.punch(file.getValue(), address - file.getKey(), bytes)) {
      throw Pages.refused("decommit", bytes);
    }
    return 2;
  }

  @Override
  public int unreserve(long address, long bytes) {
    Pages.unreserve(address, bytes);
    Integer file = files.remove(address);
    if (file != null) {
      FileCalls.close(file);
    }
    return 2;
  }
}
