package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.checkpoint.CheckpointFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;

/** A checkpoint whose records are coming. Its files grow in a folder that nobody serves. */
final class Incoming {
  private final Announcement of;
  private final boolean isThere;
  private final Path folder;
  private final Unpacking files;
  private final MessageDigest sum = sha256();
  private final Set<String> copied = new HashSet<>();
  private int count;

  /**
   * @param isThere whether the spool has it already, so that its records are counted only
   */
  Incoming(Announcement of, Spool spool, boolean isThere) {
    this.of = of;
    this.isThere = isThere;
    folder = spool.newIncoming();
    files = new Unpacking(folder, of.content().bytes());
  }

  Announcement of() {
    return of;
  }

  boolean isThere() {
    return isThere;
  }

  /** Records that came. */
  int count() {
    return count;
  }

  /** The files that came. */
  Set<String> names() {
    return of.kind() == Announcement.Kind.FOLDER ? copied : files.names();
  }

  /**
   * Takes the record that is due.
   *
   * @throws DataException if its bytes are no files of a checkpoint
   */
  void add(Chunk chunk) {
    count++;
    sum.update(chunk.content().duplicate());
    if (isThere || of.kind() == Announcement.Kind.FOLDER) {
      return;
    }
    try {
      files.write(chunk.content().duplicate());
    } catch (IOException e) {
      throw Spool.unwritten(folder, e);
    }
  }

  /**
   * Checks that all is there.
   *
   * @throws DataException if it is not what was sent
   */
  void finish(String sha256) {
    String got = HexFormat.of().formatHex(sum.digest());
    if (!got.equals(sha256)) {
      throw new DataException("got SHA-256 %s of all records, expected %s".formatted(got, sha256));
    }
    if (!isThere && of.kind() != Announcement.Kind.FOLDER) {
      files.finish();
    }
  }

  /**
   * Copies a checkpoint from a shared folder.
   *
   * @throws DataException if it is not there, or damaged
   * @throws UncheckedIOException if it cannot be copied now
   */
  void copy(Path from) {
    try {
      CheckpointFiles source = CheckpointFiles.read(from);
      SharedFolder.copy(source, folder);
      copied.addAll(source.names());
    } catch (IOException e) {
      throw uncopied(from, e);
    } catch (DataException e) {
      IOException cause = cause(e).filter(Incoming::mayPass).orElseThrow(() -> e);
      throw uncopied(from, cause);
    }
  }

  /** The error of a file that an exception tells of. */
  private static Optional<IOException> cause(DataException of) {
    for (Throwable each = of; each != null; each = each.getCause()) {
      if (each instanceof IOException found) {
        return Optional.of(found);
      }
    }
    return Optional.empty();
  }

  private RuntimeException uncopied(Path from, IOException e) {
    String text =
        "%s: got an error copying it into %s (%s), expected to read the one and to write the other"
            .formatted(from, folder, DataException.reason(e));
    return mayPass(e) ? new UncheckedIOException(text, e) : new DataException(text, e);
  }

  /** Whether an error is no lack or damage of the source: a share may come back. */
  private static boolean mayPass(IOException e) {
    return !(e instanceof NoSuchFileException || e instanceof CharacterCodingException);
  }

  /** Forgets the files. */
  void close() {
    try {
      files.close();
    } catch (IOException e) {
      throw Spool.unwritten(folder, e);
    }
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
