package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** See {@link Readers#interleaved}. */
final class InterleavedReader extends PositionedReader {
  private static final int BATCH = 1024;

  private final List<DataReader> sources;
  private final RowCursor[] cursors;
  private final int turnRows;
  private final BatchPool pool;

  /** Which sources are at their end in this pass, and how many are not. */
  private final boolean[] ended;

  private int left;

  /** The source whose turn it is, and rows taken from it in this turn. */
  private int turn;

  private int taken;

  InterleavedReader(List<DataReader> sources, int turnRows) {
    this.sources = SourceReaders.sameRows("interleave", sources);
    this.turnRows = turnRows;
    cursors = sources.stream().map(RowCursor::new).toArray(RowCursor[]::new);
    ended = new boolean[cursors.length];
    left = cursors.length;
    pool = new BatchPool(schema(), BATCH);
  }

  @Override
  public Schema schema() {
    return sources.get(0).schema();
  }

  @Override
  protected Optional<Batch> read() {
    Batch batch = pool.take();
    try {
      while (batch.size() < BATCH && left > 0) {
        int wanted = Math.min(turnRows - taken, BATCH - batch.size());
        advance(wanted, cursors[turn].fill(batch, wanted));
      }
    } catch (Throwable e) {
      batch.close();
      throw e;
    }
    if (batch.size() == 0) {
      batch.close();
      return Optional.empty();
    }
    return Optional.of(batch);
  }

  /** Notes that of {@code wanted} rows of the source at hand there were {@code got}. */
  private void advance(long wanted, long got) {
    taken += (int) got;
    if (got < wanted) {
      ended[turn] = true;
      left--;
    }
    if (got < wanted || taken == turnRows) {
      taken = 0;
      do {
        turn = (turn + 1) % cursors.length;
      } while (ended[turn] && left > 0);
    }
  }

  @Override
  protected long pass(long rows) {
    long passed = 0;
    while (passed < rows && left > 0) {
      long wanted = Math.min(turnRows - taken, rows - passed);
      long got = cursors[turn].skip(wanted);
      passed += got;
      advance(wanted, got);
    }
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    Arrays.fill(ended, false);
    left = cursors.length;
    turn = 0;
    taken = 0;
    for (int i = 0; i < cursors.length; i++) {
      cursors[i].start(epoch, order.part(i));
    }
  }

  @Override
  protected PassOrder order() {
    return SourceReaders.order(sources);
  }

  @Override
  public OptionalLong rowCount() {
    return SourceReaders.rowCount(sources);
  }

  @Override
  protected void release() {
    for (RowCursor cursor : cursors) {
      cursor.drop();
    }
    SourceReaders.close(sources);
  }
}
