package dev.tern.stream;

import java.nio.file.Path;
import java.util.Optional;

/**
 * How a topic is brought into a folder.
 *
 * @param spool the folder, which this alone writes; what is there after a restart is used again
 * @param most bytes of the files of checkpoints there; while a full one comes, those before it stay
 *     beside it
 * @param full the shared folder with full checkpoints, where the publisher has one
 */
public record FollowOptions(Path spool, long most, Optional<Path> full) {
  /** A folder, without a limit, for full checkpoints that come over the topic. */
  public static FollowOptions of(Path spool) {
    return new FollowOptions(spool, Long.MAX_VALUE, Optional.empty());
  }
}
