package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.table.SoundTable;
import dev.tern.optim.Optimizer;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Snapshots of tables that change, against the bytes of a table at that moment. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class TableSnapshotTest {
  private static final int WIDTH = 3;
  private static final int MOST = 1 << 14;

  @TempDir private Path folder;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long gradients = allocator.allocate(4L * WIDTH * MOST, "gradients");
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private long step;

  @AfterEach
  void nothingIsHeld() throws InterruptedException {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    allocator.free(gradients);
    assertThat(allocator.live()).isZero();
  }

  private static TableConfig config(Optimizer optimizer, DType storage, RowPolicy policy) {
    return config(optimizer, storage, policy, UnknownRow.ZEROS);
  }

  private static TableConfig config(
      Optimizer optimizer, DType storage, RowPolicy policy, UnknownRow unknown) {
    return new TableConfig(
        "t",
        3,
        WIDTH,
        42,
        TableOptions.of(optimizer).initRange(0.4f).unknown(unknown).storage(storage).rows(policy));
  }

  static List<TableConfig> tables() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 50));
    return List.of(
        config(Optimizer.sgd(1), DType.F32, RowPolicy.ALL),
        config(Optimizer.rowWiseAdagrad(1), DType.F16, RowPolicy.ALL),
        config(Optimizer.lazyAdam(1), DType.BF16, counted),
        config(
            Optimizer.adagrad(1),
            DType.F32,
            RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 600)),
        config(
            Optimizer.ftrl(1),
            DType.F32,
            counted.withRoomMadeBy(new Eviction.LeastFrequent(), 300)),
        config(Optimizer.adagrad(1), DType.F32, counted, new UnknownRow.Hashed(5000)),
        config(
            Optimizer.lazyAdam(1),
            DType.BF16,
            RowPolicy.ALL
                .withMaxRows(100, WhenFull.UNKNOWN)
                .withRoomMadeBy(new Eviction.LeastRecent(), 100),
            new UnknownRow.Hashed(200)),
        config(Optimizer.rmsProp(1), DType.F32, RowPolicy.ALL.withEviction(new Eviction.Unseen(3))),
        config(
            Optimizer.momentum(1),
            DType.BF16,
            RowPolicy.ALL.withEviction(new Eviction.LowScore(0.8, 0.7f))));
  }

  private void train(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    for (int i = 0; i < WIDTH * ids.length; i++) {
      Memory.setFloat(gradients + 4L * i, 0.25f + (i + step) % 7);
    }
    int[] offsets = IntStream.rangeClosed(0, ids.length).toArray();
    ByAddress.apply(
        table, lookup, offsets, ids.length, Combiner.SUM, gradients, WIDTH, 0.1f, ++step);
  }

  private void trainAtRandom(EmbeddingTable table, SplittableRandom random) {
    int count = 1 + random.nextInt(200);
    if (random.nextInt(3) == 0) {
      table.erase(random.longs(20, -500, 500).map(id -> id * id * id).toArray(), 20);
    }
    train(table, random.longs(count, -500, 500).map(id -> id * id * id).toArray());
  }

  /** All that a snapshot gives, in the order of files. */
  private static byte[] bytes(TableSnapshot snapshot) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    snapshot.exportBlocks(block -> {
      ByteBuffer ids = ByteBuffer.allocate(Long.BYTES * block.count());
      ids.asLongBuffer().put(block.ids(), 0, block.count());
      bytes.writeBytes(ids.array());
      bytes.writeBytes(block.weights().toArray(ValueLayout.JAVA_BYTE));
      bytes.writeBytes(block.state().toArray(ValueLayout.JAVA_BYTE));
      bytes.writeBytes(block.metadata().toArray(ValueLayout.JAVA_BYTE));
    });
    snapshot.exportBuckets(block -> {
      bytes.writeBytes(block.weights().toArray(ValueLayout.JAVA_BYTE));
      bytes.writeBytes(block.state().toArray(ValueLayout.JAVA_BYTE));
    });
    snapshot.readFilter((words, count) -> putAll(bytes, Arrays.copyOf(words, count)));
    putAll(bytes, snapshot.gone());
    putAll(bytes, snapshot.filterNumbers());
    putAll(bytes, snapshot.counters());
    putAll(bytes, snapshot.rows(), snapshot.filterWords());
    return bytes.toByteArray();
  }

  private static void putAll(ByteArrayOutputStream bytes, long... numbers) {
    ByteBuffer buffer = ByteBuffer.allocate(Long.BYTES * numbers.length);
    buffer.asLongBuffer().put(numbers);
    bytes.writeBytes(buffer.array());
  }

  private static TableSnapshot snapshot(EmbeddingTable table, boolean changes) {
    return changes ? table.snapshotOfChanges() : table.snapshot();
  }

  private static byte[] bytesNow(EmbeddingTable table, boolean changes) {
    try (TableSnapshot now = snapshot(table, changes)) {
      return bytes(now);
    }
  }

  @ParameterizedTest
  @MethodSource("tables")
  void aSnapshotIsTheTableOfItsMomentWhateverChangesLater(TableConfig config) {
    SplittableRandom random = new SplittableRandom(11);
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      for (int round = 0; round < 30; round++) {
        table.trackChanges();
        boolean changes = round % 2 == 1;
        for (int i = random.nextInt(6); i > 0; i--) {
          trainAtRandom(table, random);
        }
        byte[] expected = bytesNow(table, changes);
        try (TableSnapshot snapshot = snapshot(table, changes)) {
          assertThat(snapshot.holdsTable()).isFalse();
          for (int i = random.nextInt(12); i > 0; i--) {
            trainAtRandom(table, random);
          }
          assertThat(bytes(snapshot)).isEqualTo(expected);
          trainAtRandom(table, random);
          assertThat(bytes(snapshot)).isEqualTo(expected);
        }
        SoundTable.require(table.rows);
      }
      assertThat(table.statistics().evicted()).isPositive();
    }
  }

  /** Blocks are gathered while rows change: only the order of both can keep rows whole. */
  @ParameterizedTest
  @MethodSource("tables")
  void aSnapshotReadWhileAnotherThreadTrainsIsTheTableOfItsMoment(TableConfig config)
      throws Exception {
    SplittableRandom random = new SplittableRandom(12);
    AtomicInteger steps = new AtomicInteger();
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      for (int round = 0; round < 60; round++) {
        trainAtRandom(table, random);
        byte[] expected = bytesNow(table, false);
        int enough = steps.get() + 3;
        try (TableSnapshot snapshot = table.snapshot()) {
          // Reads again and again until there were steps beside them, however fast a read is.
          Future<Boolean> read =
              threads.submit(() -> {
                boolean same = true;
                do {
                  same &= Arrays.equals(bytes(snapshot), expected);
                } while (same && steps.get() < enough);
                return same;
              });
          while (!read.isDone()) {
            trainAtRandom(table, random);
            steps.incrementAndGet();
          }
          assertThat(read.get()).isTrue();
        }
      }
    }
  }

  /** The walk over ids stops between parts of the index; ids come and go on both sides of it. */
  @ParameterizedTest
  @ValueSource(ints = {700_000, 1_500_000})
  void idsThatComeAndGoWhileOthersAreWalkedAreThoseOfTheMoment(int most) {
    int size = 600_000;
    TableConfig config =
        config(
            Optimizer.sgd(1),
            DType.F32,
            RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), most));
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      for (int from = 0; from < size; from += 15_000) {
        train(table, LongStream.range(from, from + 15_000).toArray());
      }
      SplittableRandom random = new SplittableRandom(13);
      for (int round = 0; round < 2; round++) {
        long rows = table.size();
        byte[] expected = bytesNow(table, false);
        try (TableSnapshot snapshot = table.snapshot()) {
          AtomicInteger walked = new AtomicInteger();
          List<Long> ids = new ArrayList<>();
          snapshot.forEachEntry((id, row) -> {
            ids.add(id);
            if (walked.incrementAndGet() % 20_000 == 0) {
              // Some known, some evicted before, some new, in place of the oldest.
              train(table, random.longs(15_000, 0, 4L * size).toArray());
            }
          });
          assertThat(ids).hasSize((int) rows).doesNotHaveDuplicates();
          assertThat(bytes(snapshot)).isEqualTo(expected);
        }
      }
      SoundTable.require(table.rows);
      assertThat(table.statistics().evicted() > 0).isEqualTo(most == 700_000);
    }
  }

  @Test
  void trainingWaitsWhereThereIsNoMemoryForCopiesAndTheSnapshotIsWholeAllTheSame()
      throws Exception {
    try (Allocator small = Allocator.of(5L << 20)) {
      TableConfig config = config(Optimizer.adagrad(1), DType.F32, RowPolicy.ALL);
      try (EmbeddingTable table = EmbeddingTable.create(config, small)) {
        long[] ids = LongStream.range(0, 40_000).toArray();
        for (int from = 0; from < ids.length; from += 8_000) {
          train(table, Arrays.copyOfRange(ids, from, from + 8_000));
        }
        byte[] expected = bytesNow(table, false);
        CountDownLatch done = new CountDownLatch(1);
        Future<?> training;
        try (TableSnapshot snapshot = table.snapshot()) {
          training =
              threads.submit(() -> {
                for (int from = 0; from < ids.length; from += 8_000) {
                  train(table, Arrays.copyOfRange(ids, from, from + 8_000));
                }
                done.countDown();
              });
          assertThat(done.await(300, TimeUnit.MILLISECONDS)).isFalse();
          assertThat(bytes(snapshot)).isEqualTo(expected);
          assertThat(done.getCount()).isOne();
        }
        training.get();
        assertThat(bytesNow(table, false)).isNotEqualTo(expected);
      }
      assertThat(small.live()).isZero();
    }
  }

  @Test
  void aTableThatCannotKeepRowsIsHeldUntilTheSnapshotIsClosed() throws Exception {
    TableConfig dense = config(Optimizer.adam(1), DType.F32, RowPolicy.ALL);
    TableConfig plain = config(Optimizer.sgd(1), DType.F32, RowPolicy.ALL);
    try (EmbeddingTable all = EmbeddingTable.create(dense, allocator);
        EmbeddingTable tiered =
            EmbeddingTable.create(plain, FileTier.of(folder, 500_000), allocator)) {
      for (EmbeddingTable table : List.of(all, tiered)) {
        train(table, 1, 2, 3);
        byte[] expected = bytesNow(table, false);
        Future<?> training;
        try (TableSnapshot snapshot = table.snapshot()) {
          assertThat(snapshot.holdsTable()).isTrue();
          training = threads.submit(() -> train(table, 2, 3, 4));
          Thread.sleep(50);
          assertThat(training.isDone()).isFalse();
          assertThat(bytes(snapshot)).isEqualTo(expected);
        }
        training.get();
        assertThat(bytesNow(table, false)).isNotEqualTo(expected);
      }
    }
  }

  @Test
  void oneSnapshotIsOpenAtATimeAndAClosedOneGivesNothing() {
    TableConfig config = config(Optimizer.sgd(1), DType.F32, RowPolicy.ALL);
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      train(table, 1, 2, 3);
      TableSnapshot first = table.snapshot();
      assertThatThrownBy(table::snapshot)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("table t: got a second snapshot, expected one at a time; close the first");
      train(table, 1, 5);
      first.close();
      first.close();
      assertThatThrownBy(() -> bytes(first))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("table t: got a snapshot that is closed, expected an open one; take another");
      long held = allocator.live();
      train(table, 2, 3);
      assertThat(allocator.live()).isEqualTo(held);
      try (TableSnapshot second = table.snapshot()) {
        assertThat(second.rows()).isEqualTo(4);
        assertThatThrownBy(() -> second.exportBlocks(_ -> second.close()))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("close it afterwards");
      }
    }
  }

  @Test
  void aSnapshotThatHoldsTheTableIsClosedByItsMakerAlone() throws Exception {
    TableConfig config = config(Optimizer.adam(1), DType.F32, RowPolicy.ALL);
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      train(table, 1, 2, 3);
      TableSnapshot snapshot = table.snapshot();
      assertThat(snapshot.holdsTable()).isTrue();
      threads
          .submit(() ->
              assertThatThrownBy(snapshot::close)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("in another thread than it was made in; close it there"))
          .get();
      assertThat(snapshot.rows()).isEqualTo(3);
      snapshot.close();
      train(table, 4);
    }
  }

  @Test
  void aTableKeepsNothingOfAClosedSnapshot() throws InterruptedException {
    TableConfig config = config(Optimizer.adagrad(1), DType.F32, RowPolicy.ALL);
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      train(table, 1, 2, 3);
      WeakReference<TableSnapshot> snapshot = new WeakReference<>(table.snapshot());
      snapshot.get().close();
      train(table, 4);
      for (int i = 0; i < 100 && snapshot.get() != null; i++) {
        System.gc();
        Thread.sleep(10);
      }
      assertThat(snapshot.get()).isNull();
    }
  }

  @Test
  void theCopyOfAFilterLeavesRoomToGrowOrTheTableIsHeld() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 100_000));
    TableConfig config = config(Optimizer.adagrad(1), DType.F32, counted);
    try (Allocator small = Allocator.of(8L << 20);
        EmbeddingTable table = EmbeddingTable.create(config, small)) {
      train(table, 1, 1, 1, 2);
      long filter = table.statistics().filterBytes();
      long free = small.budget() - small.live();
      for (int times : new int[] {3, 5}) {
        long others = small.allocate(free - times * filter, "others");
        try (TableSnapshot snapshot = table.snapshot()) {
          assertThat(snapshot.holdsTable()).isEqualTo(times < 4);
          assertThat(small.budget() - small.live()).isGreaterThan(2 * filter);
        }
        small.free(others);
      }
    }
  }

  /** Takes all memory that is left, in pieces. */
  private static List<Long> takeAll(Allocator from) {
    List<Long> pieces = new ArrayList<>();
    for (long bytes = from.budget(); bytes > 0; ) {
      try {
        pieces.add(from.allocate(bytes, "all that is left"));
      } catch (OutOfBudgetException e) {
        bytes /= 2;
      }
    }
    return pieces;
  }

  @Test
  void rowsThatAnInsertWithoutMemoryLeftBehindAreNotThoseOfTheMoment() {
    try (Allocator small = Allocator.of(1L << 20)) {
      TableConfig config = config(Optimizer.adagrad(1), DType.F32, RowPolicy.ALL);
      try (EmbeddingTable table = EmbeddingTable.create(config, small)) {
        train(table, LongStream.range(0, 60).toArray());
        List<Long> all = takeAll(small);
        assertThatThrownBy(() -> train(table, LongStream.range(100, 300).toArray()))
            .isInstanceOf(OutOfBudgetException.class);
        all.forEach(small::free);
        byte[] expected = bytesNow(table, false);
        try (TableSnapshot snapshot = table.snapshot()) {
          train(table, LongStream.range(400, 600).toArray());
          assertThat(bytes(snapshot)).isEqualTo(expected);
        }
      }
      assertThat(small.live()).isZero();
    }
  }

  @Test
  void aSnapshotThatFailsKeepsNoMemoryAndStopsNoOther() {
    RowPolicy counted = RowPolicy.ALL.withAdmission(new Admission.ByCount(3, 10_000));
    TableConfig config = config(Optimizer.adagrad(1), DType.F32, counted);
    try (Allocator small = Allocator.of(1L << 20)) {
      try (EmbeddingTable table = EmbeddingTable.create(config, small)) {
        train(table, 1, 1, 1, 2);
        try (TableSnapshot first = table.snapshot()) {
          long held = small.live();
          assertThatThrownBy(table::snapshot).hasMessageContaining("got a second snapshot");
          assertThat(small.live()).isEqualTo(held);
          assertThat(first.rows()).isOne();
        }
        List<Long> all = takeAll(small);
        try (TableSnapshot held = table.snapshot()) {
          assertThat(held.holdsTable()).isTrue();
        }
        all.forEach(small::free);
        try (TableSnapshot later = table.snapshot()) {
          assertThat(later.holdsTable()).isFalse();
        }
      }
      assertThat(small.live()).isZero();
    }
  }

  @Test
  void anImportWaitsWhereThereIsNoMemoryToKeepTheEmptyTableOfTheMoment() throws Exception {
    RowPolicy unseen = RowPolicy.ALL.withEviction(new Eviction.Unseen(1));
    TableConfig config = config(Optimizer.sgd(1), DType.F32, unseen);
    try (Allocator small = Allocator.of(1L << 20)) {
      try (EmbeddingTable table = EmbeddingTable.create(config, small)) {
        train(table, LongStream.range(0, 200).toArray());
        train(table);
        train(table);
        assertThat(table.size()).isZero();
        Future<?> imported;
        long others = 0;
        try (TableSnapshot snapshot = table.snapshot()) {
          others = small.allocate((small.budget() - small.live()) / 2, "others");
          CountDownLatch done = new CountDownLatch(1);
          imported =
              threads.submit(() -> {
                table.importFrom(oneRow(5));
                done.countDown();
              });
          assertThat(done.await(300, TimeUnit.MILLISECONDS)).isFalse();
          assertThat(imported.isDone()).isFalse();
          assertThat(snapshot.rows()).isZero();
        }
        imported.get();
        assertThat(table.size()).isOne();
        small.free(others);
      }
      assertThat(small.live()).isZero();
    }
  }

  @Test
  void copiesOfAllTablesTogetherLeaveHalfOfWhatWasFree() throws Exception {
    long[] ids = LongStream.range(0, 10_000).toArray();
    TableConfig config = config(Optimizer.adagrad(1), DType.F32, RowPolicy.ALL);
    try (Allocator small = Allocator.of(8L << 20);
        EmbeddingTable first = EmbeddingTable.create(config, small);
        EmbeddingTable second = EmbeddingTable.create(config, small)) {
      train(first, ids);
      train(second, ids);
      // Room for the copies of one of them, in half of it.
      long free = 1_600_000;
      long others = small.allocate(small.budget() - small.live() - free, "others");
      CountDownLatch done = new CountDownLatch(1);
      Future<?> training;
      try (TableSnapshot one = first.snapshot();
          TableSnapshot other = second.snapshot()) {
        assertThat(one.rows()).isEqualTo(other.rows());
        train(first, ids);
        training =
            threads.submit(() -> {
              train(second, ids);
              done.countDown();
            });
        assertThat(done.await(300, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(small.budget() - small.live()).isGreaterThanOrEqualTo(free / 2);
      }
      training.get();
      assertThat(small.budget() - small.live()).isEqualTo(free);
      small.free(others);
    }
  }

  /** Of zeros, seen in step 1. */
  private static RowSource oneRow(long id) {
    AtomicInteger calls = new AtomicInteger();
    return (ids, values) -> {
      ids[0] = id;
      values.asSlice(0, 4L * WIDTH).fill((byte) 0);
      values.set(ValueLayout.JAVA_INT, 4L * WIDTH, 1);
      return calls.getAndIncrement() == 0 ? 1 : 0;
    };
  }

  @Test
  void closingATableEndsASnapshotThatIsBeingRead() throws Exception {
    TableConfig config = config(Optimizer.sgd(1), DType.F32, RowPolicy.ALL);
    EmbeddingTable table = EmbeddingTable.create(config, allocator);
    for (int from = 0; from < 40_000; from += 10_000) {
      train(table, LongStream.range(from, from + 10_000).toArray());
    }
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch closing = new CountDownLatch(1);
    TableSnapshot snapshot = table.snapshot();
    Future<?> read =
        threads.submit(() ->
            snapshot.exportBlocks(block -> {
              begun.countDown();
              await(closing);
            }));
    begun.await();
    Future<?> closed = threads.submit(table::close);
    while (!snapshot.closing) {
      Thread.onSpinWait();
    }
    closing.countDown();
    closed.get();
    assertThatThrownBy(read::get).hasMessageContaining("got a snapshot that is closed");
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
