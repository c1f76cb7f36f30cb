package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.ReaderState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class PrefetchedReaderTest {
  @Test
  void failureOfTheSourceArrivesInItsPlaceAsItWasThrown() {
    for (int failAt : new int[] {0, 1, 5}) {
      DataReader reader =
          Readers.prefetched(new FailingReader(NumberedRows.reader(100, 10), failAt), 3);
      for (int batch = 0; batch < failAt; batch++) {
        reader.next().orElseThrow().close();
      }
      for (int again = 0; again < 2; again++) {
        assertThatThrownBy(reader::next)
            .isExactlyInstanceOf(DataException.class)
            .hasMessage("part-1.csv: row 17: got \"x\", expected a number");
      }
      reader.start(0);
      if (failAt > 0) {
        assertThat(NumberedRows.texts(reader.next().orElseThrow()))
            .isEqualTo(NumberedRows.expected(10));
      }
      reader.close();
    }
  }

  @Test
  void errorsAndExceptionsOfFuturesArriveToo() {
    arrives(new OutOfMemoryError("as if"));
    arrives(new CompletionException("reading part 3", new IOException("disk")));
  }

  private static void arrives(Throwable failure) {
    DataReader source =
        new FailingReader(NumberedRows.reader(10, 10), Integer.MAX_VALUE) {
          @Override
          public Optional<Batch> next() {
            PrefetchedReader.rethrow(failure);
            return Optional.empty();
          }
        };
    try (DataReader reader = Readers.prefetched(source, 1)) {
      assertThatThrownBy(reader::next).isSameAs(failure);
      assertThatThrownBy(reader::next).isSameAs(failure);
    }
  }

  @Test
  void skipBeyondAFailureThrowsIt() {
    DataReader reader = Readers.prefetched(new FailingReader(NumberedRows.reader(100, 10), 2), 5);
    reader.next().orElseThrow().close();
    reader.next().orElseThrow().close();
    assertThatThrownBy(reader::next).isInstanceOf(DataException.class);
    assertThat(reader.skip(0)).isZero();
    assertThatThrownBy(() -> reader.skip(1)).isInstanceOf(DataException.class);
    reader.close();
  }

  @Test
  void sourceIsReadAheadByAtMostTheDepth() throws Exception {
    AtomicInteger reads = new AtomicInteger();
    DataReader source =
        new FailingReader(NumberedRows.reader(1000, 10), Integer.MAX_VALUE) {
          @Override
          public Optional<Batch> next() {
            reads.incrementAndGet();
            return super.next();
          }
        };
    try (DataReader reader = Readers.prefetched(source, 4)) {
      reader.next().orElseThrow().close();
      while (reads.get() < 5) {
        Thread.onSpinWait();
      }
      Thread.sleep(50);
      assertThat(reads.get()).isEqualTo(5);
    }
  }

  @Test
  void waitingForRowsThatAreNotThereYetIsCounted() {
    AtomicInteger reads = new AtomicInteger();
    DataReader source =
        new FailingReader(NumberedRows.reader(1000, 10), Integer.MAX_VALUE) {
          @Override
          public Optional<Batch> next() {
            if (reads.getAndIncrement() == 0) {
              LockSupport.parkNanos(1_000_000);
            }
            return super.next();
          }
        };
    try (DataReader reader = Readers.prefetched(source, 4)) {
      assertThat(reader.waitedNanos()).isZero();
      reader.next().orElseThrow().close();
      long waited = reader.waitedNanos();
      assertThat(waited).isPositive();
      while (reads.get() < 5) {
        Thread.onSpinWait();
      }
      reader.next().orElseThrow().close();
      assertThat(reader.waitedNanos()).isEqualTo(waited);
    }
  }

  @Test
  void sourceIsUsedByOneThreadAtATimeAndAllRowsArrive() {
    AtomicBoolean inside = new AtomicBoolean();
    SplittableRandom random = new SplittableRandom(4);
    DataReader source =
        new FailingReader(NumberedRows.reader(500, 7), Integer.MAX_VALUE) {
          private void enter() {
            assertThat(inside.compareAndSet(false, true)).isTrue();
          }

          @Override
          public Optional<Batch> next() {
            enter();
            try {
              return super.next();
            } finally {
              inside.set(false);
            }
          }

          @Override
          public void restore(ReaderState state) {
            enter();
            super.restore(state);
            inside.set(false);
          }

          @Override
          public long skip(long rows) {
            enter();
            try {
              return super.skip(rows);
            } finally {
              inside.set(false);
            }
          }
        };
    List<String> all = NumberedRows.expected(500);
    try (DataReader reader = Readers.prefetched(source, 3)) {
      for (int pass = 0; pass < 300; pass++) {
        reader.start(pass);
        int at = 0;
        int stop = random.nextInt(600);
        while (at < stop) {
          if (random.nextInt(4) == 0) {
            at += (int) reader.skip(random.nextInt(40));
          }
          Optional<Batch> next = reader.next();
          if (next.isEmpty()) {
            assertThat(at).isEqualTo(500);
            break;
          }
          try (Batch batch = next.get()) {
            assertThat(NumberedRows.texts(batch)).isEqualTo(all.subList(at, at + batch.size()));
            at += batch.size();
          }
        }
      }
    }
  }

  @Test
  void closeEndsTheThreadWhateverTheConsumerDidBefore() throws Exception {
    SplittableRandom random = new SplittableRandom(8);
    Set<Thread> before = prefetchThreads();
    AtomicInteger closed = new AtomicInteger();
    int readers = 500;
    for (int i = 0; i < readers; i++) {
      DataReader source =
          new FailingReader(NumberedRows.reader(200, 5), random.nextInt(60)) {
            @Override
            public void close() {
              closed.incrementAndGet();
            }
          };
      DataReader reader = Readers.prefetched(source, 1 + random.nextInt(3));
      List<Batch> kept = new ArrayList<>();
      for (int batches = random.nextInt(50); batches > 0; batches--) {
        try {
          reader.next().ifPresent(kept::add);
        } catch (DataException e) {
          break;
        }
      }
      reader.close();
      kept.forEach(Batch::close);
    }
    assertThat(closed.get()).isEqualTo(readers);
    for (Thread thread : prefetchThreads()) {
      if (!before.contains(thread)) {
        assertThat(thread.join(Duration.ofSeconds(30))).isTrue();
      }
    }
  }

  private static Set<Thread> prefetchThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("tern-prefetch"))
        .collect(Collectors.toSet());
  }

  @Test
  void closeDoesNotWaitForASourceThatHangs() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    AtomicInteger reads = new AtomicInteger();
    DataReader source =
        new FailingReader(NumberedRows.reader(100, 10), Integer.MAX_VALUE) {
          @Override
          public Optional<Batch> next() {
            if (reads.getAndIncrement() > 0) {
              entered.countDown();
              while (release.getCount() > 0) {
                LockSupport.parkNanos(1_000_000);
              }
            }
            return super.next();
          }

          @Override
          public void close() {
            closed.countDown();
          }
        };
    DataReader reader = Readers.prefetched(source, 2);
    reader.next().orElseThrow().close();
    entered.await();
    reader.close();
    assertThat(closed.getCount()).as("not closed under the read").isEqualTo(1);
    release.countDown();
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void callsAfterCloseAreRefused() {
    DataReader reader = Readers.prefetched(NumberedRows.reader(10, 5), 1);
    reader.close();
    assertThatThrownBy(reader::next)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after close");
    assertThatThrownBy(() -> reader.start(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> reader.skip(1)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void interruptedConsumerStillGetsItsRows() {
    DataReader reader = Readers.prefetched(NumberedRows.reader(50, 5), 2);
    Thread.currentThread().interrupt();
    assertThat(NumberedRows.rest(reader)).isEqualTo(NumberedRows.expected(50));
    reader.close();
    assertThat(Thread.interrupted()).isTrue();
  }
}
