package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that go once they were unseen for a time, by a clock of the test. */
final class UnseenForTest {
  private static final int WIDTH = 2;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final long zeros = allocator.allocate(4L * 100 * WIDTH, "gradients");

  /** Milliseconds. */
  private long now = 1_000_000;

  private final InstantSource clock = () -> Instant.ofEpochMilli(now);

  @AfterEach
  void closedTablesHoldNoMemory() {
    allocator.free(zeros);
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(Eviction eviction) {
    RowPolicy policy = RowPolicy.ALL.withEviction(eviction);
    return EmbeddingTable.create(
        new TableConfig(
            "t", 1, WIDTH, 42, TableOptions.of(Optimizer.sgd(1)).initRange(0.5f).rows(policy)),
        allocator);
  }

  private EmbeddingTable unseenFor(long millis) {
    return table(new Eviction.UnseenFor(Duration.ofMillis(millis), clock));
  }

  /** The table as a checkpoint keeps it, in a new one; closes the old one. */
  private EmbeddingTable restored(EmbeddingTable table) {
    EmbeddingTable copy = table(table.config().rows().eviction());
    TableCopy.copy(table, copy);
    assertThat(TableCopy.counters(copy)).isEqualTo(TableCopy.counters(table));
    table.close();
    return copy;
  }

  private void train(EmbeddingTable table, long step, long... ids) {
    Memory.zero(zeros, 4L * ids.length * WIDTH);
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    int[] offsets = IntStream.rangeClosed(0, ids.length).toArray();
    ByAddress.apply(table, lookup, offsets, ids.length, Combiner.SUM, zeros, WIDTH, 0.1f, step);
  }

  /** The step in which each row was seen last, by its id. */
  private static Map<Long, Integer> rows(EmbeddingTable table) {
    Map<Long, Integer> rows = new TreeMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        rows.put(ids[i], Memory.getInt(values + 4L * ((i + 1) * floats - 1)));
      }
    });
    return rows;
  }

  private static long[] ids(SplittableRandom random) {
    return LongStream.generate(() -> (long) (400 * Math.pow(random.nextDouble(), 3)))
        .limit(random.nextInt(6))
        .toArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 100, 256})
  void inStepsOfEqualTimeATimeIsAsGoodAsTheNumberOfSteps(int steps) {
    SplittableRandom random = new SplittableRandom(steps);
    EmbeddingTable timed = unseenFor(700L * steps);
    EmbeddingTable counted = table(new Eviction.Unseen(steps));
    for (int step = 1; step <= 3 * steps + 50; step++) {
      long[] ids = ids(random);
      now += 700;
      train(timed, step, ids);
      train(counted, step, ids);
      assertThat(rows(timed)).as("step %d", step).isEqualTo(rows(counted));
      if (step % 41 == 0) {
        timed = restored(timed);
      }
    }
    assertThat(timed.statistics().evicted()).isEqualTo(counted.statistics().evicted()).isPositive();
    timed.close();
    counted.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 100, 128, 5000, 86_400_000})
  void rowsGoAsSoonAsTheyWereUnseenSoLongAndAtMostAPartLater(long time) {
    SplittableRandom random = new SplittableRandom(time);
    EmbeddingTable table = unseenFor(time);
    Map<Long, Long> seen = new HashMap<>(); // when the last step ended that saw it
    int late = 0;
    for (int step = 1; step <= 2000; step++) {
      int pace = random.nextInt(100);
      now += pace == 0 ? 2 * time : (long) (time * Math.pow(random.nextDouble(), 9));
      long[] ids = ids(random);
      train(table, step, ids);
      for (long id : ids) {
        seen.put(id, now);
      }
      Map<Long, Integer> rows = rows(table);
      for (long id : List.copyOf(seen.keySet())) {
        long unseen = now - seen.get(id);
        if (unseen < time) {
          assertThat(rows).containsKey(id);
        } else if (unseen >= time + Math.ceilDiv(time, 128)) {
          assertThat(rows).doesNotContainKey(id);
        }
        late += unseen >= time && rows.containsKey(id) ? 1 : 0;
      }
      seen.keySet().retainAll(rows.keySet());
      assertThat(rows.keySet()).isEqualTo(new TreeSet<>(seen.keySet()));
      if (step % 97 == 0) {
        table = restored(table);
      }
    }
    assertThat(table.statistics().evicted()).isGreaterThan(100);
    if (time <= 128) {
      assertThat(late).isZero(); // every step is told apart
    }
    table.close();
  }

  @Test
  void timesOfManyStepsTakeLittleRoom() {
    EmbeddingTable table = unseenFor(1000);
    int most = 0;
    for (int step = 1; step <= 20_000; step++) {
      now += step % 3 == 0 ? 0 : step % 2 + 2;
      train(table, step, step);
      most = Math.max(most, TableCopy.counters(table).length);
    }
    assertThat(most).isBetween(7 + 2 * 100, 7 + 2 * 256);
    assertThat(table.size()).isBetween(500L, 1020L);
    restored(table).close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 127, 129, 255, 257, 1000})
  void noTimeNorPaceOfStepsTakesMoreRoom(long time) {
    for (int stepsOfAMilli = 1; stepsOfAMilli <= 3; stepsOfAMilli++) {
      try (EmbeddingTable table = unseenFor(time)) {
        for (int step = 1; step <= 4 * time; step++) {
          now += step % stepsOfAMilli == 0 ? 1 : 0;
          train(table, step, step);
          assertThat(TableCopy.counters(table).length).isLessThanOrEqualTo(7 + 2 * 256);
        }
        assertThat(table.size()).isLessThanOrEqualTo(stepsOfAMilli * (time + time / 128 + 2));
      }
    }
  }

  @Test
  void aClockThatGoesBackStandsStillUntilItHasCaughtUp() {
    EmbeddingTable table = unseenFor(1000);
    long first = now;
    train(table, 1, 1);
    now = first - 700_000;
    train(table, 2, 2);
    table = restored(table);
    train(table, 3, 3);
    now = first + 999;
    train(table, 4, 4);
    assertThat(rows(table).keySet()).containsExactly(1L, 2L, 3L, 4L);
    now = first + 1000;
    train(table, 5, 5);
    assertThat(rows(table).keySet()).containsExactly(4L, 5L);
    table.close();
  }

  @Test
  void timePassesWhileTrainingIsStopped() {
    EmbeddingTable table = unseenFor(Duration.ofDays(7).toMillis());
    train(table, 1, 1, 2, 3);
    now += Duration.ofDays(3).toMillis();
    train(table, 2, 2);
    table = restored(table);
    now += Duration.ofDays(4).toMillis();
    train(table, 3, 3);
    assertThat(rows(table)).isEqualTo(Map.of(2L, 2, 3L, 3));
    table = restored(table);
    now += Duration.ofDays(30).toMillis();
    train(table, 4, 4);
    assertThat(rows(table)).isEqualTo(Map.of(4L, 4));
    table.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "5, 100, 6", // half a pair
        "6, 100", // a step that did not end yet
        "-1, 100",
        "3, -100",
        "3, 100, 2, 101", // steps descend
        "2, 101, 3, 100", // times descend
        "1, 100, 2, 102, 3, 107", // three within a part
        "1, 100, 2, 1124" // the first is older than is asked for
      })
  void timesThatCannotBeAreRefused(String times) {
    long[] pairs = Stream.of(times.split(", ")).mapToLong(Long::parseLong).toArray();
    assertRefused(unseenFor(1024), history(pairs));
    assertRefused(table(new Eviction.Unseen(2)), history(1, 100));
  }

  @Test
  void moreTimesThanThereCanBeAreRefused() {
    long[] pairs = LongStream.range(0, 2 * 300).map(i -> i % 2 == 0 ? 1 : 8 * (i / 2)).toArray();
    assertRefused(unseenFor(1024), history(pairs));
    EmbeddingTable table = unseenFor(1024);
    long[] sound = history(1, 100, 1, 100, 2, 108, 5, 1123);
    table.restoreHistory(sound, 0, (_, _) -> {});
    assertThat(TableCopy.counters(table)).isEqualTo(sound);
    table.close();
  }

  private static long[] history(long... times) {
    return LongStream.concat(LongStream.of(5, 0, 0, 0, 0, 0, 0), LongStream.of(times)).toArray();
  }

  private static void assertRefused(EmbeddingTable table, long[] history) {
    assertThatThrownBy(() -> table.restoreHistory(history, 0, (_, _) -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got a history of " + history.length + " counters");
    table.close();
  }

  @Test
  void timesThatMakeNoSenseAreRefused() {
    for (Duration time :
        List.of(
            Duration.ZERO,
            Duration.ofMillis(-1),
            Duration.ofNanos(999_999),
            Duration.ofDays(36_501),
            Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> new Eviction.UnseenFor(time))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got eviction time " + time + ", expected 1 ms to 36500 days");
    }
    new Eviction.UnseenFor(Duration.ofMillis(1));
    new Eviction.UnseenFor(Duration.ofDays(36_500));
    assertThat(new Eviction.UnseenFor(Duration.ofDays(2)))
        .isEqualTo(new Eviction.UnseenFor(Duration.ofHours(48)));
  }
}
