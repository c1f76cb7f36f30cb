package dev.tern.bench;

import dev.tern.base.Workers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Bags of rows pooled from a large table. Forward alone pools rows that were found before, because
 * PyTorch's {@code EmbeddingBag} is given row numbers ({@code bench table} times the finding).
 * Forward and backward is all of it: ids are found, their rows pooled, the gradients of equal ids
 * added up and taken off their rows by SGD; PyTorch has sparse gradients to merge, or to take off
 * at once, whichever is faster.
 */
final class Pooling {
  private static final int HOTNESS = 10;
  private static final int WIDTH = 16;
  private static final int BATCHES = 16;
  private static final float LR = 0.01f;
  private static final int WARM_UP = 400;
  private static final int TASK = 1024;

  private final int batch;
  private final int rows;
  private final Combiner combiner;
  private final int[] offsets;
  private final long[][] ids;

  Pooling(int batch, int rows, boolean mean) {
    this.batch = batch;
    this.rows = rows;
    combiner = mean ? Combiner.MEAN : Combiner.SUM;
    offsets = IntStream.rangeClosed(0, batch).map(bag -> bag * HOTNESS).toArray();
    ids = new long[BATCHES][batch * HOTNESS];
    Ids stream = Ids.zipf(rows, 1.05, 1);
    for (long[] each : ids) {
      for (int i = 0; i < each.length; i++) {
        each[i] = stream.next();
      }
    }
  }

  String title() {
    return combiner.name().toLowerCase(Locale.ROOT)
        + " pooling "
        + batch
        + "x"
        + HOTNESS
        + "x"
        + WIDTH;
  }

  Result time(Device device, boolean backward, Rounds rounds, Peers peers) {
    Allocator allocator = DeviceAccess.allocator(device);
    long pooled = allocator.allocate(4L * WIDTH * batch, "pooled");
    long upstream = allocator.allocate(4L * WIDTH * batch, "upstream");
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < batch * WIDTH; i++) {
      Memory.setFloat(upstream + 4L * i, (float) random.nextDouble(-1e-3, 1e-3));
    }
    try (EmbeddingTable table =
        EmbeddingTable.create(
            new TableConfig(
                "bench", 0, WIDTH, 1, TableOptions.of(Optimizer.sgd(LR)).initRange(0.01f)),
            allocator)) {
      Lookup[] lookups = new Lookup[BATCHES];
      Arrays.setAll(lookups, i -> new Lookup());
      fill(table, lookups[0]);
      Workers workers = device.workers();
      check(workers, table, pooled, upstream);
      for (int i = 0; i < BATCHES; i++) {
        table.find(ids[i], ids[i].length, lookups[i], true);
      }
      int[] at = {0};
      Runnable work =
          () -> {
            int next = at[0]++ % BATCHES;
            if (backward) {
              table.find(ids[next], ids[next].length, lookups[next], true);
            }
            pool(workers, table, lookups[next], pooled);
            if (backward) {
              table.apply(lookups[next], offsets, batch, combiner, upstream, WIDTH, LR, at[0]);
            }
          };
      for (int i = 0; i < WARM_UP; i++) {
        work.run();
      }
      String request =
          String.format(
              Locale.ROOT,
              "{\"op\": \"pooling\", \"mode\": \"%s\", \"sizes\": [%d, %d, %d, %d],"
                  + " \"backward\": %b}",
              combiner.name().toLowerCase(Locale.ROOT),
              rows,
              batch,
              HOTNESS,
              WIDTH,
              backward);
      Rounds.Times times = peers.time(rounds, work, request);
      return LayersBench.result(LayersBench.name(title(), backward), device, times);
    } finally {
      allocator.free(pooled);
      allocator.free(upstream);
    }
  }

  private void fill(EmbeddingTable table, Lookup lookup) {
    long[] block = new long[batch];
    for (int done = 0; done < rows; done += batch) {
      int length = Math.min(batch, rows - done);
      for (int i = 0; i < length; i++) {
        block[i] = done + i;
      }
      table.find(block, length, lookup, true);
    }
  }

  /** Each thread takes bags. */
  private void pool(Workers workers, EmbeddingTable table, Lookup lookup, long pooled) {
    workers.run(
        (batch + TASK - 1) / TASK,
        (task, _) -> {
          int to = Math.min(batch, (task + 1) * TASK);
          table.pool(lookup, offsets, task * TASK, to, combiner, pooled, WIDTH);
        });
  }

  /** A bag's vector is made of its rows, and a step moves a row by its bags' gradients. */
  private void check(Workers workers, EmbeddingTable table, long pooled, long upstream) {
    long[] batchIds = ids[0];
    double share = combiner == Combiner.MEAN ? 1.0 / HOTNESS : 1;
    double[] expected = new double[WIDTH];
    for (int i = 0; i < HOTNESS; i++) {
      double[] row = row(table, batchIds[i]);
      for (int j = 0; j < WIDTH; j++) {
        expected[j] += share * row[j];
      }
    }
    double[] moved = row(table, batchIds[0]);
    for (int i = 0; i < batchIds.length; i++) {
      for (int j = 0; j < WIDTH && batchIds[i] == batchIds[0]; j++) {
        moved[j] -= LR * share * Memory.getFloat(upstream + 4L * (i / HOTNESS * WIDTH + j));
      }
    }
    Lookup lookup = new Lookup();
    table.find(batchIds, batchIds.length, lookup, true);
    pool(workers, table, lookup, pooled);
    table.apply(lookup, offsets, batch, combiner, upstream, WIDTH, LR, 1);
    double[] after = row(table, batchIds[0]);
    for (int j = 0; j < WIDTH; j++) {
      double got = Memory.getFloat(pooled + 4L * j);
      if (!(Math.abs(got - expected[j]) < 1e-6) || !(Math.abs(after[j] - moved[j]) < 1e-6)) {
        throw new IllegalStateException(
            "layers " + title() + ": got a wrong result at element " + j);
      }
    }
  }

  private double[] row(EmbeddingTable table, long id) {
    Lookup one = new Lookup();
    table.find(new long[] {id}, 1, one, false);
    double[] values = new double[WIDTH];
    try (Allocator allocator = Allocator.of(1 << 20)) {
      long row = allocator.allocate(4L * WIDTH, "row");
      table.ragged(one, row);
      Arrays.setAll(values, j -> Memory.getFloat(row + 4L * j));
    }
    return values;
  }
}
