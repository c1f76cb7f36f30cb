package dev.tern.cli.board;

import java.util.Locale;

/** What lines of {@code metrics.jsonl} say about a task, and about the run. */
enum Figure {
  LOSS,
  AUC,
  R2,
  CALIBRATION,
  ECE,
  GAUC,
  RECALL,
  SPEED,
  WAITING,
  MEMORY,
  ROWS,
  TABLE_BYTES,
  HIT_RATE;

  /** Whether each task has its own. */
  boolean isOfTask() {
    return ordinal() <= RECALL.ordinal();
  }

  /** As the page knows it. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
