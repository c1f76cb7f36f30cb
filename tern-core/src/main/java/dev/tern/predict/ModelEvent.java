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
   * @param read what was read
   */
  record Loaded(long step, How how, Duration took, Read read) implements ModelEvent {}

  /**
   * What a version came from.
   *
   * @param checkpoint its folder, which may be gone by now
   * @param rows ids of tables that came, changed or went; 0 of a model that was read as a whole
   */
  record Read(Path checkpoint, long rows) {}

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
