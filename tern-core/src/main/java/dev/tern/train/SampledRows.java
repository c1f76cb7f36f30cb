package dev.tern.train;

import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import dev.tern.model.Network;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Batches with drawn items behind their rows, for a model that learns from such negatives ({@link
 * dev.tern.model.RetrievalModel#sampled}). What is drawn for a step depends on the seed, the number
 * of the step and the batches before it, so a batch that is taken ahead of its turn has the same.
 */
final class SampledRows {
  /** Tells the draws of a step from its other random numbers. */
  private static final long DRAWS = 0x2545_F491_4F6C_DD1DL;

  private final Network network;
  private final long seed;

  // Made at the first use: most models need none.
  private @Nullable Batch current;
  private @Nullable Batch next;

  /** The batch whose rows {@link #next} has. */
  private @Nullable Batch ahead;

  SampledRows(Network network, long seed) {
    this.network = network;
    this.seed = seed;
  }

  /** The rows of {@code batch} for this step; {@code batch} itself where nothing is drawn. */
  Batch of(Batch batch, long step) {
    if (network.sampledItems() == 0) {
      return batch;
    }
    boolean wasAhead = ahead == batch;
    ahead = null;
    if (wasAhead) {
      Batch before = current;
      current = next;
      next = before;
    } else {
      current = drawn(batch, current, step);
    }
    return Objects.requireNonNull(current);
  }

  /**
   * The same for the next step, whose batch stays as it is until {@link #of} or {@link #forget}.
   */
  Batch ahead(Batch batch, long step) {
    if (network.sampledItems() == 0) {
      return batch;
    }
    Batch rows = drawn(batch, next, step);
    next = rows;
    ahead = batch;
    return rows;
  }

  /** Forgets the batch of {@link #ahead}. */
  void forget() {
    ahead = null;
  }

  private Batch drawn(Batch batch, @Nullable Batch room, long step) {
    Batch to =
        room == null ? new Batch(batch.schema(), batch.size() + network.sampledItems()) : room;
    network.sampleItems(batch, to, SplitMix64.mix(seed + step ^ DRAWS));
    return to;
  }
}
