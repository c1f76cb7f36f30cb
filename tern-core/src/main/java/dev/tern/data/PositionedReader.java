package dev.tern.data;

import dev.tern.base.DataException;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The base class of readers. It counts rows, keeps the rest of a batch after a skip, and refuses
 * calls after close. A reader implements {@link #read}, {@link #begin} and {@link #release}.
 */
public abstract class PositionedReader implements DataReader {
  private int epoch;
  private long rows;

  /** A batch whose rows before {@code heldAt} were skipped. */
  private @Nullable Batch held;

  private int heldAt;
  private boolean closed;

  /** The next rows, at least one; empty at the end of the pass, also when called again. */
  protected abstract Optional<Batch> read();

  /** Goes to the first row of pass {@code epoch}, whose rows are to come in {@code order}. */
  protected abstract void begin(int epoch, PassOrder order);

  /** Releases files and threads; called once. */
  protected abstract void release();

  /**
   * Skips at most {@code rows} rows, as many as possible without reading them. The rest is skipped
   * by reading.
   *
   * @param rows 1 or more
   * @return rows skipped, 0 or more
   */
  protected long pass(long rows) {
    return 0;
  }

  /** The order of this pass so far. A reader over others returns their orders. */
  protected PassOrder order() {
    return PassOrder.FIXED;
  }

  /** The current pass, counted from 0. */
  protected final int epoch() {
    return epoch;
  }

  @Override
  public final Optional<Batch> next() {
    requireOpen();
    return counted(held == null ? read() : Optional.of(takeHeld()));
  }

  private Optional<Batch> counted(Optional<Batch> next) {
    if (next.isPresent()) {
      rows += next.get().size();
    }
    return next;
  }

  @Override
  public final boolean nextInto(Batch target) {
    requireOpen();
    boolean any = held == null ? readInto(target) : append(Optional.of(takeHeld()), target);
    rows += any ? target.size() : 0;
    return any;
  }

  /**
   * As {@link #read}, but into an empty batch. To be overridden by readers that can write there.
   */
  protected boolean readInto(Batch target) {
    return append(readView(), target);
  }

  @Override
  public final Optional<Batch> nextView() {
    requireOpen();
    return counted(held == null ? readView() : Optional.of(takeHeld()));
  }

  /** As {@link #read}, for a caller that only reads. To be overridden by readers that keep rows. */
  protected Optional<Batch> readView() {
    return read();
  }

  /** Appends a lent batch to {@code target} and closes it; false if there is none. */
  static boolean append(Optional<Batch> lent, Batch target) {
    if (lent.isEmpty()) {
      return false;
    }
    try (Batch batch = lent.get()) {
      target.appendRows(batch, 0, batch.size());
    }
    return true;
  }

  /** A batch of {@code pool}, filled by {@link #readInto}; empty at the end of the pass. */
  protected final Optional<Batch> readFrom(BatchPool pool) {
    Batch batch = pool.take();
    try {
      if (readInto(batch)) {
        return Optional.of(batch);
      }
    } catch (Throwable e) {
      batch.close();
      throw e;
    }
    batch.close();
    return Optional.empty();
  }

  @Override
  public final long skip(long count) {
    requireOpen();
    if (count < 0) {
      throw new IllegalArgumentException("skip: got " + count + " rows, expected 0 or more");
    }
    long left = count - skipHeld(count);
    while (left > 0) {
      left -= pass(left);
      if (left > 0) {
        Optional<Batch> next = read();
        if (next.isEmpty()) {
          break;
        }
        held = next.get();
        heldAt = 0;
        left -= skipHeld(left);
      }
    }
    rows += count - left;
    return count - left;
  }

  @Override
  public final ReaderState state() {
    requireOpen();
    return new ReaderState(epoch, rows, order());
  }

  @Override
  public final void restore(ReaderState state) {
    requireOpen();
    dropHeld();
    epoch = state.epoch();
    rows = 0;
    begin(epoch, state.order());
    if (skip(state.rows()) < state.rows()) {
      throw new DataException(
          "resume: got %d rows in pass %d, expected at least %d; give the data that were read before"
              .formatted(rows, epoch, state.rows()));
    }
  }

  @Override
  public final void close() {
    if (!closed) {
      closed = true;
      dropHeld();
      release();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("data: got a call after close; open a new reader");
    }
  }

  private Batch takeHeld() {
    Batch batch = Objects.requireNonNull(held);
    Batch rest = new Batch(batch.schema(), batch.size() - heldAt);
    rest.appendRows(batch, heldAt, batch.size());
    dropHeld();
    return rest;
  }

  private int skipHeld(long count) {
    Batch batch = held;
    if (batch == null) {
      return 0;
    }
    int skipped = (int) Math.min(count, batch.size() - heldAt);
    heldAt += skipped;
    if (heldAt == batch.size()) {
      dropHeld();
    }
    return skipped;
  }

  private void dropHeld() {
    Batch batch = held;
    if (batch != null) {
      held = null;
      batch.close();
    }
  }
}
