package dev.tern.predict;

import dev.tern.checkpoint.CheckpointMark;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.ColumnCounts;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.Task;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A served model at one training step, which never changes: whatever it scores between {@link
 * ServedModel#pin} and {@link #close} comes from this step alone, to the bit as a {@link Predictor}
 * of this step's checkpoint gives it. Thread-safe. The methods are those of {@link Predictor}.
 */
public final class ModelVersion implements AutoCloseable {
  private static final int LIVE = 1;
  private static final int PIN = 2;

  private final ModelState state;
  private final Predictor predictor;
  private final RecentRows recent;
  private final Optional<ItemFinder> items;

  /**
   * {@link #PIN} for each pin, and {@link #LIVE} until the version is retired. At 0 nobody uses it,
   * nor ever will.
   */
  private final AtomicInteger holds = new AtomicInteger(LIVE);

  ModelVersion(
      ModelState state, Predictor predictor, RecentRows recent, Optional<ItemFinder> items) {
    this.items = items;
    this.state = state;
    this.predictor = predictor;
    this.recent = recent;
  }

  /** Training steps of the model. */
  public long step() {
    return state.mark().step();
  }

  /** What tells its checkpoint from all others. */
  public CheckpointMark mark() {
    return state.mark();
  }

  /** {@link Predictor#encoder}. */
  public FeatureEncoder encoder() {
    return predictor.encoder();
  }

  /** {@link Predictor#schema}. */
  public Schema schema() {
    return predictor.schema();
  }

  /** {@link Predictor#tasks}. */
  public List<Task> tasks() {
    return predictor.tasks();
  }

  /** {@link Predictor#hasOwnLoss}. */
  public boolean hasOwnLoss() {
    return predictor.hasOwnLoss();
  }

  /** {@link Predictor#score(Map)}. */
  public float score(Map<String, ?> row) {
    float score = predictor.score(row);
    recent.offer(row, encoder());
    return score;
  }

  /** {@link Predictor#scores(Map)}. */
  public float[] scores(Map<String, ?> row) {
    float[] scores = predictor.scores(row);
    recent.offer(row, encoder());
    return scores;
  }

  /** {@link Predictor#score(Batch)}. */
  public float[] score(Batch rows) {
    float[] scores = predictor.score(rows);
    recent.offer(rows);
    return scores;
  }

  /** {@link Predictor#score(Batch, ColumnCounts)}. */
  public float[] score(Batch rows, ColumnCounts counts) {
    float[] scores = predictor.score(rows, counts);
    recent.offer(rows);
    return scores;
  }

  /** {@link Predictor#score(Batch, float[], ColumnCounts)}. */
  public void score(Batch rows, float[] target, ColumnCounts counts) {
    predictor.score(rows, target, counts);
    recent.offer(rows);
  }

  /** {@link Predictor#score(Batch, float[])}. */
  public void score(Batch rows, float[] target) {
    predictor.score(rows, target);
    recent.offer(rows);
  }

  /** {@link Predictor#logits(Batch, float[])}. */
  public void logits(Batch rows, float[] target) {
    predictor.logits(rows, target);
    recent.offer(rows);
  }

  /** {@link Predictor#logits(Batch, float[], ColumnCounts)}. */
  public void logits(Batch rows, float[] target, ColumnCounts counts) {
    predictor.logits(rows, target, counts);
    recent.offer(rows);
  }

  /** Finds the best items for users, where the model was opened with candidates. */
  public Optional<ItemFinder> items() {
    return items;
  }

  /**
   * Gives the pin back: once for each {@link ServedModel#pin}, from any thread. Whoever gave it
   * back does not score with it any more: its memory may be another version's.
   */
  @Override
  public void close() {
    int before = holds.get();
    while (before >= PIN) {
      int seen = holds.compareAndExchange(before, before - PIN);
      if (seen == before) {
        return;
      }
      before = seen;
    }
    throw new IllegalStateException(
        "version %d: got more pins back than were taken; close each once".formatted(step()));
  }

  /** Pins it; false if it is retired and no longer held. */
  boolean pinned() {
    int before = holds.get();
    while (before > 0) {
      int seen = holds.compareAndExchange(before, before + PIN);
      if (seen == before) {
        return true;
      }
      before = seen;
    }
    return false;
  }

  /** From now on it is only held by pins. */
  void retire() {
    holds.addAndGet(-LIVE);
  }

  /** Whether it is retired and nobody has it pinned. */
  boolean isDrained() {
    return holds.get() == 0;
  }

  ModelState state() {
    return state;
  }

  Predictor predictor() {
    return predictor;
  }

  /** Makes the working memory of all calls that may run at once. */
  void prepare() {
    predictor.prepare();
    items.ifPresent(ItemFinder::prepare);
  }

  /** Frees the vectors of items; no call may be under way. */
  void release() {
    items.ifPresent(ItemFinder::close);
  }
}
