package dev.tern.predict;

import dev.tern.checkpoint.CheckpointWatch.Follow;
import java.util.Optional;

/**
 * How a {@link ServedModel} computes and takes updates.
 *
 * @param scoring how it computes
 * @param follow which checkpoint of the run it serves
 * @param memory hard limit of off-heap memory, in bytes: tables, the changes on their way into
 *     them, what undoes the last ones, dense weights of all these, working memory of calls. A full
 *     checkpoint that shares too little with the model in memory needs room for a second model
 * @param deltaMemory the most bytes of the files of a checkpoint of changes; a larger one, and what
 *     follows it, is left out until the next full checkpoint
 * @param undo updates that can be taken back, 0 or more; each takes about as much memory as its
 *     checkpoint of changes has in files
 * @param maxShift the most that an update may move the mean prediction of the rows scored last, of
 *     any task; an update beyond is refused. Infinite for no limit
 * @param candidates reads the items that versions of a model of two towers find the best of; their
 *     vectors lie in {@code memory}, twice while an update comes
 */
public record ServedOptions(
    ScoreOptions scoring,
    Follow follow,
    long memory,
    long deltaMemory,
    int undo,
    double maxShift,
    Optional<Candidates.Source> candidates) {
  /** The latest checkpoint; the last three updates can be taken back; no limits. */
  public static final ServedOptions DEFAULT =
      new ServedOptions(
          ScoreOptions.DEFAULT,
          Follow.LATEST,
          Long.MAX_VALUE,
          Long.MAX_VALUE,
          3,
          Double.POSITIVE_INFINITY,
          Optional.empty());

  /** Checks the numbers. */
  public ServedOptions {
    if (memory < 1 || deltaMemory < 0 || undo < 0 || !(maxShift > 0)) {
      throw new IllegalArgumentException(
          "served model: got memory %d, deltaMemory %d, undo %d, maxShift %s; expected 1 or more, 0 or more, 0 or more, above 0"
              .formatted(memory, deltaMemory, undo, maxShift));
    }
  }

  /** The same, computing otherwise. */
  public ServedOptions withScoring(ScoreOptions options) {
    return new ServedOptions(options, follow, memory, deltaMemory, undo, maxShift, candidates);
  }

  /** The same, serving another checkpoint of the run. */
  public ServedOptions withFollow(Follow which) {
    return new ServedOptions(scoring, which, memory, deltaMemory, undo, maxShift, candidates);
  }

  /** The same with another limit of memory. */
  public ServedOptions withMemory(long bytes) {
    return new ServedOptions(scoring, follow, bytes, deltaMemory, undo, maxShift, candidates);
  }

  /** The same with another limit for checkpoints of changes. */
  public ServedOptions withDeltaMemory(long bytes) {
    return new ServedOptions(scoring, follow, memory, bytes, undo, maxShift, candidates);
  }

  /** The same with another number of updates that can be taken back. */
  public ServedOptions withUndo(int updates) {
    return new ServedOptions(scoring, follow, memory, deltaMemory, updates, maxShift, candidates);
  }

  /** The same with another limit for the mean prediction. */
  public ServedOptions withMaxShift(double most) {
    return new ServedOptions(scoring, follow, memory, deltaMemory, undo, most, candidates);
  }

  /** The same with items to find the best of. */
  public ServedOptions withCandidates(Candidates.Source source) {
    return new ServedOptions(
        scoring, follow, memory, deltaMemory, undo, maxShift, Optional.of(source));
  }
}
