package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which rows a table says changed, against what its rows hold. */
final class TableChangesTest {
  private final Allocator allocator = Allocator.of(1L << 28);
  private final long gradients = allocator.allocate(8 * 4096, "gradients");
  private long step;

  @AfterEach
  void closedTablesHoldNoMemory() {
    allocator.free(gradients);
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(RowPolicy policy, Optimizer optimizer) {
    return EmbeddingTable.create(
        new TableConfig("t", 3, 2, 42, TableOptions.of(optimizer).initRange(0.5f).rows(policy)),
        allocator);
  }

  private void train(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    update(table, lookup);
  }

  private void update(EmbeddingTable table, Lookup lookup) {
    int count = lookup.count();
    for (int i = 0; i < 2 * count; i++) {
      Memory.setFloat(gradients + 4L * i, 0.25f);
    }
    int[] offsets = IntStream.rangeClosed(0, count).toArray();
    ByAddress.apply(table, lookup, offsets, count, Combiner.SUM, gradients, 2, 0.1f, ++step);
  }

  private static Map<Long, String> rows(EmbeddingTable table) {
    Map<Long, String> rows = new HashMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        int[] row = new int[floats];
        for (int j = 0; j < floats; j++) {
          row[j] = Memory.getInt(values + 4L * (i * floats + j));
        }
        rows.put(ids[i], Arrays.toString(row));
      }
    });
    return rows;
  }

  @Test
  void rowsThatAreImportedCame() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.adagrad(1))) {
      table.trackChanges();
      List<long[]> ids = new ArrayList<>(List.of(new long[] {5, 6, 7}));
      table.importFrom((block, segment) -> {
        long values = segment.address();
        long[] next = ids.isEmpty() ? new long[0] : ids.removeFirst();
        System.arraycopy(next, 0, block, 0, next.length);
        Memory.zero(values, 4L * table.config().rowFloats() * next.length);
        return next.length;
      });
      assertThat(Changes.of(table).rows()).containsExactly(5, 6, 7);
    }
  }

  @Test
  void rowsThatCameOrChangedAreListedOnceAndAscending() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.adagrad(1))) {
      train(table, 5, 6, 7);
      table.trackChanges();
      assertThat(Changes.of(table).rows()).isEmpty();
      train(table, 7, -1, 7);
      train(table, 9, 7, Long.MIN_VALUE);
      assertThat(Changes.of(table).all()).isFalse();
      assertThat(Changes.of(table).rows()).containsExactly(Long.MIN_VALUE, -1, 7, 9);
      assertThat(Changes.of(table).gone()).isEmpty();
      table.trackChanges();
      assertThat(Changes.of(table).rows()).isEmpty();
    }
  }

  @Test
  void erasedIdsWentUntilTheyComeAgain() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.adagrad(1))) {
      train(table, 5, 6, 7, 8);
      table.trackChanges();
      assertThat(table.erase(new long[] {7, 5, 7, 99, Long.MIN_VALUE}, 4)).isEqualTo(2);
      assertThat(Changes.of(table).gone()).containsExactly(5, 7);
      train(table, 7);
      assertThat(Changes.of(table).rows()).containsExactly(7);
      assertThat(Changes.of(table).gone()).containsExactly(5);
      assertThat(rows(table).keySet()).containsExactlyInAnyOrder(6L, 7L, 8L);
    }
  }

  @Test
  void anUpdateOfALookupFromBeforeIsNoted() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.sgd(1))) {
      Lookup lookup = new Lookup();
      table.find(new long[] {1, 2}, 2, lookup, true);
      table.trackChanges();
      update(table, lookup);
      assertThat(Changes.of(table).rows()).containsExactly(1, 2);
    }
  }

  @Test
  void scoringChangesNothing() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.sgd(1))) {
      train(table, 1, 2);
      table.trackChanges();
      table.find(new long[] {1, 3}, 2, new Lookup(), false);
      assertThat(Changes.of(table).rows()).isEmpty();
      assertThat(Changes.of(table).gone()).isEmpty();
    }
  }

  @Test
  void listsThatWouldBeLongerThanTheTableAreNotKept() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.sgd(1))) {
      train(table, LongStream.range(0, 3000).toArray());
      table.trackChanges();
      train(table, LongStream.range(0, 1000).toArray());
      assertThat(Changes.of(table).all()).isFalse();
      assertThat(Changes.of(table).rows()).hasSize(1000);
      table.trackChanges();
      for (int i = 0; i < 6; i++) {
        train(table, LongStream.range(3000 + i * 1000L, 4000 + i * 1000L).toArray());
        train(table, LongStream.range(0, 3000).toArray());
      }
      assertThat(Changes.of(table).all() || Changes.of(table).rows().length <= table.size())
          .isTrue();
    }
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.adam(1))) {
      table.trackChanges();
      assertThat(Changes.of(table).all()).isFalse();
      train(table, 1);
      assertThat(Changes.of(table).all()).isTrue();
      table.trackChanges();
      assertThat(Changes.of(table).all()).isFalse();
    }
  }

  @Test
  void changesThatWereNotNotedAreRefused() {
    try (EmbeddingTable table = table(RowPolicy.ALL, Optimizer.sgd(1))) {
      assertThatThrownBy(table::snapshotOfChanges)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("expected trackChanges before");
      assertThatThrownBy(() -> table.exportTo(new long[] {7}, (_, _, _) -> {}))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("without a row");
    }
  }

  /** Rows not listed hold what they held; ids that are not listed neither came nor went. */
  @Test
  void nothingThatChangedIsLeftOutWhereRowsGoAndComeBack() {
    SplittableRandom random = new SplittableRandom(7);
    RowPolicy[] policies = {
      RowPolicy.ALL.withEviction(new Eviction.Unseen(3)),
      RowPolicy.ALL.withEviction(new Eviction.LowScore(0.8, 0.7f)),
      RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 20),
      RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastFrequent(), 20),
      RowPolicy.ALL
          .withAdmission(new Admission.ByCount(2, 10))
          .withEviction(new Eviction.SmallNorm(0.4f, 2))
    };
    for (RowPolicy policy : policies) {
      step = 0;
      try (EmbeddingTable table = table(policy, Optimizer.adagrad(1))) {
        for (int round = 0; round < 50; round++) {
          Map<Long, String> before = rows(table);
          long[] filter = filter(table);
          table.trackChanges();
          for (int i = random.nextInt(5); i > 0; i--) {
            train(table, random.longs(1 + random.nextInt(10), 0, 40).toArray());
          }
          Map<Long, String> after = rows(table);
          TreeSet<Long> changed = new TreeSet<>(after.keySet());
          changed.removeIf(id -> after.get(id).equals(before.get(id)));
          TreeSet<Long> gone = new TreeSet<>(before.keySet());
          gone.removeAll(after.keySet());
          Changes changes = Changes.of(table);
          assertThat(changes.rows()).isSorted();
          assertThat(boxed(changes.rows())).containsAll(changed);
          assertThat(changes.gone()).isSorted();
          assertThat(boxed(changes.gone())).containsAll(gone);
          assertThat(boxed(changes.rows())).allMatch(after::containsKey);
          assertThat(boxed(changes.gone())).noneMatch(after::containsKey);
          assertThat(changes.filterWords()).containsExactly(different(filter, filter(table)));
        }
      }
    }
  }

  private static List<Long> boxed(long[] ids) {
    return Arrays.stream(ids).boxed().toList();
  }

  private static long[] filter(EmbeddingTable table) {
    LongStream.Builder words = LongStream.builder();
    try (TableSnapshot now = table.snapshot()) {
      now.readFilter((values, count) -> Arrays.stream(values, 0, count).forEach(words));
    }
    return words.build().toArray();
  }

  private static long[] different(long[] before, long[] after) {
    return IntStream.range(0, after.length)
        .filter(i -> after[i] != (i < before.length ? before[i] : 0))
        .mapToLong(i -> i)
        .toArray();
  }
}
