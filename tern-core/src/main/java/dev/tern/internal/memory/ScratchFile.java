package dev.tern.internal.memory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * A file without a name, for bytes that have no room in memory. The system deletes it when it is
 * closed or the process ends. Bytes are copied between the file and addresses, as mapped pages
 * would count as memory of the process. Interrupts of a thread do not disturb it. Linux only.
 *
 * <p>While threads read, one other thread may write other bytes, and one may make room.
 */
public final class ScratchFile implements AutoCloseable {
  private static final long ROOM = 1L << 20;

  private final Path folder;
  private final String holder;
  private final int descriptor;

  /** The disk has room for this many bytes of the file. */
  private long room;

  private final LongAdder read = new LongAdder();

  private ScratchFile(Path folder, String holder, int descriptor) {
    this.folder = folder;
    this.holder = holder;
    this.descriptor = descriptor;
  }

  /**
   * An empty file.
   *
   * @param holder who holds the bytes, for messages
   * @throws UncheckedIOException where no file can be made in {@code folder}
   * @throws UnsupportedOperationException where the system is not Linux
   */
  public static ScratchFile in(Path folder, String holder) {
    if (!Pages.RESERVES) {
      throw new UnsupportedOperationException(
          "%s: got a file in %s on a system other than Linux; keep it in memory"
              .formatted(holder, folder));
    }
    try {
      Path file = Files.createTempFile(folder, "tern-", ".scratch");
      try {
        int descriptor =
            FileCalls.open(file).orElseThrow(() -> new IOException("the system does not open it"));
        return new ScratchFile(folder, holder, descriptor);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: got %s, expected a folder where files can be made; make it, or name another"
              .formatted(holder, folder),
          e);
    }
  }

  /** Bytes on the disk. */
  public long bytes() {
    return room;
  }

  public long read() {
    return read.sum();
  }

  /**
   * Makes room, so that bytes before {@code end} can be written.
   *
   * @throws UncheckedIOException if the disk has none
   */
  public void makeRoom(long end) {
    if (end <= room) {
      return;
    }
    long more = (end - room + ROOM - 1) & -ROOM;
    Optional<String> wrong = FileCalls.keepRoom(descriptor, room, more);
    if (wrong.isPresent()) {
      throw failed("no room for " + more + " bytes more", wrong.get(), "free space there, or name");
    }
    room += more;
  }

  /**
   * Copies bytes from the file.
   *
   * @throws UncheckedIOException if the system fails to
   */
  public void read(long offset, long address, long bytes) {
    if (Memory.CHECKED) {
      LiveBlocks.require(address, bytes);
    }
    for (long done = 0; done < bytes; ) {
      long copied = FileCalls.read(descriptor, address + done, bytes - done, offset + done);
      if (copied <= 0) {
        throw failed("no byte " + (offset + done), "it cannot be read", "check the disk, or name");
      }
      done += copied;
    }
    read.add(bytes);
  }

  /**
   * Copies bytes into the file, where there is room.
   *
   * @throws UncheckedIOException if the system fails to
   */
  public void write(long offset, long address, long bytes) {
    if (Memory.CHECKED) {
      LiveBlocks.require(address, bytes);
    }
    for (long done = 0; done < bytes; ) {
      long copied = FileCalls.write(descriptor, address + done, bytes - done, offset + done);
      if (copied <= 0) {
        throw failed(
            "no byte " + (offset + done), "it cannot be written", "check the disk, or name");
      }
      done += copied;
    }
  }

  private UncheckedIOException failed(String what, String cause, String cure) {
    return new UncheckedIOException(
        "%s: got %s in a file in %s (%s); %s a folder on another disk"
            .formatted(holder, what, folder, cause, cure),
        new IOException(cause));
  }

  @Override
  public void close() {
    FileCalls.close(descriptor);
  }
}
