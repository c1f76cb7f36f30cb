package dev.tern.data.readers;

import dev.tern.data.Batch;
import dev.tern.data.BatchPool;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadPoolExecutor;
import org.jspecify.annotations.Nullable;

/**
 * See {@link Readers#mapped(DataReader, Schema, BatchMap, int)} and {@link
 * Readers#mappedUnordered}. The consumer's thread reads the source and copies its batches, so that
 * neither needs locks; only the map runs on other threads.
 *
 * <p>The unordered form counts batches of {@code size} rows from the start of the pass. A log notes
 * for each batch given its rank among the batches at work. A reader that is restored with a log
 * waits for the batches that the log names, so that every decorator above gets the same rows again.
 */
final class ParallelMapReader extends DerivedReader {
  /** A batch at work or ready: its rows, the task that maps them, and what comes of it. */
  private record Piece(Batch raw, int rows, Runnable task, CompletableFuture<Batch> mapped) {}

  /** Most batches that are skipped at a time, which bounds the memory of a long skip. */
  private static final long MAX_PASSED = 1 << 16;

  private final CheckedMap map;
  private final ThreadPoolExecutor crew;
  private final BatchPool pool;

  /** Most batches at work or ready, unless the log needs more. */
  private final int window;

  /** Rows of each batch except the last in the unordered form; 0 in the ordered one. */
  private final int size;

  /** Batches at work or ready, the oldest first. */
  private final List<Piece> pieces = new ArrayList<>();

  /** The log: for each batch given, the number of older ones at work; empty if ordered. */
  private final List<Integer> turns = new ArrayList<>();

  private List<Integer> recalled = List.of();

  /** Rows of the source read or skipped in this pass. */
  private long at;

  private boolean ended;

  /** The failure of the source, to be thrown after the batches before it. */
  private @Nullable Throwable sourceFailure;

  /** The failure of the map that was thrown; each call throws it again until a start. */
  private @Nullable Throwable failure;

  /**
   * @param source for the unordered form with batches of {@code size} rows
   * @param size rows of a batch for the unordered form; 0 for the ordered one
   */
  ParallelMapReader(DataReader source, Schema schema, BatchMap map, int threads, int size) {
    super(source);
    this.map = new CheckedMap(schema, map);
    this.size = size;
    window = Math.multiplyExact(2, threads);
    crew = PrefetchedReader.crew(threads, Thread.ofPlatform().name("tern-map-", 0));
    pool = new BatchPool(source.schema(), 1024);
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
      PrefetchedReader.rethrow(sourceFailure);
      return Optional.empty();
    }
    int turn = turn();
    try {
      Batch mapped = result(pieces.get(turn).mapped());
      take(turn);
      return Optional.of(mapped);
    } catch (Throwable e) {
      failure = e;
      throw e;
    }
  }

  /** Reads until {@code count} batches are at work, or the source ends. */
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
      long before = at;
      int pass = epoch();
      at += batch.size();
      CompletableFuture<Batch> mapped = new CompletableFuture<>();
      Runnable task = () -> mapped.completeAsync(() -> mapped(copy, pass, before), Runnable::run);
      pieces.add(new Piece(copy, batch.size(), task, mapped));
      crew.execute(task);
    }
  }

  private Batch mapped(Batch raw, int pass, long before) {
    try (raw) {
      return map.apply(raw, pass, before);
    }
  }

  /** Waits for {@code mapped}; returns the batch, or throws what the map threw. */
  private static Batch result(CompletableFuture<Batch> mapped) {
    try {
      return mapped.join();
    } catch (CompletionException e) {
      PrefetchedReader.rethrow(e.getCause());
      throw e;
    }
  }

  /** The index of the piece to give next; there must be one. */
  private int turn() {
    if (size == 0) {
      return 0;
    }
    if (turns.size() >= recalled.size()) {
      return firstDone();
    }
    int turn = recalled.get(turns.size());
    readAhead(turn + 1);
    return Math.min(turn, pieces.size() - 1);
  }

  /** Waits until a piece is done; returns the index of the oldest one that is. */
  private int firstDone() {
    CompletableFuture<?>[] all =
        pieces.stream().map(Piece::mapped).toArray(CompletableFuture<?>[]::new);
    PrefetchedReader.await(CompletableFuture.anyOf(all));
    int first = 0;
    while (!all[first].isDone()) {
      first++;
    }
    return first;
  }

  private Piece take(int turn) {
    if (size > 0) {
      turns.add(turn);
    }
    return pieces.remove(turn);
  }

  /** Drops pieces that are skipped whole; when none is left, skips in the source. */
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
      drop(piece);
    }
    if (ended || sourceFailure != null || failure != null) {
      return passed;
    }
    return passed + (size == 0 ? passSource(rows - passed) : passWhole(rows - passed));
  }

  /** Gives the piece's batch back: at once, or when its map ends, for which nobody waits here. */
  private void drop(Piece piece) {
    if (crew.remove(piece.task())) {
      piece.raw().close();
    } else {
      piece.mapped().thenAccept(Batch::close);
    }
  }

  private long passSource(long rows) {
    long passed = rows == 0 ? 0 : source.skip(rows);
    at += passed;
    return passed;
  }

  /** Skips whole batches, up to a place before which all batches were given. */
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

  /** The turn that follows the next one by {@code ahead}. */
  private int recalledTurn(int ahead) {
    int number = turns.size() + ahead;
    return number < recalled.size() ? recalled.get(number) : 0;
  }

  @Override
  protected void begin(int epoch, PassOrder order) {
    pieces.forEach(this::drop);
    pieces.clear();
    turns.clear();
    at = 0;
    ended = false;
    sourceFailure = null;
    failure = null;
    recalled = order.turns();
    super.begin(epoch, size == 0 ? order : order.part(0));
  }

  @Override
  protected PassOrder order() {
    PassOrder below = super.order();
    if (size == 0) {
      return below;
    }
    return new PassOrder(turns, below.isFixed() ? List.of() : List.of(below));
  }

  @Override
  protected void release() {
    pieces.forEach(this::drop);
    crew.shutdown();
    super.release();
  }
}
