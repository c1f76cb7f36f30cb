package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.PositionedReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import dev.tern.data.readers.MapThreads.Piece;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * See {@link Readers#mapped(DataReader, Schema, BatchMap, int)} and {@link
 * Readers#mappedUnordered}. The consumer's thread reads the source and copies its batches, so that
 * neither needs locks; only the map runs on other threads.
 *
 * <p>Unordered, batches are numbered by {@code size} rows from the start of the pass, and a log
 * says which was given when: its rank among those at work. Restored with a log, the reader waits
 * for the batches that it names, so the rows below any decorator come as they came before.
 */
final class ParallelMapReader extends PositionedReader {
  /** Batches passed over at a time: bounds what a skip of all there is notes of each. */
  private static final long MAX_PASSED = 1 << 16;

  private final DataReader source;
  private final CheckedMap map;
  private final MapThreads crew;
  private final BatchPool pool;

  /** Batches at work or ready, at most, unless the log asks for more. */
  private final int window;

  /** Rows of every batch but the last where batches come unordered; else 0. */
  private final int size;

  /** Batches at work or ready, the oldest first. */
  private final List<Piece> pieces = new ArrayList<>();

  /** For each batch given in this pass, how many older ones were at work; empty where ordered. */
  private final List<Integer> turns = new ArrayList<>();

  private List<Integer> recalled = List.of();
  private int epoch;

  /** Rows of the source read or skipped in this pass. */
  private long at;

  private boolean ended;

  /** What the source threw, due after the batches before it. */
  private @Nullable Throwable sourceFailure;

  /** What was thrown to the consumer, again and again until a start. */
  private @Nullable Throwable failure;

  private ParallelMapReader(DataReader source, Schema schema, BatchMap map, int threads, int size) {
    this.source = source;
    this.map = new CheckedMap(schema, map);
    this.size = size;
    window = Math.multiplyExact(2, threads);
    crew = new MapThreads(this.map, threads);
    pool = new BatchPool(source.schema(), 1024);
  }

  static DataReader ordered(DataReader source, Schema schema, BatchMap map, int threads) {
    return new ParallelMapReader(source, schema, map, threads, 0);
  }

  static DataReader unordered(
      DataReader source, Schema schema, BatchMap map, int threads, int size) {
    DataReader pieces = new BatchedReader(source, size, false);
    return new ParallelMapReader(pieces, schema, map, threads, size);
  }

  @Override
  public Schema schema() {
    return map.schema();
  }

  @Override
  protected Optional<Batch> read() {
    PrefetchedReader.rethrow(failure);
    readAhead(window);
    if (pieces.isEmpty()) {
      failure = sourceFailure;
      PrefetchedReader.rethrow(failure);
      return Optional.empty();
    }
    int turn = turn();
    try {
      Batch mapped = crew.await(pieces.get(turn));
      take(turn);
      return Optional.of(mapped);
    } catch (Throwable e) {
      failure = e;
      throw e;
    }
  }

  /** Has {@code count} batches at work, or all that are left. */
  private void readAhead(int count) {
    while (pieces.size() < count && !ended && sourceFailure == null) {
      try {
        readOne();
      } catch (Throwable e) {
        sourceFailure = e;
      }
    }
  }

  private void readOne() {
    Optional<Batch> next = source.next();
    if (next.isEmpty()) {
      ended = true;
      return;
    }
    try (Batch batch = next.get()) {
      Batch copy = pool.take();
      copy.appendRows(batch, 0, batch.size());
      Piece piece = new Piece(copy, epoch, at);
      at += batch.size();
      pieces.add(piece);
      crew.submit(piece);
    }
  }

  /** Which of the pieces, of which there are some, is given next. */
  private int turn() {
    if (size == 0) {
      return 0;
    }
    if (turns.size() >= recalled.size()) {
      return crew.awaitAny(pieces);
    }
    int turn = recalled.get(turns.size());
    readAhead(turn + 1);
    return Math.min(turn, pieces.size() - 1);
  }

  private Piece take(int turn) {
    if (size > 0) {
      turns.add(turn);
    }
    return pieces.remove(turn);
  }

  /** Gives up pieces that are skipped whole; once there are none, skips in the source. */
  @Override
  protected long pass(long rows) {
    long passed = 0;
    while (!pieces.isEmpty()) {
      int turn = turns.size() < recalled.size() ? turn() : 0;
      if (pieces.get(turn).rows() > rows - passed) {
        return passed;
      }
      Piece piece = take(turn);
      passed += piece.rows();
      crew.drop(piece);
    }
    if (ended || sourceFailure != null || failure != null) {
      return passed;
    }
    return passed + (size == 0 ? passSource(rows - passed) : passWhole(rows - passed));
  }

  private long passSource(long rows) {
    long passed = rows == 0 ? 0 : source.skip(rows);
    at += passed;
    return passed;
  }

  /** Skips whole batches, up to one before which all were given in any order. */
  private long passWhole(long rows) {
    int count = (int) Math.min(rows / size, MAX_PASSED);
    int whole = 0;
    int begun = 0;
    for (int given = 0; given < count; ) {
      begun = Math.max(begun, given + recalledTurn(given) + 1);
      given++;
      whole = begun == given ? given : whole;
    }
    long passed = passSource((long) whole * size);
    int given = (int) ((passed + size - 1) / size);
    for (int i = 0; i < given; i++) {
      turns.add(recalledTurn(0));
    }
    return passed;
  }

  /** The turn that is {@code ahead} after the next. */
  private int recalledTurn(int ahead) {
    int number = turns.size() + ahead;
    return number < recalled.size() ? recalled.get(number) : 0;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    pieces.forEach(crew::drop);
    pieces.clear();
    turns.clear();
    this.epoch = epoch;
    at = 0;
    ended = false;
    sourceFailure = null;
    failure = null;
    recalled = order.turns();
    PassOrder below = size == 0 ? order : order.part(0);
    source.restore(new ReaderState(epoch, 0, below));
  }

  @Override
  protected PassOrder order() {
    PassOrder below = source.state().order();
    if (size == 0) {
      return below;
    }
    return new PassOrder(turns, below.isFixed() ? List.of() : List.of(below));
  }

  @Override
  public OptionalLong rowCount() {
    return source.rowCount();
  }

  @Override
  protected void release() {
    crew.stop();
    pieces.forEach(crew::drop);
    source.close();
  }
}
