package dev.tern.data.readers;

import dev.tern.base.SplitMix64;
import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import java.util.Optional;

/** See {@link Readers#shuffled}. */
final class ShuffledReader extends DerivedReader {
  private static final int MAX_BATCH = 4096;

  private final RowCursor cursor;
  private final int blockRows;
  private final long seed;
  private final BatchPool pool;
  private final int[] order;
  private Batch current;
  private Batch following;

  /** Number of the current block in the pass; -1 before the first. */
  private long block = -1;

  /** Rows of the current block handed out or skipped. */
  private int at;

  /** Whether the source has no rows beyond the following block. */
  private boolean ended;

  ShuffledReader(DataReader source, int blockRows, long seed) {
    super(source);
    this.blockRows = blockRows;
    this.seed = seed;
    cursor = new RowCursor(source);
    pool = new BatchPool(source.schema(), Math.min(MAX_BATCH, blockRows));
    order = new int[blockRows];
    int capacity = Math.min(blockRows, 1 << 16);
    current = new Batch(source.schema(), capacity);
    following = new Batch(source.schema(), capacity);
  }

  @Override
  protected Optional<Batch> read() {
    if (at == current.size() && !enterNextBlock()) {
      return Optional.empty();
    }
    int count = Math.min(MAX_BATCH, current.size() - at);
    readAhead(count);
    Batch batch = pool.take();
    batch.gatherRows(current, order, at, at + count);
    at += count;
    return Optional.of(batch);
  }

  private void readAhead(int rows) {
    int wanted = Math.min(rows, blockRows - following.size());
    if (!ended && cursor.fill(following, wanted) < wanted) {
      ended = true;
    }
  }

  /** Makes the following block the current one; false at the end of the pass. */
  private boolean enterNextBlock() {
    readAhead(blockRows);
    Batch emptied = current;
    current = following;
    following = emptied;
    following.clear();
    at = 0;
    block++;
    drawOrder();
    return current.size() > 0;
  }

  /** Draws the order of a block by Fisher-Yates with SplitMix64, seeded by (seed, epoch, block). */
  private void drawOrder() {
    int rows = current.size();
    for (int i = 0; i < rows; i++) {
      order[i] = i;
    }
    long state = SplitMix64.mix(SplitMix64.mix(SplitMix64.mix(seed) + epoch()) + block);
    for (int i = rows - 1; i > 0; i--) {
      state += SplitMix64.GAMMA;
      int j = (int) SplitMix64.bounded(state, i + 1);
      int row = order[i];
      order[i] = order[j];
      order[j] = row;
    }
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    cursor.start(epoch, order);
    current.clear();
    following.clear();
    block = -1;
    at = 0;
    ended = false;
  }

  /** Skips whole blocks in the source. */
  @Override
  protected long pass(long rows) {
    long left = rows;
    while (left > 0) {
      int rest = current.size() - at;
      if (rest > 0) {
        int count = (int) Math.min(left, rest);
        at += count;
        left -= count;
      } else if (left >= blockRows && following.size() == 0 && !ended) {
        long skipped = cursor.skip(blockRows);
        left -= skipped;
        block++;
        ended = skipped < blockRows;
      } else if (!enterNextBlock()) {
        break;
      }
    }
    return rows - left;
  }

  @Override
  protected void release() {
    cursor.close();
  }
}
