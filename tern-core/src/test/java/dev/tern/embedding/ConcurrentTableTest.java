package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.table.SoundTable;
import dev.tern.optim.Optimizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What several threads may expect of one table, as {@link EmbeddingTable} says it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ConcurrentTableTest {
  private static final int WIDTH = CountedRows.WIDTH;
  private static final int STEPS = 300;

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final AtomicLong steps = new AtomicLong();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void nothingIsHeld() throws InterruptedException {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    assertThat(allocator.live()).isZero();
  }

  private static TableConfig config(UnknownRow unknown, RowPolicy rows) {
    return new TableConfig(
        "t",
        3,
        WIDTH,
        42,
        TableOptions.of(Optimizer.sgd(1)).initRange(0.4f).unknown(unknown).rows(rows));
  }

  static List<Arguments> tables() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 10_000));
    RowPolicy recent = RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 700);
    RowPolicy frequent = RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastFrequent(), 700);
    RowPolicy seen = RowPolicy.ALL.withEviction(new Eviction.Unseen(3));
    return List.of(
        Arguments.of(config(UnknownRow.ZEROS, RowPolicy.ALL), false),
        Arguments.of(config(UnknownRow.ZEROS, RowPolicy.ALL), true),
        Arguments.of(config(UnknownRow.ZEROS, counted), true),
        Arguments.of(config(UnknownRow.MEAN, RowPolicy.ALL), false),
        Arguments.of(config(UnknownRow.ZEROS, recent), false),
        Arguments.of(config(UnknownRow.MEAN, frequent), false),
        Arguments.of(config(UnknownRow.ZEROS, seen), false));
  }

  private EmbeddingTable table(TableConfig config, boolean tiered) {
    if (!tiered) {
      return EmbeddingTable.create(config, allocator);
    }
    long memory = 500_000;
    return EmbeddingTable.create(config, FileTier.of(folder, memory), allocator);
  }

  @ParameterizedTest(name = "{0}, with a file: {1}")
  @MethodSource("tables")
  void threadsReadWholeRowsOfTheirIdsWhileOthersInsertUpdateEvictAndExport(
      TableConfig config, boolean tiered) throws Exception {
    try (EmbeddingTable table = table(config, tiered)) {
      AtomicBoolean done = new AtomicBoolean();
      List<Future<Void>> trainers = new ArrayList<>();
      List<Future<Void>> others = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        int seed = t;
        trainers.add(
            threads.submit(
                () -> with(table, seed, rows -> repeat(() -> steps.get() >= STEPS, rows::train))));
        others.add(
            threads.submit(() -> with(table, 10 + seed, rows -> repeat(done::get, rows::read))));
      }
      others.add(threads.submit(() -> with(table, 20, rows -> repeat(done::get, rows::export))));
      try {
        finish(trainers);
      } finally {
        done.set(true);
      }
      finish(others);
      try (CountedRows rows = new CountedRows(table, steps, allocator, 30)) {
        long updates = rows.export();
        if (config.rows().isAll()) {
          assertThat(updates).isEqualTo(steps.get() * CountedRows.BATCH);
        }
      }
      SoundTable.require(table.rows);
      TableStatistics end = table.statistics();
      assertThat(end.hits() + end.misses()).isGreaterThan(STEPS);
      assertThat(end.evicted() > 0).isEqualTo(config.metadata() > 0);
      assertThat(end.file().fetched() > 0).isEqualTo(tiered);
    }
  }

  private interface Use {
    void of(CountedRows rows);
  }

  private Void with(EmbeddingTable table, int seed, Use use) {
    try (CountedRows rows = new CountedRows(table, steps, allocator, seed)) {
      use.of(rows);
    }
    return null;
  }

  private static void repeat(BooleanSupplier done, Runnable call) {
    while (!done.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
      call.run();
    }
  }

  private static void finish(List<Future<Void>> calls) throws Exception {
    for (Future<Void> call : calls) {
      try {
        call.get();
      } catch (ExecutionException e) {
        throw new AssertionError(e.getCause());
      }
    }
  }

  @Test
  void anIdThatThreadsInsertAtOnceGetsOneRow() throws Exception {
    try (EmbeddingTable table = table(config(UnknownRow.ZEROS, RowPolicy.ALL), false)) {
      for (long first = 0; first < 200; first += 2) {
        long[] ids = {first, first + 1};
        long[] reversed = {first + 1, first};
        Future<int[]> one = threads.submit(() -> insert(table, ids));
        int[] other = insert(table, reversed);
        assertThat(one.get()).containsExactly(other[1], other[0]);
        assertThat(other[0]).isNotEqualTo(other[1]);
      }
      assertThat(table.size()).isEqualTo(200);
      assertThat(table.statistics().admitted()).isEqualTo(200);
      assertThat(table.statistics().hits()).isEqualTo(200);
    }
  }

  private static int[] insert(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    return lookup.found.rows;
  }

  private float[] pooled(EmbeddingTable table, Lookup lookup) {
    int count = lookup.count();
    int[] offsets = new int[count + 1];
    for (int i = 0; i <= count; i++) {
      offsets[i] = i;
    }
    try (Floats out = new Floats(allocator, count * WIDTH)) {
      ByAddress.pool(table, lookup, offsets, 0, count, Combiner.SUM, out.address, WIDTH);
      return out.toArray();
    }
  }

  @Test
  void unknownIdsReadAsTheMeanThatTheirLookupFound() {
    try (EmbeddingTable table = table(config(UnknownRow.MEAN, RowPolicy.ALL), false)) {
      insert(table, 1, 2, 3);
      Lookup before = new Lookup();
      table.find(new long[] {9}, 1, before, false);
      float[] mean = pooled(table, before);
      insert(table, 4);
      Lookup after = new Lookup();
      table.find(new long[] {9}, 1, after, false);
      assertThat(pooled(table, after)).isNotEqualTo(mean);
      assertThat(pooled(table, before)).isEqualTo(mean);
      table.refresh(before);
      assertThat(pooled(table, before)).isEqualTo(pooled(table, after));
    }
  }

  @Test
  void aLookupIsRefusedAfterAnUpdateUntilItIsRefreshed() throws Exception {
    try (EmbeddingTable table = table(config(UnknownRow.ZEROS, RowPolicy.ALL), false)) {
      insert(table, CountedRows.ids());
      Lookup lookup = new Lookup();
      table.find(new long[] {1}, 1, lookup, false);
      threads.submit(() -> with(table, 0, CountedRows::train)).get();
      assertThatThrownBy(() -> pooled(table, lookup)).hasMessageContaining("refresh it");
      assertThatThrownBy(() -> ByAddress.ragged(table, lookup, 0))
          .hasMessageContaining("refresh it");
      table.refresh(lookup);
      assertThat(pooled(table, lookup)).hasSize(WIDTH);
    }
  }

  @Test
  void readersWaitNeitherForAnExportNorForWhatWaitsForIt() throws Exception {
    try (EmbeddingTable table = table(config(UnknownRow.ZEROS, RowPolicy.ALL), false)) {
      insert(table, 1, 2);
      CountDownLatch exporting = new CountDownLatch(1);
      CountDownLatch read = new CountDownLatch(1);
      Future<?> export =
          threads.submit(() ->
              table.exportTo((_, _, _) -> {
                exporting.countDown();
                await(read);
              }));
      exporting.await();
      Thread inserter = Thread.ofPlatform().start(() -> insert(table, 3));
      awaitWaiting(inserter);
      try (CountedRows rows = new CountedRows(table, steps, allocator, 1)) {
        rows.read();
        assertThat(table.size()).isEqualTo(2);
      } finally {
        read.countDown();
      }
      export.get();
      inserter.join();
      assertThat(table.size()).isEqualTo(3);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitWaiting(Thread thread) throws InterruptedException {
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(thread.isAlive()).isTrue();
      Thread.sleep(1);
    }
  }

  @Test
  void closeWaitsForCallsThatHaveBegunAndLaterOnesAreRefused() throws Exception {
    EmbeddingTable table = table(config(UnknownRow.ZEROS, RowPolicy.ALL), false);
    insert(table, 1, 2);
    CountDownLatch exporting = new CountDownLatch(1);
    CountDownLatch look = new CountDownLatch(1);
    Future<?> export =
        threads.submit(() ->
            table.exportTo((_, _, _) -> {
              exporting.countDown();
              await(look);
            }));
    exporting.await();
    Thread closer = Thread.ofPlatform().start(table::close);
    awaitWaiting(closer);
    assertThat(pooledNow(table)).hasSize(WIDTH);
    look.countDown();
    export.get();
    closer.join();
    assertThatThrownBy(() -> pooledNow(table)).hasMessageContaining("after close");
    assertThatThrownBy(() -> table.restoreHistory(new long[0], 0, (_, _) -> {}))
        .hasMessageContaining("after close");
    assertThat(table.size()).isZero();
    table.close();
  }

  private float[] pooledNow(EmbeddingTable table) {
    Lookup lookup = new Lookup();
    table.find(new long[] {1}, 1, lookup, false);
    return pooled(table, lookup);
  }

  @ParameterizedTest(name = "{0}, with a file: {1}")
  @MethodSource("tables")
  void threadsAtWorkWhenTheTableIsClosedEndWithARefusal(TableConfig config, boolean tiered)
      throws Exception {
    EmbeddingTable table = table(config, tiered);
    CountDownLatch started = new CountDownLatch(4);
    List<Callable<Void>> calls =
        List.of(
            () -> with(table, 0, rows -> repeat(started, rows::train)),
            () -> with(table, 1, rows -> repeat(started, rows::read)),
            () -> with(table, 2, rows -> repeat(started, rows::export)),
            () -> with(table, 3, rows -> repeat(started, table::statistics)));
    List<Future<Void>> results = calls.stream().map(threads::submit).toList();
    started.await();
    table.close();
    for (Future<Void> result : results.subList(0, 3)) {
      assertThatThrownBy(result::get)
          .cause()
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("after close");
    }
    results.getLast().cancel(true);
  }

  private static void repeat(CountDownLatch started, Runnable call) {
    for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
      call.run();
      if (i == 3) {
        started.countDown();
      }
    }
  }

  @Test
  void aFullTableSaysSoAndServesOthersAfterwards() throws Exception {
    RowPolicy full = RowPolicy.ALL.withMaxRows(2, WhenFull.ERROR);
    try (EmbeddingTable table = table(config(UnknownRow.ZEROS, full), false)) {
      insert(table, 1, 2);
      assertThatThrownBy(() -> insert(table, 3)).hasMessageContaining("beyond 2 rows");
      assertThatThrownBy(() -> insert(table, 3)).hasMessageContaining("beyond 2 rows");
      int[] rows = threads.submit(() -> insert(table, 2, 1)).get();
      assertThat(rows).startsWith(1, 0);
      assertThat(threads.submit(() -> pooledNow(table)).get()).hasSize(WIDTH);
    }
  }

  @Test
  void callsThatWouldWaitForTheirOwnAreRefused() {
    try (EmbeddingTable table = table(config(UnknownRow.ZEROS, RowPolicy.ALL), false)) {
      assertThatThrownBy(() -> table.importFrom((_, _) -> (int) table.size()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("source or sink");
      assertThatThrownBy(() -> table.importBlocks(1, _ -> table.size() > 0))
          .hasStackTraceContaining("source or sink");
      insert(table, 1);
      assertThatThrownBy(() -> table.exportTo((_, _, _) -> insert(table, 2)))
          .hasMessageContaining("source or sink");
      assertThatThrownBy(() -> table.exportTo((_, _, _) -> table.close()))
          .hasMessageContaining("source or sink");
      long[] size = {0};
      table.exportTo((_, _, _) -> size[0] = table.size());
      assertThat(size[0]).isEqualTo(1);
      assertThat(insert(table, 2)).hasSize(1);
    }
  }
}
