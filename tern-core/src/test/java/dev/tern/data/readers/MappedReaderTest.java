package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Maps, on the consumer's thread and on others, and filters. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class MappedReaderTest {
  private static DataReader threads(DataReader source, BatchMap map, int threads) {
    return Readers.mapped(source, NumberedRows.SCHEMA, map, threads);
  }

  private static List<String> shifted(int from, int to) {
    Batch batch = new Batch(NumberedRows.SCHEMA, 1);
    NumberedRows.shift(NumberedRows.batch(from, to), batch);
    return NumberedRows.texts(batch);
  }

  static Stream<Function<BatchMap, DataReader>> mapped() {
    return Stream.of(
        map -> Readers.mapped(NumberedRows.reader(100, 10), NumberedRows.SCHEMA, map),
        map -> threads(NumberedRows.reader(100, 10), map, 1),
        map -> threads(NumberedRows.reader(100, 10), map, 3),
        map ->
            Readers.mappedUnordered(NumberedRows.reader(100, 7), NumberedRows.SCHEMA, map, 1, 10));
  }

  @ParameterizedTest
  @MethodSource("mapped")
  void aFailureComesInItsPlaceAndNamesTheRowAndItsCause(Function<BatchMap, DataReader> make) {
    IllegalStateException cause = new IllegalStateException("17 is unlucky");
    BatchMap map =
        (from, to) -> {
          for (int row = 0; row < from.size(); row++) {
            if (from.labels()[row] == 34) {
              throw cause;
            }
          }
          NumberedRows.shift(from, to);
        };
    try (DataReader reader = make.apply(map)) {
      reader.start(2);
      List<String> rows = new ArrayList<>();
      for (int batch = 0; batch < 3; batch++) {
        rows.addAll(NumberedRows.texts(reader.next().orElseThrow()));
      }
      assertThat(rows).isEqualTo(shifted(0, 30));
      assertThatThrownBy(reader::next)
          .isInstanceOf(DataException.class)
          .hasMessage("map: row 35 of pass 2: got java.lang.IllegalStateException: 17 is unlucky")
          .hasCause(cause);
    }
  }

  @ParameterizedTest
  @MethodSource("mapped")
  void aMapThatGivesOtherNumbersOfRowsIsRefused(Function<BatchMap, DataReader> make) {
    BatchMap odd =
        (from, to) -> {
          for (int row = 0; row < from.size(); row++) {
            if (from.labels()[row] != 4) {
              to.appendRow(from, row);
            }
          }
        };
    try (DataReader reader = make.apply(odd)) {
      assertThatThrownBy(reader::next)
          .isInstanceOf(DataException.class)
          .hasMessageStartingWith("map: row 5 of pass 0: got 0 rows for 1, expected as many");
    }
  }

  @Test
  void aFailureOfAWholeBatchNamesItsRows() {
    BatchMap map =
        (from, to) -> {
          if (from.size() > 1) {
            throw new DataException("part-7.csv: too much");
          }
          NumberedRows.shift(from, to);
        };
    try (DataReader reader = Readers.mapped(NumberedRows.reader(9, 4), NumberedRows.SCHEMA, map)) {
      reader.skip(4);
      assertThatThrownBy(reader::next)
          .hasMessage("map: one of rows 5 to 8 of pass 0: part-7.csv: too much");
    }
  }

  @Test
  void aFailureOfAFilterNamesTheRow() {
    RowFilter filter = (batch, row) -> 10 / ((int) batch.labels()[row] - 8) != 0;
    try (DataReader reader = Readers.filtered(NumberedRows.reader(20, 6), filter)) {
      reader.next().orElseThrow().close();
      assertThatThrownBy(reader::next)
          .isInstanceOf(DataException.class)
          .hasMessage("filter: row 9 of pass 0: got java.lang.ArithmeticException: / by zero")
          .hasCauseInstanceOf(ArithmeticException.class);
    }
  }

  @Test
  void errorsOfTheSourceComeAfterTheRowsBeforeThem() {
    try (DataReader reader =
        threads(new FailingReader(NumberedRows.reader(100, 10), 4), NumberedRows::shift, 3)) {
      for (int batch = 0; batch < 4; batch++) {
        assertThat(NumberedRows.texts(reader.next().orElseThrow()))
            .isEqualTo(shifted(10 * batch, 10 * batch + 10));
      }
      for (int again = 0; again < 2; again++) {
        assertThatThrownBy(reader::next)
            .hasMessage("part-1.csv: row 17: got \"x\", expected a number");
      }
      reader.start(0);
      assertThat(NumberedRows.texts(reader.next().orElseThrow())).isEqualTo(shifted(0, 10));
    }
  }

  @Test
  void errorsOfTheMachineStayWhatTheyAre() {
    BatchMap map =
        (_, _) -> {
          throw new OutOfMemoryError("as if");
        };
    try (DataReader reader = threads(NumberedRows.reader(10, 5), map, 2)) {
      assertThatThrownBy(reader::next).isExactlyInstanceOf(OutOfMemoryError.class);
    }
  }

  @Test
  void orderedBatchesAreThoseOfTheSourceAndAreMappedOnSeveralThreads() throws Exception {
    CountDownLatch two = new CountDownLatch(2);
    BatchMap map =
        (from, to) -> {
          two.countDown();
          await(two); // a single thread would wait for itself
          NumberedRows.shift(from, to);
        };
    try (DataReader reader =
        threads(Readers.batched(NumberedRows.reader(50, 9), 20, false), map, 2)) {
      assertThat(NumberedRows.texts(reader.next().orElseThrow())).isEqualTo(shifted(0, 20));
      assertThat(NumberedRows.texts(reader.next().orElseThrow())).isEqualTo(shifted(20, 40));
      assertThat(NumberedRows.texts(reader.next().orElseThrow())).isEqualTo(shifted(40, 50));
      assertThat(reader.next()).isEmpty();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void unorderedBatchesOvertakeASlowOneAndComeAgainAsTheyCame() {
    CountDownLatch others = new CountDownLatch(1);
    AtomicBoolean slow = new AtomicBoolean(true);
    BatchMap map =
        (from, to) -> {
          if (slow.get() && from.labels()[0] == 0) {
            await(others);
          }
          NumberedRows.shift(from, to);
        };
    DataReader reader =
        Readers.mappedUnordered(NumberedRows.reader(100, 100), NumberedRows.SCHEMA, map, 2, 10);
    List<String> rows = new ArrayList<>();
    for (int batch = 0; batch < 5; batch++) {
      rows.addAll(NumberedRows.texts(reader.next().orElseThrow()));
    }
    assertThat(rows).containsExactlyInAnyOrderElementsOf(shifted(10, 60));
    ReaderState state = reader.state();
    assertThat(state.order().turns()).hasSize(5).doesNotContain(0);
    others.countDown();
    reader.close();
    slow.set(false);
    DataReader again =
        Readers.mappedUnordered(
            NumberedRows.reader(100, 30), NumberedRows.SCHEMA, NumberedRows::shift, 1, 10);
    again.restore(new ReaderState(0, 0, state.order()));
    List<String> replayed = new ArrayList<>();
    for (int batch = 0; batch < 5; batch++) {
      replayed.addAll(NumberedRows.texts(again.next().orElseThrow()));
    }
    assertThat(replayed).isEqualTo(rows);
    again.restore(state);
    List<String> rest = new ArrayList<>(shifted(0, 10));
    rest.addAll(shifted(60, 100));
    assertThat(NumberedRows.rest(again)).containsExactlyInAnyOrderElementsOf(rest);
    again.close();
  }

  /** Each copy of a batch takes 4 MiB, all that are skipped 4 GiB, twice what a test may use. */
  @Test
  void aRestoreBesideASlowMapHoldsFewBatches() {
    List<String> names = IntStream.range(0, 1024).mapToObj(i -> "x" + i).toList();
    Schema wide = new Schema(List.of("label"), names, List.of());
    List<Batch> batches = new ArrayList<>();
    for (int number = 0; number < 1024; number++) {
      Batch row = new Batch(wide, 1);
      row.setLabel(0, number);
      row.endRow();
      batches.add(row);
    }
    CountDownLatch release = new CountDownLatch(1);
    BatchMap map =
        (from, to) -> {
          if (from.labels()[0] != 1) {
            await(release);
          }
          to.appendRows(from, 0, from.size());
        };
    // A log in which all others overtake the first batch.
    PassOrder order = new PassOrder(Collections.nCopies(1023, 1), List.of());
    try (DataReader reader =
        Readers.mappedUnordered(Readers.inMemory(wide, batches), wide, map, 2, 1)) {
      reader.restore(new ReaderState(0, 1023, order));
      release.countDown();
      assertThat(reader.next().orElseThrow().labels()[0]).isZero();
      assertThat(reader.next()).isEmpty();
    }
  }

  @Test
  void wholeBatchesAreSkippedWithoutTheMap() {
    AtomicInteger mapped = new AtomicInteger();
    BatchMap map =
        (from, to) -> {
          mapped.addAndGet(from.size());
          NumberedRows.shift(from, to);
        };
    try (DataReader reader =
        Readers.mappedUnordered(NumberedRows.reader(1000, 64), NumberedRows.SCHEMA, map, 1, 10)) {
      assertThat(reader.skip(985)).isEqualTo(985);
      assertThat(NumberedRows.rest(reader)).isEqualTo(shifted(985, 1000));
      assertThat(mapped.get()).isEqualTo(20);
    }
  }

  @Test
  void closeDoesNotWaitForAMapThatHangs() throws Exception {
    CountDownLatch entered = new CountDownLatch(2);
    AtomicBoolean release = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    BatchMap map =
        (from, to) -> {
          if (from.labels()[0] > 0) {
            synchronized (threads) {
              threads.add(Thread.currentThread());
            }
            entered.countDown();
            while (!release.get()) {
              LockSupport.parkNanos(1_000_000);
            }
          }
          NumberedRows.shift(from, to);
        };
    AtomicBoolean closed = new AtomicBoolean();
    DataReader source =
        new FailingReader(NumberedRows.reader(100, 10), Integer.MAX_VALUE) {
          @Override
          public void close() {
            closed.set(true);
          }
        };
    DataReader reader = threads(source, map, 2);
    reader.next().orElseThrow().close();
    entered.await();
    reader.close();
    assertThat(closed).isTrue();
    release.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void anyNumberOfThreadsGivesTheRowsOfOne() {
    for (int threads = 1; threads <= 8; threads++) {
      try (DataReader reader =
          threads(NumberedRows.reader(3000, 7), NumberedRows::shift, threads)) {
        for (int pass = 0; pass < 3; pass++) {
          reader.start(pass);
          assertThat(NumberedRows.rest(reader)).isEqualTo(shifted(0, 3000));
        }
      }
    }
  }

  @Test
  void arraysOfMappedBatchesAreRecycled() {
    List<float[]> arrays = new ArrayList<>();
    try (DataReader reader = threads(NumberedRows.reader(1000, 10), NumberedRows::shift, 2)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        arrays.add(next.get().labels());
        next.get().close();
      }
    }
    assertThat(arrays.stream().map(System::identityHashCode).distinct().count())
        .isLessThanOrEqualTo(7);
  }
}
