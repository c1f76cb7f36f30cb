package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.embedding.BatchLookup;
import java.util.Optional;

/**
 * Gives the batches of a pass, and has the next one looked up ahead while one computes, if it was
 * read by then: nobody waits for it early. At {@link #close} one that was taken ahead goes back.
 */
final class NextBatch implements Runnable, AutoCloseable {
  private final DataReader batches;
  private final BatchLookup lookup;
  private Optional<Batch> ahead = Optional.empty();

  NextBatch(DataReader batches, BatchLookup lookup) {
    this.batches = batches;
    this.lookup = lookup;
  }

  /** The next batch, empty at the end of the pass; the caller's until closed. */
  Optional<Batch> take() {
    Optional<Batch> next = ahead.isPresent() ? ahead : batches.next();
    ahead = Optional.empty();
    return next;
  }

  /** Has the next batch looked up, once, if it is there; the rows of the one before were found. */
  @Override
  public void run() {
    if (ahead.isEmpty() && batches.isReady()) {
      ahead = batches.next();
      ahead.ifPresent(lookup::lookAhead);
    }
  }

  @Override
  public void close() {
    lookup.forgetAhead();
    ahead.ifPresent(Batch::close);
    ahead = Optional.empty();
  }
}
