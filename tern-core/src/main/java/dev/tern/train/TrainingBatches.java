package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The batches that a run trains on, epoch by epoch: shuffled, encoded and read ahead. {@link
 * Trainer#batches} makes them.
 *
 * <p>Each loop over them gives the rest of the trainer's current epoch. It begins after the rows
 * that the trainer has trained on, so a loop that was left early, in this process or in one before,
 * goes on where it stopped. Behind the last batch the trainer's epoch ends. A batch is valid until
 * the loop asks for the next one.
 *
 * <pre>{@code
 * while (trainer.epoch() < 3) {
 *   for (Batch batch : batches) {
 *     trainer.step(batch);
 *   }
 * }
 * }</pre>
 *
 * <p>One thread, the trainer's.
 */
public final class TrainingBatches implements Iterable<Batch>, AutoCloseable {
  private final DataReader reader;
  private final Trainer trainer;
  private @Nullable Epoch current;

  /** The batch that was given last, still open. */
  private Optional<Batch> given = Optional.empty();

  /** A batch that was taken from the reader before its turn. */
  private Optional<Batch> next = Optional.empty();

  TrainingBatches(DataReader reader, Trainer trainer) {
    this.reader = reader;
    this.trainer = trainer;
  }

  /**
   * The batches of the current epoch that the trainer has not trained on.
   *
   * @throws IllegalStateException if the data have fewer rows than the trainer has trained on in
   *     this epoch
   */
  @Override
  public Iterator<Batch> iterator() {
    release();
    reader.start(trainer.epoch());
    long rows = trainer.rows();
    long skipped = rows == 0 ? 0 : reader.skip(rows);
    if (skipped < rows) {
      throw new IllegalStateException(
          "resume: got %s rows, expected at least %s in an epoch; give the data that the checkpoint was trained on"
              .formatted(skipped, rows));
    }
    current = new Epoch();
    return current;
  }

  /** Takes the next batch, once, if it was read by now: nobody waits for it. */
  Optional<Batch> takeReady() {
    if (current == null || next.isPresent() || !reader.isReady()) {
      return Optional.empty();
    }
    next = reader.next();
    return next;
  }

  /** Whether the next batch was read by now, for tests. */
  boolean isReady() {
    return reader.isReady();
  }

  /** Nanoseconds that the trainer has waited for rows so far. */
  long waitedNanos() {
    return reader.waitedNanos();
  }

  private void release() {
    current = null;
    trainer.forgetAhead();
    given.ifPresent(Batch::close);
    next.ifPresent(Batch::close);
    given = Optional.empty();
    next = Optional.empty();
  }

  /** Closes the reader, and batches that are open. */
  @Override
  public void close() {
    release();
    reader.close();
    trainer.leave(this);
  }

  private final class Epoch implements Iterator<Batch> {
    /** Rows that the trainer will have trained on in this epoch once it knows the given batch. */
    private long rows = trainer.rows();

    private boolean ended;

    @Override
    public boolean hasNext() {
      if (current != this) {
        throw new IllegalStateException(
            "training batches: got a call of a loop that another one, or close, has ended");
      }
      given.ifPresent(this::giveBack);
      if (next.isEmpty() && !ended) {
        next = reader.next();
        if (next.isEmpty()) {
          ended = true;
          trainer.endEpoch();
        }
      }
      return next.isPresent();
    }

    private void giveBack(Batch batch) {
      if (trainer.rows() != rows) {
        throw new IllegalStateException(
            ("training batches: got %s rows trained on in this epoch, expected %s, one step for"
                 + " each batch: a checkpoint counts rows; filter the reader's rows to leave some"
                 + " out")
                .formatted(trainer.rows(), rows));
      }
      batch.close();
      given = Optional.empty();
    }

    @Override
    public Batch next() {
      if (!hasNext()) {
        throw new NoSuchElementException("training batches: got a call behind the last batch");
      }
      given = next;
      next = Optional.empty();
      rows += given.orElseThrow().size();
      return given.orElseThrow();
    }
  }
}
