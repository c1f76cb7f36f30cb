package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** See {@link Readers#interleaved}. */
final class InterleavedReader extends JoinedReader {
  private static final int BATCH = 1024;

  private final int turnRows;
  private final BatchPool pool;

  /** The sources that have not ended in this pass. */
  private final List<RowCursor> left = new ArrayList<>();

  /** The place in {@code left} of the source whose turn it is, and the rows taken in this turn. */
  private int turn;

  private int taken;

  InterleavedReader(List<DataReader> sources, int turnRows) {
    super("interleave", requireSameRows("interleave", sources));
    this.turnRows = turnRows;
    left.addAll(List.of(cursors));
    pool = new BatchPool(schema(), BATCH);
  }

  @Override
  protected Optional<Batch> read() {
    return readFrom(pool);
  }

  @Override
  protected boolean readInto(Batch target) {
    while (target.size() < BATCH && !left.isEmpty()) {
      int wanted = Math.min(turnRows - taken, BATCH - target.size());
      advance(wanted, left.get(turn).fill(target, wanted));
    }
    return target.size() > 0;
  }

  /** Notes that the current source gave {@code got} of {@code wanted} rows. */
  private void advance(long wanted, long got) {
    taken += (int) got;
    boolean ends = got < wanted;
    if (ends) {
      left.remove(turn);
    } else if (taken == turnRows) {
      turn++;
    }
    if (ends || taken == turnRows) {
      taken = 0;
      turn = turn < left.size() ? turn : 0;
    }
  }

  @Override
  protected long pass(long rows) {
    long passed = 0;
    while (passed < rows && !left.isEmpty()) {
      long wanted = Math.min(turnRows - taken, rows - passed);
      long got = left.get(turn).skip(wanted);
      passed += got;
      advance(wanted, got);
    }
    return passed;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    left.clear();
    left.addAll(List.of(cursors));
    turn = 0;
    taken = 0;
    super.begin(epoch, order);
  }
}
