package dev.tern.bench.tables;

import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.TableSnapshot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** One thread's use of a {@link SoakTable}. */
final class SoakUser {
  private static final int BATCH = 200;
  private static final int WIDTH = SoakTable.WIDTH;
  private static final long BYTES = 4L * BATCH * WIDTH;
  private static final int[] ONE_EACH = IntStream.rangeClosed(0, BATCH).toArray();

  private final SoakTable soak;
  private final EmbeddingTable table;
  private final SplittableRandom random;
  private final Allocator allocator;
  private final Lookup lookup = new Lookup();
  private final long[] ids = new long[BATCH];
  private final long out;
  private final long gradients;

  SoakUser(SoakTable soak, SplittableRandom random, Allocator allocator) {
    this.soak = soak;
    table = soak.table();
    this.random = random;
    this.allocator = allocator;
    out = allocator.allocate(BYTES, "soak");
    gradients = allocator.allocate(2 * BYTES, "soak");
    for (long at = 0; at < BYTES; at += 4) {
      Memory.setFloat(gradients + at, -1);
      Memory.setFloat(gradients + BYTES + at, 1);
    }
  }

  /** Reads the initial weights of all ids, in their order. */
  static void readInitial(EmbeddingTable table, float[] into, Allocator allocator) {
    long[] block = new long[BATCH];
    Lookup lookup = new Lookup();
    long rows = allocator.allocate(BYTES, "soak");
    for (int from = 0; from < SoakTable.IDS; from += BATCH) {
      int first = from;
      Arrays.setAll(block, i -> first + i);
      table.find(block, BATCH, lookup, true);
      BenchTables.ragged(table, lookup, rows);
      Memory.copyOut(rows, into, from * WIDTH, BATCH * WIDTH);
    }
    allocator.free(rows);
  }

  /** Does one thing at random. */
  void act() {
    // Some ids often, most now and then.
    Arrays.setAll(ids, i -> (long) (SoakTable.IDS * Math.pow(random.nextDouble(), 4)));
    int choice = random.nextInt(100);
    if (choice < 30) {
      train();
    } else if (choice < 45) {
      trainOnRowsLookedUpAhead();
    } else if (choice < 75) {
      findAndPool(false);
    } else if (choice < 90) {
      findThenPool();
    } else if (choice < 97) {
      SoakTable.requireSound(table.statistics());
    } else if (choice < 99) {
      export();
    } else if (soak.snapshot.tryLock()) {
      try {
        snapshot();
      } finally {
        soak.snapshot.unlock();
      }
    }
  }

  private void train() {
    findAndPool(true);
    update();
  }

  private void update() {
    soak.looked.add(lookup.unique());
    long step = soak.nextStep();
    // Up and down in turn: numbers stay so small that floats hold them beside the initial weights.
    long up = gradients + (step & 1) * BYTES;
    BenchTables.apply(table, lookup, ONE_EACH, BATCH, Combiner.SUM, up, WIDTH, 1, step);
  }

  /** Others change the table between looking up ahead, finding, reading and the update. */
  private void trainOnRowsLookedUpAhead() {
    table.lookAhead(ids, BATCH, lookup);
    soak.ahead.increment();
    table.find(lookup, true);
    for (boolean read = false; !read; ) {
      try {
        BenchTables.ragged(table, lookup, out);
        requireRows();
        read = true;
      } catch (IllegalStateException e) {
        refreshRefused(e);
      }
    }
    update();
  }

  private void findAndPool(boolean insert) {
    BenchTables.findAndPool(
        table, ids, BATCH, lookup, insert, ONE_EACH, BATCH, Combiner.SUM, out, WIDTH);
    requireRows();
  }

  /** In single calls, which are refused when others change rows between. */
  private void findThenPool() {
    table.find(ids, BATCH, lookup, false);
    for (int i = 0; i < 3; i++) {
      try {
        BenchTables.pool(table, lookup, ONE_EACH, 0, BATCH, Combiner.SUM, out, WIDTH);
        requireRows();
      } catch (IllegalStateException e) {
        refreshRefused(e);
      }
    }
  }

  /** Where a lookup was refused as others changed rows: has it found anew. */
  private void refreshRefused(IllegalStateException refusal) {
    if (!String.valueOf(refusal.getMessage()).contains("refresh it")) {
      throw refusal;
    }
    soak.refused.increment();
    table.refresh(lookup);
  }

  private void requireRows() {
    int zeros = 0;
    for (int i = 0; i < BATCH; i++) {
      long row = out + 4L * WIDTH * i;
      if (SoakTable.isZeros(row)) {
        zeros++;
      } else {
        soak.requireRow(ids[i], row);
      }
    }
    SoakTable.require(zeros == 0 || !lookup.isComplete(), "%d ids that lost their rows", zeros);
    soak.read.add(BATCH);
  }

  private void export() {
    int stride = table.config().rowFloats();
    long[] last = {Long.MIN_VALUE, 0};
    table.exportTo((block, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        SoakTable.require(block[i] > last[0], "id %d after id %d", block[i], last[0]);
        soak.requireRow(block[i], values + 4L * i * stride);
        last[0] = block[i];
      }
      last[1] += count;
      long size = table.size();
      SoakTable.require(last[1] <= size, "%d rows exported of %d", last[1], size);
      SoakTable.require(
          count == 1024 || last[1] == size, "an export of %d rows of %d", last[1], size);
    });
    soak.exports.increment();
  }

  /** Reads a snapshot while others train. */
  private void snapshot() {
    try (TableSnapshot snapshot = table.snapshot()) {
      long[] last = {Long.MIN_VALUE, 0};
      snapshot.exportBlocks(block -> {
        long weights = block.weights().address();
        for (int i = 0; i < block.count(); i++) {
          long id = block.ids()[i];
          SoakTable.require(id > last[0], "id %d after id %d", id, last[0]);
          soak.requireRow(id, weights + 4L * WIDTH * i);
          last[0] = id;
        }
        last[1] += block.count();
      });
      SoakTable.require(
          last[1] == snapshot.rows(), "%d rows of %d in a snapshot", last[1], snapshot.rows());
      SoakTable.require(!snapshot.holdsTable(), "a snapshot that stops training");
    }
    soak.snapshots.increment();
  }

  /** Has all ids looked up: as many have rows as the table says, those that it exports. */
  void requireAllFound() {
    export();
    boolean[] has = new boolean[SoakTable.IDS];
    table.exportTo((block, _, count) -> {
      for (int i = 0; i < count; i++) {
        has[(int) block[i]] = true;
      }
    });
    TableStatistics before = table.statistics();
    long found = 0;
    for (int from = 0; from < SoakTable.IDS; from += BATCH) {
      int first = from;
      Arrays.setAll(ids, i -> first + i);
      findAndPool(false);
      for (int i = 0; i < BATCH; i++) {
        boolean known = !SoakTable.isZeros(out + 4L * WIDTH * i);
        SoakTable.require(known == has[from + i], "id %d exported or found alone", from + i);
        found += known ? 1 : 0;
      }
    }
    SoakTable.require(found == before.rows(), "%d ids found of %d", found, before.rows());
    SoakTable.require(table.statistics().equals(before), "counts that reading changed");
  }

  void close() {
    allocator.free(out);
    allocator.free(gradients);
  }
}
