package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Any number of threads read a table that nobody changes. */
final class ConcurrentLookupTest {
  private static final int THREADS = 8;
  private static final int KNOWN = 50_000;
  private static final int WIDTH = 9;

  @ParameterizedTest
  @EnumSource(UnknownRow.Derived.class)
  void manyThreadsReadWhatOneThreadReads(UnknownRow unknown) throws Exception {
    Allocator allocator = Allocator.of(1L << 28);
    TableConfig config =
        new TableConfig(
            "t", 0, WIDTH, 7, TableOptions.of(Optimizer.adam(1)).initRange(0.1f).unknown(unknown));
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      table.find(LongStream.range(0, KNOWN).toArray(), KNOWN, new Lookup(), true);
      double[] expected = new double[THREADS];
      for (int t = 0; t < THREADS; t++) {
        expected[t] = read(table, allocator, t);
      }
      long bytes = table.bytes();
      for (int round = 0; round < 5; round++) {
        List<Callable<Double>> readers = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
          int seed = t;
          readers.add(() -> read(table, allocator, seed));
        }
        int t = 0;
        for (Future<Double> sum : threads.invokeAll(readers)) {
          assertThat(sum.get()).as("thread %d", t).isEqualTo(expected[t++]);
        }
      }
      assertThat(table.size()).isEqualTo(KNOWN);
      assertThat(table.bytes()).isEqualTo(bytes);
    }
  }

  /** A sum over what a thread reads; half of its ids are unknown. */
  private static double read(EmbeddingTable table, Allocator allocator, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Lookup lookup = new Lookup();
    double sum = 0;
    int bags = 200;
    int[] offsets = IntStream.rangeClosed(0, bags).map(b -> 2 * b).toArray();
    try (Floats out = new Floats(allocator, bags * WIDTH)) {
      for (int batch = 0; batch < 20; batch++) {
        long[] ids = random.longs(2 * bags, 0, 2 * KNOWN).toArray();
        table.find(ids, ids.length, lookup, false);
        table.pool(lookup, offsets, 0, bags, Combiner.MEAN, out.address, WIDTH);
        for (int i = 0; i < out.length; i++) {
          sum += (i % 13) * out.get(i);
        }
      }
    }
    return sum;
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void threadsPoolPartsOfOneLookupWhileLaterIdsAreInserted(Combiner combiner) throws Exception {
    Allocator allocator = Allocator.of(1L << 28);
    TableConfig config =
        new TableConfig("t", 0, WIDTH, 7, TableOptions.of(Optimizer.sgd(1)).initRange(0.1f));
    int bags = 4000;
    int[] offsets = IntStream.rangeClosed(0, bags).map(b -> b * (b % 2 + 1) / 2).toArray();
    for (int b = 1; b <= bags; b++) {
      offsets[b] = Math.max(offsets[b - 1], offsets[b]);
    }
    int count = offsets[bags];
    long[] ids = new SplittableRandom(3).longs(count, 0, 5000).toArray();
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        Floats expected = new Floats(allocator, bags * WIDTH);
        Floats out = new Floats(allocator, bags * WIDTH)) {
      Lookup lookup = new Lookup();
      table.find(ids, count, lookup, true);
      table.pool(lookup, offsets, 0, bags, combiner, expected.address, WIDTH);
      for (int round = 0; round < 10; round++) {
        List<Future<?>> parts = new ArrayList<>();
        for (int part = 0; part < 4; part++) {
          int from = part * bags / 4;
          int to = (part + 1) * bags / 4;
          parts.add(
              threads.submit(
                  () -> table.pool(lookup, offsets, from, to, combiner, out.address, WIDTH)));
        }
        long first = 10_000 + 20_000L * round;
        table.find(LongStream.range(first, first + 20_000).toArray(), 20_000, new Lookup(), true);
        for (Future<?> part : parts) {
          part.get();
        }
        assertThat(out.toArray()).isEqualTo(expected.toArray());
        Memory.zero(out.address, 4L * out.length);
      }
    }
  }
}
