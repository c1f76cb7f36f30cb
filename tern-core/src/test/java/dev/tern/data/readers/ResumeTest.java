package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.PassOrder;
import dev.tern.data.ReaderState;
import dev.tern.data.readers.RandomPipeline.Known;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random pipelines, stopped anywhere and resumed. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ResumeTest {
  private static final int PIPELINES = 1000;
  private static final int EPOCHS = 2;

  @Test
  void aRunStoppedAnywhereAndResumedSeesExactlyTheRemainingRows() throws InterruptedException {
    Set<Thread> before = threads();
    for (long seed = 0; seed < PIPELINES; seed++) {
      try {
        new Run(seed, 0).check();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("pipeline " + seed, e);
      }
    }
    assertNoneLeft(before);
  }

  @Test
  void aRunGoesOnExactlyAfterFailures() throws InterruptedException {
    Set<Thread> before = threads();
    for (long seed = 0; seed < PIPELINES / 2; seed++) {
      try {
        new Run(seed, 2).check();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("pipeline " + seed + " with failures", e);
      }
    }
    assertNoneLeft(before);
  }

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("tern-"))
        .collect(Collectors.toSet());
  }

  private static void assertNoneLeft(Set<Thread> before) throws InterruptedException {
    for (Thread thread : threads()) {
      if (!before.contains(thread)) {
        assertThat(thread.join(Duration.ofSeconds(30))).as(thread.getName()).isTrue();
      }
    }
  }

  /** One pipeline. */
  private static final class Run {
    private final SplittableRandom random;
    private final long seed;
    private final int depth;
    private final int failures;
    private final List<List<String>> passes = new ArrayList<>();
    private Known known = Known.LISTED;

    /** Rows delivered or skipped in this pass. */
    private final List<String> seen = new ArrayList<>();

    Run(long seed, int failures) {
      this.seed = seed;
      this.failures = failures;
      random = new SplittableRandom(seed ^ 0x5DEECE66DL);
      depth = random.nextInt(6);
      try (DataReader reader = open(0)) {
        for (int epoch = 0; epoch <= EPOCHS; epoch++) {
          reader.start(epoch);
          passes.add(NumberedRows.rest(reader));
        }
      }
    }

    private DataReader open(int failures) {
      RandomPipeline pipeline = new RandomPipeline(seed, depth, failures);
      known = pipeline.known();
      return pipeline.reader();
    }

    /** A reader that may have read something else before. */
    private DataReader openAndUse() {
      DataReader reader = open(failures);
      if (random.nextBoolean()) {
        List<String> before = List.copyOf(seen);
        seen.clear();
        int epoch = random.nextInt(EPOCHS);
        restore(reader, ReaderState.start(epoch));
        readSome(reader, epoch);
        seen.clear();
        seen.addAll(before);
      }
      return reader;
    }

    void check() {
      int epoch = random.nextInt(EPOCHS);
      DataReader reader = openAndUse();
      restore(reader, ReaderState.start(epoch));
      ReaderState state = reader.state();
      for (int stops = 1 + random.nextInt(3); stops > 0; stops--) {
        readSome(reader, epoch);
        state = ReaderState.parse(reader.state().text());
        assertThat(state.epoch()).isEqualTo(epoch);
        assertThat(state.rows()).isEqualTo(seen.size());
        reader.close();
        checkReplayed(state);
        reader = openAndUse();
        restore(reader, state);
      }
      List<String> prefix = List.copyOf(seen);
      checkRest(reader, epoch);
      restore(reader, ReaderState.start(epoch + 1));
      seen.clear();
      checkRest(reader, epoch + 1);
      restore(reader, state);
      seen.clear();
      seen.addAll(prefix);
      checkRest(reader, epoch);
      reader.close();
    }

    private void readSome(DataReader reader, int epoch) {
      for (int calls = random.nextInt(12); calls > 0; calls--) {
        if (random.nextInt(5) == 0 && known == Known.LISTED) {
          skip(reader, random.nextInt(30), passes.get(epoch));
        } else if (!readOne(reader)) {
          return;
        }
      }
    }

    private void skip(DataReader reader, int rows, List<String> pass) {
      while (true) {
        try {
          int skipped = (int) reader.skip(rows);
          assertThat(skipped).isEqualTo(Math.min(rows, pass.size() - seen.size()));
          seen.addAll(pass.subList(seen.size(), seen.size() + skipped));
          return;
        } catch (DataException e) {
          recover(reader, e);
        }
      }
    }

    /** Reads a batch, after as many failures as there are; false at the end of the pass. */
    private boolean readOne(DataReader reader) {
      while (true) {
        try {
          Optional<Batch> next = reader.next();
          next.ifPresent(this::see);
          return next.isPresent();
        } catch (DataException e) {
          recover(reader, e);
        }
      }
    }

    private void recover(DataReader reader, DataException e) {
      assertThat(e).hasMessage("flaky");
      ReaderState state = reader.state();
      assertThat(state.rows()).isEqualTo(seen.size());
      restore(reader, state);
    }

    private static void restore(DataReader reader, ReaderState state) {
      while (true) {
        try {
          reader.restore(state);
          return;
        } catch (DataException e) {
          assertThat(e).hasMessage("flaky");
        }
      }
    }

    /** Notes the rows and writes over them, as the borrower of a batch may. */
    private void see(Batch batch) {
      seen.addAll(NumberedRows.texts(batch));
      Arrays.fill(batch.labels(), -1);
      Arrays.fill(batch.dense(), -1);
      for (int s = 0; s < batch.schema().slotCount(); s++) {
        Arrays.fill(batch.ids(s), -1);
      }
      batch.close();
    }

    /** A pass in the order of {@code state} begins with the rows seen. */
    private void checkReplayed(ReaderState state) {
      List<String> expected = List.copyOf(seen);
      try (DataReader reader = open(0)) {
        reader.restore(new ReaderState(state.epoch(), 0, state.order()));
        seen.clear();
        while (seen.size() < expected.size() && readOne(reader)) {
          // Reading is what matters.
        }
        assertThat(seen).startsWith(expected.toArray(String[]::new));
      }
      seen.clear();
      seen.addAll(expected);
    }

    private void checkRest(DataReader reader, int epoch) {
      while (readOne(reader)) {
        // Reading is what matters.
      }
      assertThat(readOne(reader)).isFalse();
      List<String> pass = passes.get(epoch);
      switch (known) {
        case LISTED -> assertThat(seen).isEqualTo(pass);
        case COUNTED ->
            assertThat(seen.stream().sorted().toList()).isEqualTo(pass.stream().sorted().toList());
        case LOOSE -> {}
      }
    }
  }

  @Test
  void aStateOfMoreRowsThanThereAreIsRefused() {
    try (DataReader reader = NumberedRows.reader(20, 6)) {
      assertThatThrownBy(() -> reader.restore(new ReaderState(3, 21, PassOrder.FIXED)))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("resume: got 20 rows in pass 3, expected at least 21");
    }
  }

  @Test
  void statesAreTextAndBack() {
    PassOrder order =
        new PassOrder(
            List.of(0, 3, 12), List.of(PassOrder.FIXED, new PassOrder(List.of(1), List.of())));
    for (ReaderState state :
        List.of(
            ReaderState.start(0),
            new ReaderState(7, 1L << 40, PassOrder.FIXED),
            new ReaderState(1, 2, order))) {
      assertThat(ReaderState.parse(state.text())).isEqualTo(state);
    }
    for (String text :
        List.of("", "1", "a b", "-1 2", "1 -2", "1 2 (", "1 2 (3)", "1 2 (-3 )", "1 2 ()x")) {
      assertThatThrownBy(() -> ReaderState.parse(text))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("reader state: got \"" + text + "\"");
    }
  }

  @Test
  void callsAfterCloseAreRefused() {
    DataReader reader = Readers.take(NumberedRows.reader(5, 5), 3);
    reader.close();
    for (Runnable call :
        List.<Runnable>of(
            reader::next, reader::state, () -> reader.start(0), () -> reader.skip(1))) {
      assertThatThrownBy(call::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("after close");
    }
  }
}
