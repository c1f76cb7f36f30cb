package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.tensor.Computation;
import dev.tern.tensor.StepTime;
import java.util.List;

/** A training step for batches of one size: {@link #find}, then {@link #update}. */
sealed interface BatchStep extends AutoCloseable permits TrainStep, LanedStep {
  /** Whether it is for batches of so many rows, and sequences with room for so many elements. */
  boolean isFor(int rows, List<Integer> ofSequences);

  /**
   * Looks the rows of {@code batch} up. The batch stays as it is until {@link #update} is done.
   *
   * @param rows those of {@code batch}, then those of items that were drawn for it
   * @param noise seed of dropout in this step
   * @throws IllegalArgumentException if a label is missing, or its loss does not accept it
   */
  void find(Batch batch, Batch rows, long noise);

  /** Trains on the batch that was found last; returns its mean loss before the update. */
  float update(long step, float tableRate);

  /** What computes gradients, without looking rows up and updating them. */
  Computation computation();

  /** Time of each part of the step so far. */
  List<StepTime> times();

  /** The logits of the last run, of each row one a task; valid until the next. */
  float[] logits();

  @Override
  void close();
}
