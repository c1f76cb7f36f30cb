package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.ScratchFile;
import dev.tern.internal.table.SoundTable;
import dev.tern.internal.table.index.Hashing;
import dev.tern.internal.table.tier.ColdMerge;
import dev.tern.internal.table.tier.ColdRows;
import dev.tern.internal.table.tier.TierMemory;
import dev.tern.internal.table.tier.WriteBehind;
import dev.tern.optim.Optimizer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rows that leave for a file which another thread writes, at any speed. */
final class WriteBehindTest {
  private static final int BATCH = 256;
  private static final int WIDTH = 8;
  private static final long MEMORY = 700_000;
  private static final int[] ONE_EACH = IntStream.rangeClosed(0, BATCH).toArray();

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void allMemoryIsGivenBack() {
    assertThat(allocator.live()).isZero();
  }

  /** Runs nothing before a thread waits: as late as can be. */
  private static final class Late implements Executor, AutoCloseable {
    private final Thread waiting = Thread.currentThread();
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Thread runner = Thread.ofPlatform().daemon().start(this::run);
    private volatile int runs;

    private void run() {
      while (!Thread.currentThread().isInterrupted()) {
        Runnable task = waiting.getState() == Thread.State.WAITING ? tasks.poll() : null;
        if (task == null) {
          Thread.yield();
        } else {
          runs++;
          task.run();
        }
      }
    }

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public void close() {
      runner.interrupt();
    }
  }

  /** What a run shows: all rows and what it pooled, digested, and statistics. */
  private record Outcome(int digest, TableStatistics statistics) {}

  private static TableConfig config() {
    return new TableConfig(
        "t", 0, WIDTH, 42, TableOptions.of(Optimizer.adagrad(1)).initRange(0.5f));
  }

  private EmbeddingTable table(Executor writer) {
    return EmbeddingTable.create(
        config(), new FileTier(new TierMemory(folder, MEMORY, writer)), allocator);
  }

  /** Trains, scores and exports. */
  private Outcome outcome(EmbeddingTable table) {
    long memory = allocator.allocate(4L * BATCH * WIDTH, "pooled and gradients");
    SplittableRandom random = new SplittableRandom(3);
    int[] digest = {0};
    Lookup lookup = new Lookup();
    Lookup next = new Lookup();
    for (int step = 1; step <= 300; step++) {
      long[] ids = random.longs(BATCH, 0, 40_000).map(id -> id * id / 9_000).toArray();
      table.lookAhead(ids, BATCH, next);
      table.find(next, true);
      ByAddress.pool(table, next, ONE_EACH, 0, BATCH, Combiner.SUM, memory, WIDTH);
      digest[0] = 31 * digest[0] + digest(memory, BATCH * WIDTH);
      ByAddress.apply(table, next, ONE_EACH, BATCH, Combiner.SUM, memory, WIDTH, 0.1f, step);
      table.find(ids, BATCH, lookup, false);
      assertThat(lookup.isComplete()).isTrue();
      ByAddress.ragged(table, lookup, memory);
      digest[0] = 31 * digest[0] + digest(memory, BATCH * WIDTH);
      if (step % 100 == 50) {
        export(table, digest);
      }
      SoundTable.require(table.rows);
    }
    export(table, digest);
    allocator.free(memory);
    return new Outcome(digest[0], table.statistics());
  }

  private static void export(EmbeddingTable table, int[] digest) {
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      digest[0] = 31 * digest[0] + Arrays.hashCode(Arrays.copyOf(ids, count));
      digest[0] = 31 * digest[0] + digest(values, count * floats);
    });
  }

  private static int digest(long address, int floats) {
    float[] values = new float[floats];
    Memory.copyOut(address, values, 0, floats);
    return Arrays.hashCode(values);
  }

  @Test
  @Timeout(60)
  void neitherRowsNorStatisticsDependOnTheSpeedOfTheFile() {
    Outcome atOnce;
    try (EmbeddingTable table = table(Runnable::run)) {
      atOnce = outcome(table);
    }
    assertThat(atOnce.statistics.file().fetched()).isGreaterThan(10_000);
    try (Late late = new Late();
        EmbeddingTable table = table(late)) {
      assertThat(outcome(table)).isEqualTo(atOnce);
      assertThat(late.runs).isPositive();
    }
    try (EmbeddingTable table =
        EmbeddingTable.create(config(), FileTier.of(folder, MEMORY), allocator)) {
      assertThat(outcome(table)).isEqualTo(atOnce);
    }
    try (EmbeddingTable table = EmbeddingTable.create(config(), allocator)) {
      assertThat(outcome(table).digest).isEqualTo(atOnce.digest);
    }
  }

  @Test
  void aTableIsClosedWhileRowsAreOnTheirWay() {
    List<List<String>> holders = Collections.synchronizedList(new ArrayList<>());
    try (Late late = new Late();
        EmbeddingTable table =
            table(task ->
                late.execute(() -> {
                  holders.add(
                      allocator.holdings().stream().map(Allocator.Holding::holder).toList());
                  task.run();
                }))) {
      Lookup lookup = new Lookup();
      for (int i = 0; table.statistics().file().spilled() == 0 || late.tasks.isEmpty(); i++) {
        long first = (long) i * BATCH;
        table.find(
            IntStream.range(0, BATCH).mapToLong(j -> first + j).toArray(), BATCH, lookup, true);
      }
      table.close();
      assertThat(late.tasks).isEmpty();
      assertThat(holders)
          .isNotEmpty()
          .allSatisfy(each -> assertThat(each).contains("table t rows"));
      assertThat(table.size()).isZero();
    }
  }

  @Test
  void aMergeThatFailsIsRunAgainAndItsRowsStayWhereTheyAre() {
    ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    try (ScratchFile file = ScratchFile.in(folder, "test")) {
      ColdRows cold = new ColdRows(4, 0, 1 << 13, file, allocator, "test");
      WriteBehind behind =
          new WriteBehind(
              cold,
              task -> {
                tasks.add(task);
                task.run();
              });
      long row = allocator.allocate(12, "row");
      Memory.setLong(row + 4, 77);
      long hash = Hashing.mix(77);
      ColdMerge.Rows rows = new ColdMerge.Rows(new long[] {hash}, new long[] {row}, new int[] {5});
      // More records in the end than there are: as if the file had lost one.
      behind.add(cold.begin(0, rows, -1, 8));
      for (int runs = 1; runs <= 3; runs++) {
        assertThat(cold.find(hash, 77, cold.scratch())).isEqualTo(row);
        assertThat(behind.rows()).isEqualTo(1);
        assertThat(tasks).hasSize(runs);
        assertThatThrownBy(() -> behind.endFirst(_ -> {}))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("its file was damaged");
      }
      behind.await();
      cold.free();
      allocator.free(row);
    }
  }

  @Test
  @Timeout(60)
  void nothingIsLostWhereNoThreadCanBeStarted() {
    boolean[] refuses = {false};
    int[] refused = {0};
    try (EmbeddingTable table =
            table(task -> {
              if (refuses[0]) {
                refused[0]++;
                throw new OutOfMemoryError("unable to create native thread");
              }
              task.run();
            });
        EmbeddingTable plain = EmbeddingTable.create(config(), allocator)) {
      SplittableRandom random = new SplittableRandom(5);
      Lookup lookup = new Lookup();
      int failed = 0;
      for (int step = 0; step < 300; step++) {
        long[] ids = random.longs(BATCH, 0, 20_000).toArray();
        plain.find(ids, BATCH, lookup, true);
        refuses[0] = step % 3 == 2;
        try {
          table.find(ids, BATCH, lookup, true);
        } catch (OutOfMemoryError e) {
          failed++;
          refuses[0] = false;
          table.find(ids, BATCH, lookup, true);
        }
        SoundTable.require(table.rows);
        assertThat(table.size()).isEqualTo(plain.size());
      }
      assertThat(refused[0]).isGreaterThan(failed);
      assertThat(failed).isPositive();
      assertThat(exported(table)).isEqualTo(exported(plain));
    }
  }

  private static int exported(EmbeddingTable table) {
    int[] digest = {0};
    export(table, digest);
    return digest[0];
  }

  @Test
  void memoryBesideRowsStaysInItsShareWhereFewRowsOfManyPartitionsLeave() {
    FileTier tier = new FileTier(new TierMemory(folder, MEMORY, Runnable::run));
    try (EmbeddingTable table = EmbeddingTable.create(config(), tier, allocator)) {
      Lookup lookup = new Lookup();
      int most = most(table);
      long next = 0;
      for (; next < 20L * most; next += BATCH) {
        table.find(range(next, BATCH), BATCH, lookup, true);
      }
      long share = (MEMORY - tier.left()) / 8;
      int window = most * 88 / 100;
      long highest = 0;
      for (int step = 0; step < 60; step++) {
        next += 20;
        table.find(range(next - window, window), window, lookup, true);
        long held =
            allocator.holdings().stream()
                .filter(each -> each.holder().equals("table t file tier"))
                .mapToLong(Allocator.Holding::bytes)
                .sum();
        highest = Math.max(highest, held);
      }
      assertThat(highest).isLessThanOrEqualTo(share);
    }
  }

  private static long[] range(long first, int count) {
    return LongStream.range(first, first + count).toArray();
  }

  /** Rows that memory has room for, once it grows no more. */
  private static int most(EmbeddingTable table) {
    try {
      table.find(range(0, 100_000), 100_000, new Lookup(), true);
      throw new AssertionError("100000 rows in " + MEMORY + " bytes");
    } catch (IllegalStateException e) {
      return Integer.parseInt(e.getMessage().replaceAll("(?s).*than the (\\d+) rows.*", "$1"));
    }
  }
}
