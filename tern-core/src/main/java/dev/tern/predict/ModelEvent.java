package dev.tern.predict;

import java.nio.file.Path;
import java.time.Duration;

/** What happened to a {@link ServedModel}, for logs and counters. */
public sealed interface ModelEvent {
  /**
   * A new version serves.
   *
   * @param step its training step
   * @param how how it came into memory
   * @param took from the moment when its checkpoint was found and checked
   */
  record Loaded(long step, How how, Duration took) implements ModelEvent {}

  /** How a version came into memory. */
  enum How {
    /** As a whole, beside the one before. */
    WHOLE,
    /** A full checkpoint, of which only what differed from the version before. */
    DIFFERENCE,
    /** The changes of a checkpoint of changes. */
    CHANGES
  }

  /**
   * A checkpoint does not serve: it is damaged, incomplete, out of order, too large, has weights
   * that are not finite, or moves predictions too far. The version before goes on serving. Comes
   * once for each.
   *
   * @param checkpoint its folder
   */
  record Refused(Path checkpoint, String reason) implements ModelEvent {}

  /**
   * An earlier version serves again, and none follows until {@link ServedModel#goOn}.
   *
   * @param step its training step
   * @param from the step that served before
   */
  record RolledBack(long step, long from) implements ModelEvent {}
}
