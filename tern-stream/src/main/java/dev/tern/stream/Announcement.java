package dev.tern.stream;

import java.util.Optional;

/**
 * What each record of a checkpoint says about the checkpoint.
 *
 * @param run the run that wrote it
 * @param number counts the checkpoints of the topic from 1, with those that were not sent to their
 *     end
 * @param kind how it comes
 * @param step training steps of the model
 * @param hash SHA-256 of its manifest, in hexadecimal
 * @param after the same of the checkpoint that it has the changes to; empty for a full one
 * @param content its size
 * @param takesOver the run that this one follows in the topic; empty within a run
 */
record Announcement(
    String run,
    long number,
    Kind kind,
    long step,
    String hash,
    Optional<String> after,
    Content content,
    Optional<String> takesOver) {
  /** How a checkpoint comes. */
  enum Kind {
    /** A full checkpoint, in the records. */
    FULL,
    /** Changes, in the records. */
    DELTA,
    /** A full checkpoint, in a shared folder of which the record has the name. */
    FOLDER;

    boolean isFull() {
      return this != DELTA;
    }
  }

  /** The size of a checkpoint in the topic. */
  record Content(long bytes, int chunks) {}

  /** The name of its folder. */
  String name() {
    return kind == Kind.DELTA ? "step-" + step + ".delta" : "step-" + step;
  }
}
