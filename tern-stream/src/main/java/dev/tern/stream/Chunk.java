package dev.tern.stream;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * One record of a checkpoint.
 *
 * @param offset its place in the topic
 * @param of the checkpoint
 * @param index its number among the records of the checkpoint, from 0
 * @param start the offset of the first of them
 * @param full the offset of the first record of the last full checkpoint before this one that was
 *     sent to its end; -1 if there is none
 * @param sha256 of the content of all records, in the last one; else empty
 * @param content its part of the content
 */
record Chunk(
    long offset,
    Announcement of,
    int index,
    long start,
    long full,
    Optional<String> sha256,
    ByteBuffer content) {
  /** No offset. */
  static final long NOWHERE = -1;

  boolean isLast() {
    return index == of.content().chunks() - 1;
  }

  /** Where who knows nothing begins to read, if this is the last record; negative for nowhere. */
  long beginning() {
    boolean isWhole = of.kind().isFull() && isLast();
    return isWhole ? start : full;
  }
}
