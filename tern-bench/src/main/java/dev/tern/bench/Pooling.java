package dev.tern.bench;

import dev.tern.embedding.Combiner;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.TableConfig;
import dev.tern.embedding.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Bags of ids pooled from a large table: found by id and combined; backward, the gradients of equal
 * ids are added up and taken off their rows by SGD. PyTorch is asked for the same by {@code
 * EmbeddingBag} with sparse gradients, its ids being row numbers, and need not take the step.
 */
final class Pooling {
  private static final int HOTNESS = 10;
  private static final int WIDTH = 16;
  private static final int BATCHES = 16;
  private static final float LR = 0.01f;
  private static final int WARM_UP = 400;

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
    Allocator allocator = device.interpreter().allocator();
    long pooled = allocator.allocate(4L * WIDTH * batch, "pooled");
    long upstream = allocator.allocate(4L * WIDTH * batch, "upstream");
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < batch * WIDTH; i++) {
      Memory.setFloat(upstream + 4L * i, (float) random.nextDouble(-1e-3, 1e-3));
    }
    try (EmbeddingTable table =
        EmbeddingTable.create(
            new TableConfig("bench", 0, WIDTH, Optimizer.sgd(LR), 0.01f, 1, 0, UnknownRow.ZEROS),
            allocator)) {
      Lookup lookup = new Lookup();
      fill(table, lookup);
      int[] at = {0};
      Runnable work =
          () -> {
            step(table, lookup, ids[at[0] % BATCHES], pooled, upstream, backward, ++at[0]);
          };
      check(table, ids[0], pooled, upstream);
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

  private void step(
      EmbeddingTable table,
      Lookup lookup,
      long[] batchIds,
      long pooled,
      long upstream,
      boolean backward,
      int step) {
    table.find(batchIds, batchIds.length, lookup, true);
    table.pool(lookup, offsets, 0, batch, combiner, pooled, WIDTH);
    if (backward) {
      table.apply(lookup, offsets, batch, combiner, upstream, WIDTH, LR, step);
    }
  }

  /** A bag's vector is made of its rows, and a step moves a row by its bags' gradients. */
  private void check(EmbeddingTable table, long[] batchIds, long pooled, long upstream) {
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
    step(table, new Lookup(), batchIds, pooled, upstream, true, 1);
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
