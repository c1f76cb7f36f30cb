package dev.tern.stream;

import dev.tern.base.Shown;
import java.nio.file.Path;
import java.util.Optional;

/**
 * How a run is published.
 *
 * @param run what it is called in the topic: 1 to 64 of {@code A-Z a-z 0-9 . _ -}
 * @param chunk the most bytes of a record, without what the topic adds; less where the topic takes
 *     less
 * @param full a folder that followers reach as well, which full checkpoints are copied to; without
 *     one they go over the topic
 * @param takeOver whether it may follow another run in the topic
 * @param create whether to make the topic, if it is not there
 */
public record PublishOptions(
    String run, int chunk, Optional<Path> full, boolean takeOver, boolean create) {
  /** Below what brokers take where nobody says more: 1 MiB. */
  public static final int DEFAULT_CHUNK = 900 << 10;

  private static final int LEAST_CHUNK = 1 << 10;
  private static final int MOST_CHUNK = 16 << 20;

  /** Checks the values. */
  public PublishOptions {
    if (!Heads.isRun(run)) {
      throw new IllegalArgumentException(
          "run: got %s, expected 1 to 64 of A-Z a-z 0-9 . _ -; name it with --run"
              .formatted(Shown.quoted(run)));
    }
    if (chunk < LEAST_CHUNK || chunk > MOST_CHUNK) {
      throw new IllegalArgumentException(
          "chunk: got %d bytes, expected %d to %d".formatted(chunk, LEAST_CHUNK, MOST_CHUNK));
    }
  }

  /** Full checkpoints over the topic, by a run that the topic is for. */
  public static PublishOptions of(String run) {
    return new PublishOptions(run, DEFAULT_CHUNK, Optional.empty(), false, false);
  }
}
