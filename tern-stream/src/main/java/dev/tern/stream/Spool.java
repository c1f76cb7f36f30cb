package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointFiles;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The folder into which a topic is brought, for one process at a time:
 *
 * <pre>
 * .lock           held while a process uses the folder
 * position        how far the topic was read
 * incoming/       the files of the checkpoint that is coming
 * checkpoints/    whole checkpoints: a full one and the changes that follow it
 * </pre>
 */
final class Spool implements Closeable {
  /** A checkpoint that is there. */
  record Part(String name, long step, String hash) {
    static Part of(CheckpointFiles files) {
      return new Part(files.name(), files.step(), files.hash());
    }
  }

  private final Path folder;
  private final FileChannel lock;

  /** A full checkpoint and its changes, as far as the topic was read. */
  private List<Part> chain = List.of();

  private Spool(Path folder, FileChannel lock) {
    this.folder = folder;
    this.lock = lock;
  }

  /**
   * Makes the folder, if it is not there, and takes it.
   *
   * @throws DataException if another process has it, or it cannot be written
   */
  static Spool open(Path folder) {
    try {
      Files.createDirectories(folder.resolve("checkpoints"));
      FileChannel channel =
          FileChannel.open(
              folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!isLocked(channel)) {
        channel.close();
        throw new DataException(
            "%s: got a folder that another server, or another model of this one, brings a topic into, expected one of its own; name another with --spool"
                .formatted(folder));
      }
      Spool spool = new Spool(folder, channel);
      spool.newIncoming();
      return spool;
    } catch (IOException e) {
      throw unwritten(folder, e);
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      FileLock taken = channel.tryLock();
      return taken != null;
    } catch (OverlappingFileLockException _) {
      return false;
    }
  }

  static UncheckedIOException unwritten(Path path, IOException e) {
    return new UncheckedIOException(
        "%s: got an error writing it (%s), expected a folder with room; free some or name another with --spool"
            .formatted(path, DataException.reason(e)),
        e);
  }

  /** What a server serves. */
  Path checkpoints() {
    return folder.resolve("checkpoints");
  }

  /** The full checkpoint and its changes that are there, as far as the topic was read. */
  List<Part> chain() {
    return chain;
  }

  /** Whether there is something to serve. */
  boolean hasCheckpoint() {
    return Checkpoint.existsAt(checkpoints());
  }

  /** Bytes that the disk has room for. */
  long room() {
    try {
      return Files.getFileStore(folder).getUsableSpace();
    } catch (IOException _) {
      return Long.MAX_VALUE; // Writing will say so.
    }
  }

  /** Bytes of all checkpoints that are there. */
  long bytes() {
    try (Stream<Path> below = Files.walk(checkpoints())) {
      long sum = 0;
      for (Path path : (Iterable<Path>) below.filter(Files::isRegularFile)::iterator) {
        sum += Files.size(path);
      }
      return sum;
    } catch (IOException e) {
      throw unwritten(folder, e);
    }
  }

  /** A new folder for the files of a checkpoint; what was there goes. */
  Path newIncoming() {
    Path incoming = folder.resolve("incoming");
    try {
      delete(incoming);
      return Files.createDirectories(incoming);
    } catch (IOException e) {
      throw unwritten(incoming, e);
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

  /** The checkpoint whose files came; its digests are checked. */
  CheckpointFiles incoming() {
    return CheckpointFiles.read(folder.resolve("incoming"));
  }

  /** Puts what came beside what is there: changes behind the others, a full one in their place. */
  void take(CheckpointFiles files) {
    Part part = Part.of(files);
    List<Part> next = new ArrayList<>(files.isFull() ? List.of() : chain);
    next.add(part);
    if (files.isFull()) {
      dropLater(part.step());
    }
    files.moveInto(checkpoints());
    chain = List.copyOf(next);
    CheckpointFiles.removeOthers(checkpoints(), names(chain));
  }

  /**
   * Removes what is of later steps before a full checkpoint comes. A follower of the folder would
   * take them for newer.
   */
  private void dropLater(long step) {
    List<Part> earlier = chain.stream().filter(part -> part.step() <= step).toList();
    if (!chain.isEmpty() && earlier.size() < chain.size()) {
      List<Part> kept = earlier.isEmpty() ? chain.subList(0, 1) : earlier;
      CheckpointFiles.removeOthers(checkpoints(), names(kept));
      chain = List.copyOf(kept);
    }
  }

  private static List<String> names(List<Part> parts) {
    return parts.stream().map(Part::name).toList();
  }

  /** Goes on after a part that is there, as if what follows it had not come. */
  void rewind(String hash) {
    int end = 0;
    while (end < chain.size() && !chain.get(end).hash().equals(hash)) {
      end++;
    }
    chain = List.copyOf(chain.subList(0, Math.min(end + 1, chain.size())));
  }

  /** How far the topic was read before, if that is known and what came then is all there. */
  Optional<Position> position() {
    Optional<Position> position = Position.read(folder.resolve("position"));
    try {
      if (!hasCheckpoint()) {
        return Optional.empty();
      }
      chain = Checkpoint.openLatest(checkpoints()).files().stream().map(Part::of).toList();
    } catch (DataException | UncheckedIOException _) {
      return Optional.empty(); // It is read again; a server looks for what is whole.
    }
    Optional<Position> known =
        position.filter(at -> chain.stream().anyMatch(part -> part.hash().equals(at.hash())));
    known.ifPresent(at -> rewind(at.hash()));
    return known;
  }

  /** Keeps how far the topic was read. */
  void position(Position position) {
    position.write(folder.resolve("position"));
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
