package dev.tern.bench.tables;

import dev.tern.bench.Ids;
import dev.tern.embedding.BenchTables;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.FileStatistics;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A process of {@link TierBench}: a table with row-wise Adagrad gets a row for each of many ids,
 * then takes steps on a Zipf stream of them; all its rows in order of their ids make a digest.
 */
final class TierRun implements AutoCloseable {
  private static final double EXPONENT = 1.05;
  private static final float RATE = 0.01f;

  private final int ids;
  private final int batch;
  private final int width;
  private final Allocator allocator = Allocator.of(64L << 30);
  private final EmbeddingTable table;
  private Lookup lookup = new Lookup();
  private Lookup next = new Lookup();
  private final long[] block;
  private final int[] offsets;
  private final long gradients;
  private final long pooled;
  private long step;

  private TierRun(int ids, int batch, int width, long memory, Path folder) {
    this.ids = ids;
    this.batch = batch;
    this.width = width;
    TableConfig config =
        new TableConfig(
            "bench", 0, width, 1, TableOptions.of(Optimizer.rowWiseAdagrad(RATE)).initRange(0.01f));
    table =
        memory == 0
            ? BenchTables.create(config, allocator)
            : BenchTables.create(config, FileTier.of(folder, memory), allocator);
    block = new long[batch];
    offsets = IntStream.rangeClosed(0, batch).toArray();
    gradients = allocator.allocate(4L * batch * width, "gradients");
    pooled = allocator.allocate(4L * batch * width, "pooled");
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < batch * width; i++) {
      Memory.setFloat(gradients + 4L * i, (float) random.nextDouble(-1, 1));
    }
  }

  /**
   * Arguments: ids, steps, batch, width, bytes of memory or 0 for all there is, folder, whether
   * batches are looked up ahead.
   */
  public static void main(String[] args) throws IOException {
    int steps = Integer.parseInt(args[1]);
    try (TierRun run =
        new TierRun(
            Integer.parseInt(args[0]),
            Integer.parseInt(args[2]),
            Integer.parseInt(args[3]),
            Long.parseLong(args[4]),
            Path.of(args[5]))) {
      print("fill", run.fill(), "ns/id");
      print("steps", run.train(steps, Boolean.parseBoolean(args[6])), "ns/id");
      print("resident", resident(), "bytes");
      print("table", run.table.bytes(), "bytes");
      print("rows", run.table.size(), "rows");
      FileStatistics file = run.table.statistics().file();
      print("file", file.bytes(), "bytes");
      print("spilled", file.spilled(), "rows");
      print("fetched", file.fetched(), "rows");
      print("written", file.bytesWritten(), "bytes");
      print("read", file.bytesRead(), "bytes");
      System.out.println("digest " + Long.toHexString(run.digest()));
    }
  }

  private static void print(String name, double value, String unit) {
    System.out.println(name + " " + value + " " + unit);
  }

  /** The most physical memory that this process held so far. */
  private static long resident() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) {
        return 1024 * Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException("/proc/self/status: got no VmHWM; this needs Linux");
  }

  private void step(int count) {
    table.find(block, count, lookup, true);
    BenchTables.pool(table, lookup, offsets, 0, count, Combiner.SUM, pooled, width);
    BenchTables.apply(table, lookup, offsets, count, Combiner.SUM, gradients, width, RATE, ++step);
  }

  /** Every id once; nanoseconds an id. */
  private double fill() {
    long nanos = 0;
    for (int from = 0; from < ids; from += batch) {
      int count = Math.min(batch, ids - from);
      for (int i = 0; i < count; i++) {
        block[i] = Ids.scatter(from + i, ids);
      }
      long start = System.nanoTime();
      step(count);
      nanos += System.nanoTime() - start;
    }
    return nanos / (double) ids;
  }

  /**
   * Nanoseconds an id of the second half of the steps. With {@code ahead} a batch is looked up
   * between lookup and update of the one before, where a model computes; that does not count, nor
   * does what a thread writes to the file meanwhile.
   */
  private double train(int steps, boolean ahead) {
    Ids stream = Ids.zipf(ids, EXPONENT, 3);
    long nanos = 0;
    draw(stream);
    table.lookAhead(block, batch, lookup);
    for (int s = 0; s < steps; s++) {
      long start = System.nanoTime();
      if (ahead) {
        table.find(lookup, true);
      } else {
        table.find(block, batch, lookup, true);
      }
      BenchTables.pool(table, lookup, offsets, 0, batch, Combiner.SUM, pooled, width);
      long found = System.nanoTime();
      draw(stream);
      if (ahead) {
        table.lookAhead(block, batch, next);
      }
      long computed = System.nanoTime();
      BenchTables.apply(
          table, lookup, offsets, batch, Combiner.SUM, gradients, width, RATE, ++step);
      long end = System.nanoTime();
      nanos += 2 * s < steps ? 0 : found - start + end - computed;
      if (ahead) {
        Lookup before = lookup;
        lookup = next;
        next = before;
      }
    }
    return nanos / ((steps - steps / 2) * (double) batch);
  }

  private void draw(Ids stream) {
    for (int i = 0; i < batch; i++) {
      block[i] = stream.next();
    }
  }

  private long digest() {
    long[] sum = {0};
    int floats = table.config().rowFloats();
    for (int from = 0; from < ids; from += batch) {
      int first = from;
      long[] next =
          IntStream.range(0, Math.min(batch, ids - from)).mapToLong(i -> first + i).toArray();
      table.exportTo(
          next,
          (_, segment, count) -> {
            long values = segment.address();
            for (int i = 0; i < count * floats; i++) {
              sum[0] = (sum[0] ^ Memory.getInt(values + 4L * i)) * 0x100000001B3L;
              sum[0] ^= sum[0] >>> 29;
            }
          });
    }
    return sum[0];
  }

  @Override
  public void close() {
    allocator.free(gradients);
    allocator.free(pooled);
    table.close();
  }
}
