package dev.tern.bench.tables;

import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A table whose rows show whose they are. Each update adds 1 to all columns, so a row is the
 * initial weights of its id, which another table told, plus a whole number, the same in all
 * columns.
 */
final class SoakTable {
  /** Ids are 0 to one less. */
  static final int IDS = 60_000;

  static final int WIDTH = 16;
  private static final float CLOSE = 0.02f;

  private final EmbeddingTable table;
  private final float[] initial = new float[IDS * WIDTH];
  private final AtomicLong step = new AtomicLong();

  /** What was done: distinct ids looked up in training, rows read, and so on. */
  final LongAdder looked = new LongAdder();

  final LongAdder read = new LongAdder();
  final LongAdder refused = new LongAdder();
  final LongAdder ahead = new LongAdder();
  final LongAdder exports = new LongAdder();
  final LongAdder snapshots = new LongAdder();

  /** Held by the thread that has a snapshot: there is one at a time. */
  final Lock snapshot = new ReentrantLock();

  private TableStatistics last;

  SoakTable(String name, RowPolicy policy, UnknownRow unknown, Allocator allocator) {
    try (EmbeddingTable all = table(name, RowPolicy.ALL, unknown, allocator)) {
      SoakUser.readInitial(all, initial, allocator);
    }
    table = table(name, policy, unknown, allocator);
    last = table.statistics();
  }

  private static EmbeddingTable table(
      String name, RowPolicy policy, UnknownRow unknown, Allocator allocator) {
    Optimizer sgd = Optimizer.sgd(1);
    return BenchTables.create(
        new TableConfig(
            name, 0, WIDTH, 1, TableOptions.of(sgd).initRange(0.4f).unknown(unknown).rows(policy)),
        allocator);
  }

  String name() {
    return table.config().name();
  }

  EmbeddingTable table() {
    return table;
  }

  /** Steps of all threads so far. */
  long steps() {
    return step.get();
  }

  long nextStep() {
    return step.incrementAndGet();
  }

  /** Checks that the row at an address belongs to {@code id} and is whole. */
  void requireRow(long id, long row) {
    int first = (int) id * WIDTH;
    int updates = Math.round(Memory.getFloat(row) - initial[first]);
    for (int j = 0; j < WIDTH; j++) {
      float got = Memory.getFloat(row + 4L * j);
      float expected = initial[first + j] + updates;
      require(
          Math.abs(got - expected) < CLOSE,
          "%s in column %d of id %d, expected %s",
          got,
          j,
          id,
          expected);
    }
  }

  /** Whether the row at an address is zeros, as unknown ids read; initial weights are not. */
  static boolean isZeros(long row) {
    boolean zeros = true;
    for (int j = 0; j < WIDTH; j++) {
      zeros &= Memory.getFloat(row + 4L * j) == 0;
    }
    return zeros;
  }

  /** Whether rows went, and the table was looked up ahead, exported and snapshot. */
  boolean wasUsedInEveryWay() {
    return table.statistics().evicted() > 0
        && ahead.sum() > 0
        && exports.sum() > 0
        && snapshots.sum() > 0;
  }

  static void requireSound(TableStatistics now) {
    require(
        now.rows() == now.admitted() - now.evicted()
            && now.misses() == now.admitted() + now.rejected(),
        "%s",
        now);
  }

  /** Once no thread uses the table: checks counts, finds all ids that have rows, and closes it. */
  void finish(Allocator allocator) {
    last = table.statistics();
    requireSound(last);
    require(wasUsedInEveryWay(), "a table not used in every way: %s", counts(false));
    long met = last.hits() + last.misses();
    require(met == looked.sum(), "%d ids counted, %d were looked up", met, looked.sum());
    SoakUser user = new SoakUser(this, new SplittableRandom(0), allocator);
    user.requireAllFound();
    user.close();
    table.close();
  }

  String counts(boolean json) {
    return (json
            ? "\"steps\":%d,\"ids\":%d,\"rows\":%d,\"admitted\":%d,\"evicted\":%d,\"read\":%d,"
                + "\"refused\":%d,\"ahead\":%d,\"exports\":%d,\"snapshots\":%d"
            : "%d steps of %d ids, %d rows, %d admitted, %d evicted, %d read, %d lookups refused,"
                + " %d looked up ahead, %d exports, %d snapshots")
        .formatted(
            steps(),
            looked.sum(),
            last.rows(),
            last.admitted(),
            last.evicted(),
            read.sum(),
            refused.sum(),
            ahead.sum(),
            exports.sum(),
            snapshots.sum());
  }

  static void require(boolean holds, String got, Object... values) {
    if (!holds) {
      throw new IllegalStateException("soak: got " + got.formatted(values));
    }
  }
}
