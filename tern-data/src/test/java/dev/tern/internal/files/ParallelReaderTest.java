package dev.tern.internal.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.ReadPolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Readers of several threads over rows that are made up. */
class ParallelReaderTest {
  private static final Schema SCHEMA = new Schema(List.of("row"), List.of(), List.of());

  /** Numbers from 0 on, given out slower at some places than at others. */
  private static final class Counted implements RowSource {
    private final SplittableRandom random;
    private final long end;
    private final AtomicInteger open;
    private long next;

    Counted(long seed, long end, AtomicInteger open) {
      random = new SplittableRandom(seed);
      this.end = end;
      this.open = open;
      open.incrementAndGet();
    }

    @Override
    public void fill(Batch batch, int limit) {
      for (int spins = random.nextInt(2000); spins > 0; spins--) {
        Thread.onSpinWait();
      }
      for (; batch.size() < limit && next < end; next++) {
        batch.setLabel(0, next);
        batch.endRow();
      }
    }

    @Override
    public long skip(long rows) {
      long skipped = Math.min(rows, end - next);
      next += skipped;
      return skipped;
    }

    @Override
    public void close() {
      open.decrementAndGet();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5})
  void anyOrderOfCallsGivesTheRowsOfOneThreadAndLeavesNothingOpen(int threads)
      throws InterruptedException {
    AtomicInteger open = new AtomicInteger();
    SplittableRandom random = new SplittableRandom(threads);
    AtomicLong seeds = new AtomicLong();
    for (int i = 0; i < 100; i++) {
      long end = random.nextInt(500);
      DataReader reader =
          FileSequence.open(
              SCHEMA,
              List.of(Path.of("none")),
              OptionalLong.of(7), // makes batches of 7 rows
              ReadPolicy.STRICT.withThreads(threads),
              (_, _) -> new Counted(seeds.getAndIncrement(), end, open));
      long at = 0;
      try (reader) {
        for (int calls = random.nextInt(150); calls > 0; calls--) {
          at = callAtRandom(reader, random, at, end);
        }
      }
    }
    assertAllClosed(open);
  }

  private static void assertAllClosed(AtomicInteger open) throws InterruptedException {
    for (int waits = 0; open.get() > 0 && waits < 1000; waits++) {
      Thread.sleep(10);
    }
    assertThat(open).hasValue(0);
  }

  /** Rows without end, which say how many of them are skipped, call by call. */
  private record Endless(LongConsumer skipped, AtomicInteger open) implements RowSource {
    Endless {
      open.incrementAndGet();
    }

    @Override
    public void fill(Batch batch, int limit) {
      while (batch.size() < limit) {
        batch.endRow();
      }
    }

    @Override
    public long skip(long rows) {
      skipped.accept(rows);
      return rows;
    }

    @Override
    public void close() {
      open.decrementAndGet();
    }
  }

  private static DataReader endless(int threads, AtomicInteger open, Supplier<LongConsumer> skips) {
    return FileSequence.open(
        SCHEMA,
        List.of(Path.of("none")),
        OptionalLong.empty(),
        ReadPolicy.STRICT.withThreads(threads),
        (_, _) -> new Endless(skips.get(), open));
  }

  @Test
  void skipsInARowPassEachRowOnce() {
    AtomicLong passed = new AtomicLong();
    try (DataReader reader = endless(2, new AtomicInteger(), () -> passed::addAndGet)) {
      for (int i = 0; i < 100; i++) {
        assertThat(reader.skip(10)).isEqualTo(10);
      }
      assertThat(passed).hasValue(1000);
      reader.start(1);
      reader.skip(5);
      reader.skip(6);
      assertThat(passed).hasValue(1011);
    }
  }

  @Test
  void readersOnlyGoForwardWhateverIsSkippedAmongBatches() throws InterruptedException {
    int threads = 2;
    AtomicInteger open = new AtomicInteger();
    List<AtomicLong> passed = new CopyOnWriteArrayList<>();
    Supplier<LongConsumer> skips =
        () -> {
          AtomicLong rows = new AtomicLong();
          passed.add(rows);
          return rows::addAndGet;
        };
    long at = 0;
    try (DataReader reader = endless(threads, open, skips)) {
      for (int i = 0; i < 50; i++) {
        int skip = i % 2 == 0 ? 100 : 100_000;
        assertThat(reader.skip(skip)).isEqualTo(skip);
        try (Batch batch = reader.next().orElseThrow()) {
          at += skip + batch.size();
        }
      }
    }
    assertAllClosed(open);
    // One that each thread reads, and one that counts what is skipped.
    assertThat(passed).hasSize(threads + 1);
    for (AtomicLong rows : passed) {
      assertThat(rows.get()).isLessThan(at + 100_000);
    }
  }

  @Test
  void aSkipAfterOneThatFailedStartsAnew() {
    AtomicLong passed = new AtomicLong();
    LongConsumer failing =
        rows -> {
          if (passed.addAndGet(rows) == 30) {
            throw new DataException("once");
          }
        };
    try (DataReader reader = endless(2, new AtomicInteger(), () -> failing)) {
      reader.skip(10);
      assertThatExceptionOfType(DataException.class).isThrownBy(() -> reader.skip(20));
      reader.skip(5);
      assertThat(passed).hasValue(10 + 20 + 10 + 5);
    }
  }

  @Test
  void aThreadStopsInTheMiddleOfALongSkipOnceTheReaderIsClosed() throws InterruptedException {
    int threads = 32; // the last of them skips 31 batches of 4096 rows first
    AtomicInteger open = new AtomicInteger();
    CountDownLatch skipping = new CountDownLatch(threads);
    CountDownLatch closed = new CountDownLatch(1);
    AtomicLong longest = new AtomicLong();
    Supplier<LongConsumer> skips =
        () -> {
          AtomicLong passed = new AtomicLong();
          return rows -> {
            if (rows > 0) {
              skipping.countDown();
              await(closed);
              longest.accumulateAndGet(passed.addAndGet(rows), Math::max);
            }
          };
        };
    DataReader reader = endless(threads, open, skips);
    reader.next().orElseThrow().close();
    skipping.await();
    reader.close();
    closed.countDown();
    assertAllClosed(open);
    assertThat(longest.get()).isPositive().isLessThanOrEqualTo(1 << 16);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long callAtRandom(DataReader reader, SplittableRandom random, long at, long end) {
    switch (random.nextInt(12)) {
      case 0 -> {
        reader.start(1);
        return 0;
      }
      case 1 -> {
        long skip = random.nextInt(100);
        assertThat(reader.skip(skip)).isEqualTo(Math.min(skip, end - at));
        return Math.min(at + skip, end);
      }
      default -> {
        Optional<Batch> next = reader.next();
        assertThat(next.isPresent()).isEqualTo(at < end);
        if (next.isEmpty()) {
          return at;
        }
        try (Batch batch = next.get()) {
          assertThat(batch.size()).isBetween(1, (int) Math.min(7, end - at));
          for (int row = 0; row < batch.size(); row++) {
            assertThat(batch.labels()[row]).isEqualTo(at + row);
          }
          return at + batch.size();
        }
      }
    }
  }
}
