package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.InitialRows;
import dev.tern.internal.table.rows.RowLookup;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * One thread's use of a table, and what it checks meanwhile. Each update adds 1 to all columns of a
 * row for each position that holds its id, so a row is its initial weights plus a whole number, the
 * same in all columns: by that a row shows whose it is, whether it is whole, and how often it was
 * updated. All batches have as many positions, so all numbers of a table add up to whole batches.
 */
final class CountedRows implements AutoCloseable {
  static final int WIDTH = 20;
  static final int BATCH = 64;
  private static final int IDS = 3000;
  private static final float CLOSE = 0.01f;
  private static final int[] ONE_EACH = IntStream.rangeClosed(0, BATCH).toArray();

  private final EmbeddingTable table;

  /** Steps of all who train the table. */
  private final AtomicLong steps;

  private final InitialRows initial;
  private final SplittableRandom random;
  private final Lookup lookup = new Lookup();
  private final Floats out;
  private final Floats gradients;
  private final long[] ids = new long[BATCH];

  CountedRows(EmbeddingTable table, AtomicLong steps, Allocator allocator, int seed) {
    this.table = table;
    this.steps = steps;
    initial = new InitialRows(table.config());
    random = new SplittableRandom(seed);
    out = new Floats(allocator, BATCH * WIDTH);
    gradients = new Floats(allocator, BATCH * WIDTH);
    for (int i = 0; i < BATCH * WIDTH; i++) {
      gradients.set(i, -1);
    }
  }

  /** All ids that may occur. */
  static long[] ids() {
    return LongStream.range(0, IDS).toArray();
  }

  private void draw() {
    // Some ids often, so that threads meet.
    Arrays.setAll(ids, i -> (long) (IDS * Math.pow(random.nextDouble(), 3)));
  }

  void train() {
    draw();
    pool(true);
    checkPooled();
    long step = steps.incrementAndGet();
    table.apply(lookup, ONE_EACH, BATCH, Combiner.SUM, gradients.address, WIDTH, 1, step);
  }

  private void pool(boolean insert) {
    table.findAndPool(
        ids, BATCH, lookup, insert, ONE_EACH, BATCH, Combiner.SUM, out.address, WIDTH);
  }

  /** Reads at once, then in single calls, which are refused where others change rows meanwhile. */
  void read() {
    draw();
    pool(false);
    checkPooled();
    table.find(ids, BATCH, lookup, false);
    float[] first = pooled();
    float[] second = pooled();
    if (first.length > 0 && second.length > 0) {
      assertThat(second).isEqualTo(first);
    }
    TableStatistics now = table.statistics();
    if (now.rows() > 0) { // it may be closed
      assertThat(now.rows()).isEqualTo(now.admitted() - now.evicted());
    }
  }

  private float[] pooled() {
    try {
      table.pool(lookup, ONE_EACH, 0, BATCH, Combiner.SUM, out.address, WIDTH);
    } catch (IllegalStateException e) {
      if (!String.valueOf(e.getMessage()).contains("refresh it")) {
        throw e;
      }
      table.refresh(lookup);
      return new float[0];
    }
    checkPooled();
    return out.toArray();
  }

  private void checkPooled() {
    for (int i = 0; i < BATCH; i++) {
      long address = out.address + 4L * i * WIDTH;
      if (lookup.found.rows[lookup.found.inverse[i]] != RowLookup.NONE) {
        updates(ids[i], address);
      } else if (table.config().unknown() == UnknownRow.ZEROS) {
        for (int j = 0; j < WIDTH; j++) {
          assertThat(Memory.getFloat(address + 4L * j)).isZero();
        }
      }
    }
  }

  /** Exports all rows; returns how often they were updated. */
  long export() {
    int stride = table.config().rowFloats();
    long[] updates = {0};
    Set<Long> seen = new HashSet<>();
    table.exportTo((block, values, count) -> {
      for (int i = 0; i < count; i++) {
        updates[0] += updates(block[i], values + 4L * i * stride);
        assertThat(seen.add(block[i])).isTrue();
      }
      assertThat(table.size()).isGreaterThanOrEqualTo(seen.size());
    });
    if (table.config().rows().isAll()) {
      assertThat(updates[0] % BATCH).isZero();
    }
    return updates[0];
  }

  /** How often the row of {@code id} at {@code row} was updated; it must be whole and that id's. */
  private int updates(long id, long row) {
    int updates = Math.round(Memory.getFloat(row) - initial.value(id, 0));
    for (int j = 0; j < WIDTH; j++) {
      float expected = initial.value(id, j) + updates;
      if (!(Math.abs(Memory.getFloat(row + 4L * j) - expected) < CLOSE)) {
        float[] got = new float[WIDTH];
        Memory.copyOut(row, got, 0, WIDTH);
        throw new AssertionError("id " + id + " reads as " + Arrays.toString(got));
      }
    }
    return updates;
  }

  @Override
  public void close() {
    out.close();
    gradients.close();
  }
}
