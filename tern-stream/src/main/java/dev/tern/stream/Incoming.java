package dev.tern.stream;

import dev.tern.base.DataException;
import dev.tern.checkpoint.CheckpointFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
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
   */
  void copy(Path from) {
    CheckpointFiles source = CheckpointFiles.read(from);
    try {
      SharedFolder.copy(source, folder);
    } catch (IOException e) {
      throw new DataException(
          from + ": got an error copying it (" + DataException.reason(e) + ")", e);
    }
    copied.addAll(source.names());
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
