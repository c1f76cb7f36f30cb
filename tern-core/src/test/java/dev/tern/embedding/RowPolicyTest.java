package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
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
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.SoundTable;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which ids have rows, by each policy, against plain models. */
final class RowPolicyTest {
  private static final long[] EXTREMES = {
    0, -1, -2, 1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE + 1, -13, 13, 26, -64
  };

  private final Allocator allocator = Allocator.of(1L << 28);
  private final List<EmbeddingTable> tables = new ArrayList<>();

  @AfterEach
  void closedTablesHoldNoMemory() {
    tables.forEach(EmbeddingTable::close);
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(RowPolicy policy, UnknownRow unknown) {
    return table(policy, unknown, Optimizer.adagrad(1), DType.F32);
  }

  private EmbeddingTable table(
      RowPolicy policy, UnknownRow unknown, Optimizer optimizer, DType storage) {
    EmbeddingTable table =
        EmbeddingTable.create(
            new TableConfig(
                "t",
                3,
                2,
                42,
                TableOptions.of(optimizer)
                    .initRange(0.5f)
                    .unknown(unknown)
                    .storage(storage)
                    .rows(policy)),
            allocator);
    tables.add(table);
    return table;
  }

  private static RowPolicy byCount(int count) {
    return RowPolicy.ALL.withAdmission(new Admission.ByCount(count, 1000));
  }

  /** One step of training on bags of one id; each gradient is {@code gradient}. */
  private void train(EmbeddingTable table, long step, float gradient, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    apply(table, lookup, step, gradient);
  }

  private void apply(EmbeddingTable table, Lookup lookup, long step, float gradient) {
    int count = lookup.count();
    float[] gradients = new float[2 * count];
    Arrays.fill(gradients, gradient);
    try (Floats grad = Floats.of(allocator, gradients)) {
      int[] offsets = IntStream.rangeClosed(0, count).toArray();
      ByAddress.apply(table, lookup, offsets, count, Combiner.SUM, grad.address, 2, 0.1f, step);
    }
  }

  private float[] read(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, false);
    return read(table, lookup);
  }

  private float[] read(EmbeddingTable table, Lookup lookup) {
    try (Floats out = new Floats(allocator, lookup.count() * 2)) {
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  /** Rows by id, each all that is exported of it. */
  private static Map<Long, List<Integer>> rows(EmbeddingTable table) {
    Map<Long, List<Integer>> rows = new TreeMap<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        List<Integer> row = new ArrayList<>();
        for (int j = 0; j < floats; j++) {
          row.add(Memory.getInt(values + 4L * (i * floats + j)));
        }
        rows.put(ids[i], row);
      }
    });
    return rows;
  }

  private static long zipf(SplittableRandom random, int ids) {
    return (long) (ids * Math.pow(random.nextDouble(), 5)) * 16 - 1000;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 10, 100})
  void rowsAreThoseOfIdsMetOftenEnough(int count) {
    RowPolicy policy = RowPolicy.ALL.withAdmission(new Admission.ByCount(count, 60_000));
    EmbeddingTable table = table(policy, UnknownRow.ZEROS);
    SplittableRandom random = new SplittableRandom(count);
    Map<Long, Integer> met = new HashMap<>();
    for (int step = 1; step <= 200; step++) {
      long[] ids = LongStream.generate(() -> zipf(random, 60_000)).limit(1000).toArray();
      if (step % 50 == 0) {
        System.arraycopy(EXTREMES, 0, ids, 0, EXTREMES.length);
      }
      for (long id : ids) {
        met.merge(id, 1, Integer::sum);
      }
      train(table, step, 1, ids);
    }
    TreeSet<Long> expected = new TreeSet<>();
    met.forEach((id, times) -> {
      if (times >= count) {
        expected.add(id);
      }
    });
    TreeSet<Long> early = new TreeSet<>(rows(table).keySet());
    assertThat(early).containsAll(expected);
    early.removeAll(expected);
    TableStatistics statistics = table.statistics();
    assertThat(early.size())
        .isLessThanOrEqualTo((int) (3 * statistics.sharedCounters()) + (count > 1 ? 5 : 0))
        .isLessThan(expected.size() / 100 + 1);
    assertThat(statistics.admitted()).isEqualTo(table.size());
    assertThat(statistics.misses()).isEqualTo(statistics.admitted() + statistics.rejected());
    assertThat(statistics.filterBytes()).isBetween(count == 1 ? 0L : 120_000L, 140_000L);
  }

  @Test
  void extremeIdsAreCountedLikeAnyOther() {
    EmbeddingTable table = table(byCount(3), UnknownRow.ZEROS);
    for (int step = 1; step <= 2; step++) {
      train(table, step, 1, EXTREMES);
      assertThat(table.size()).isZero();
    }
    train(table, 3, 1, EXTREMES);
    assertThat(table.size()).isEqualTo(EXTREMES.length);
    assertThat(rows(table).keySet()).containsExactlyInAnyOrderElementsOf(boxed(EXTREMES));
  }

  private static List<Long> boxed(long... ids) {
    return LongStream.of(ids).boxed().toList();
  }

  @Test
  void anIdMetTwiceInABatchCountsTwice() {
    EmbeddingTable table = table(byCount(2), UnknownRow.ZEROS);
    train(table, 1, 1, 5, 6, 5);
    assertThat(rows(table).keySet()).containsExactly(5L);
    train(table, 2, 1, 6);
    assertThat(rows(table).keySet()).containsExactly(5L, 6L);
  }

  @ParameterizedTest
  @EnumSource(UnknownRow.Derived.class)
  void idsNotAdmittedReadAsUnknownAndShiftNobodysGradient(UnknownRow unknown) {
    EmbeddingTable table = table(byCount(2), unknown, Optimizer.sgd(1), DType.F32);
    train(table, 1, 0, 1, 1, 2, 2, 3, 3);
    float[] before = read(table, 1, 2, 3);
    float[] strangers = read(table, 70, 80);
    long[] ids = {70, 1, 80, 2, 3, 1};
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    float[] rows = read(table, lookup);
    assertThat(new float[] {rows[0], rows[1], rows[4], rows[5]}).isEqualTo(strangers);
    assertThat(new float[] {rows[2], rows[3], rows[6], rows[7], rows[8], rows[9]})
        .isEqualTo(before);
    float[] gradients = {1000, 1000, 1, 2, 1000, 1000, 4, 8, 16, 32, 64, 128};
    try (Floats grad = Floats.of(allocator, gradients)) {
      int[] offsets = IntStream.rangeClosed(0, 6).toArray();
      ByAddress.apply(table, lookup, offsets, 6, Combiner.SUM, grad.address, 2, 0.5f, 2);
    }
    float[] after = read(table, 1, 2, 3);
    float[] steps = {65, 130, 4, 8, 16, 32};
    for (int i = 0; i < 6; i++) {
      assertThat(after[i]).isEqualTo(Math.fma(-0.5f, steps[i], before[i]));
    }
    assertThat(table.size()).isEqualTo(3);
    train(table, 3, 0, 80);
    assertThat(table.size()).isEqualTo(4);
    float[] fresh = read(table(RowPolicy.ALL, UnknownRow.INITIAL), 80);
    assertThat(read(table, 80)).isEqualTo(fresh);
  }

  @Test
  void aShareOfIdsIsAdmittedOnceAndForAll() {
    RowPolicy policy = RowPolicy.ALL.withAdmission(new Admission.ByProbability(0.3));
    EmbeddingTable table = table(policy, UnknownRow.ZEROS);
    long[] ids = LongStream.range(-20_000, 20_000).map(i -> 13 * i).toArray();
    train(table, 1, 1, ids);
    var first = rows(table).keySet();
    assertThat(first.size()).isBetween(11_600, 12_400);
    for (int step = 2; step < 5; step++) {
      train(table, step, 1, ids);
    }
    assertThat(rows(table).keySet()).isEqualTo(first);
    EmbeddingTable backwards = table(policy, UnknownRow.ZEROS);
    for (int i = ids.length; i > 0; i -= 1000) {
      train(backwards, 1, 1, Arrays.copyOfRange(ids, i - 1000, i));
    }
    assertThat(rows(backwards).keySet()).isEqualTo(first);
    EmbeddingTable alone = table(RowPolicy.ALL, UnknownRow.ZEROS);
    train(alone, 1, 1, first.stream().mapToLong(Long::longValue).toArray());
    assertThat(table.bytes()).as("ids without a row cost nothing").isEqualTo(alone.bytes());
  }

  @Test
  void whichIdsAreInTheShareDependsOnTheSeedAndTheTable() {
    List<TreeSet<Long>> drawn = new ArrayList<>();
    for (long[] key : new long[][] {{42, 3}, {42, 4}, {43, 3}}) {
      TableConfig config =
          new TableConfig(
              "t",
              (int) key[1],
              2,
              key[0],
              TableOptions.of(Optimizer.sgd(1))
                  .initRange(0.5f)
                  .rows(RowPolicy.ALL.withAdmission(new Admission.ByProbability(0.3))));
      EmbeddingTable table = EmbeddingTable.create(config, allocator);
      tables.add(table);
      train(table, 1, 1, LongStream.range(-10_000, 10_000).toArray());
      drawn.add(new TreeSet<>(rows(table).keySet()));
    }
    for (int i = 0; i < drawn.size(); i++) {
      assertThat(drawn.get(i).size()).isBetween(5_700, 6_300);
      TreeSet<Long> both = new TreeSet<>(drawn.get(i));
      both.retainAll(drawn.get((i + 1) % drawn.size()));
      // As many as of two draws that know nothing of each other.
      assertThat(both.size()).isBetween(1_650, 1_950);
    }
  }

  @Test
  void scoringNeitherInsertsNorCountsNorSees() {
    RowPolicy policy = byCount(2).withRoomMadeBy(new Eviction.LeastFrequent(), 10);
    EmbeddingTable table = table(policy, UnknownRow.ZEROS);
    train(table, 1, 1, 1, 1, 2);
    var rows = rows(table);
    long[] history = TableCopy.counters(table);
    for (int i = 0; i < 5; i++) {
      read(table, 1, 2, 3, 2);
    }
    assertThat(rows(table)).isEqualTo(rows);
    assertThat(TableCopy.counters(table)).isEqualTo(history);
    train(table, 2, 1, 3);
    assertThat(table.size()).isEqualTo(1);
  }

  static List<RowPolicy> evicting() {
    return List.of(
        RowPolicy.ALL.withEviction(new Eviction.Unseen(1)),
        RowPolicy.ALL.withEviction(new Eviction.Unseen(7)),
        RowPolicy.ALL.withEviction(new Eviction.SmallNorm(0.3f, 3)),
        RowPolicy.ALL.withEviction(new Eviction.LowScore(0.8, 0.37f)),
        byCount(2).withEviction(new Eviction.LowScore(0.97, 1.21f)),
        RowPolicy.ALL
            .withEviction(new Eviction.Unseen(9))
            .withMaxRows(60, WhenFull.UNKNOWN)
            .withAdmission(new Admission.ByProbability(0.5)),
        RowPolicy.ALL
            .withRoomMadeBy(new Eviction.LeastRecent(), 50)
            .withMaxRows(50, WhenFull.UNKNOWN),
        RowPolicy.ALL
            .withRoomMadeBy(new Eviction.LeastFrequent(), 50)
            .withMaxRows(50, WhenFull.UNKNOWN),
        byCount(3).withRoomMadeBy(new Eviction.LeastRecent(), 30).withMaxRows(30, WhenFull.UNKNOWN),
        byCount(2)
            .withRoomMadeBy(new Eviction.LeastFrequent(), 200)
            .withMaxRows(200, WhenFull.UNKNOWN));
  }

  private Map<Long, Double> norms(EmbeddingTable table, Set<Long> ids) {
    Map<Long, Double> norms = new HashMap<>();
    for (long id : ids) {
      float[] row = read(table, id);
      norms.put(id, Math.sqrt((double) row[0] * row[0] + (double) row[1] * row[1]));
    }
    return norms;
  }

  @ParameterizedTest
  @MethodSource("evicting")
  void rowsComeAndGoAsInAPlainModel(RowPolicy policy) {
    for (int seed = 0; seed < 6; seed++) {
      DType storage = seed % 2 == 0 ? DType.F32 : DType.BF16;
      Optimizer optimizer = seed % 3 == 0 ? Optimizer.adam(0.1f) : Optimizer.sgd(0.1f);
      EmbeddingTable table = table(policy, UnknownRow.MEAN, optimizer, storage);
      PlainPolicy model = new PlainPolicy(policy);
      SplittableRandom random = new SplittableRandom(seed);
      for (int step = 1; step <= 150; step++) {
        int count = random.nextInt(60);
        long[] ids = LongStream.generate(() -> zipf(random, 300)).limit(count).toArray();
        if (count > 20 && step % 10 == 0) {
          System.arraycopy(EXTREMES, 0, ids, 0, EXTREMES.length);
        }
        model.find(step, ids);
        Map<Long, Double> norms = norms(table, model.rows.keySet());
        train(table, step, 0, ids);
        norms.putAll(norms(table, new TreeSet<>(boxed(ids))));
        model.end(step, norms);
        if (step % 13 == 0) {
          long[] some = LongStream.generate(() -> zipf(random, 300)).limit(40).toArray();
          assertThat(table.erase(some, some.length)).isEqualTo(model.erase(some));
          SoundTable.require(table.rows);
        }
        assertThat(rows(table).keySet())
            .as("%s, seed %d, step %d", policy, seed, step)
            .containsExactlyElementsOf(new TreeSet<>(model.rows.keySet()));
        if (step % 29 == 0) {
          table = again(table);
        }
      }
      assertThat(table.statistics().evicted()).isEqualTo(model.evicted).isPositive();
      assertThat(table.statistics().rows()).isEqualTo(model.rows.size());
    }
  }

  /** The table as a checkpoint keeps it, in a new one. */
  private EmbeddingTable again(EmbeddingTable table) {
    TableConfig config = table.config();
    EmbeddingTable copy =
        table(config.rows(), config.unknown(), config.optimizer(), config.storage());
    TableCopy.copy(table, copy);
    assertThat(rows(copy)).isEqualTo(rows(table));
    assertThat(TableCopy.counters(copy)).isEqualTo(TableCopy.counters(table));
    return copy;
  }

  @Test
  void rowsThatWereFreedAreUsedAgain() {
    RowPolicy policy = RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 1000);
    EmbeddingTable table = table(policy, UnknownRow.INITIAL);
    train(table, 1, 1, LongStream.range(0, 1000).toArray());
    long bytes = table.bytes();
    for (int step = 2; step < 300; step++) {
      long first = 500L * step;
      train(table, step, 1, LongStream.range(first, first + 500).toArray());
    }
    assertThat(table.size()).isEqualTo(1000);
    assertThat(table.bytes()).isEqualTo(bytes);
    assertThat(read(table, 500 * 299L)).isNotEqualTo(read(table, 0));
    train(table, 300, 0, 7);
    float[] fresh = read(table(RowPolicy.ALL, UnknownRow.INITIAL), 7);
    assertThat(read(table, 7)).isEqualTo(fresh);
  }

  @ParameterizedTest
  @EnumSource(UnknownRow.Derived.class)
  void theMeanOfRowsIsOfThoseThatAreThere(UnknownRow unknown) {
    RowPolicy policy = RowPolicy.ALL.withEviction(new Eviction.Unseen(1));
    EmbeddingTable table = table(policy, unknown, Optimizer.adam(0.1f), DType.F32);
    train(table, 1, 1, 1, 2, 3);
    train(table, 2, 1, 3, 4);
    EmbeddingTable other = table(RowPolicy.ALL, unknown, Optimizer.adam(0.1f), DType.F32);
    train(other, 1, 1, 3);
    train(other, 2, 1, 3, 4);
    assertThat(read(table, 3, 4, 99)).isEqualTo(read(other, 3, 4, 99));
  }

  @Test
  void aFullTableSaysWhichIdFoundNoRoomAndStaysWhole() {
    EmbeddingTable table = table(RowPolicy.ALL.withMaxRows(3, WhenFull.ERROR), UnknownRow.ZEROS);
    train(table, 1, 1, 5, 6);
    assertThatThrownBy(() -> train(table, 2, 1, 5, 7, Long.MIN_VALUE, 8))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("table t: got id " + Long.MIN_VALUE + " beyond 3 rows");
    assertThat(rows(table).keySet()).containsExactly(5L, 6L);
    train(table, 2, 1, 5, 9);
    assertThat(rows(table).keySet()).containsExactly(5L, 6L, 9L);
  }

  @Test
  void idsWithoutRoomReadAsUnknownAndNeverAsAnotherRow() {
    EmbeddingTable table = table(RowPolicy.ALL.withMaxRows(2, WhenFull.UNKNOWN), UnknownRow.ZEROS);
    train(table, 1, 1, 5, 6, 7, 0);
    assertThat(rows(table).keySet()).containsExactly(5L, 6L);
    assertThat(read(table, 7, 0)).containsOnly(0);
    assertThat(table.statistics().rejected()).isEqualTo(2);
  }

  @Test
  void aRowThatWentBeforeItsGradientCameTakesNobodyElseWithIt() {
    RowPolicy policy = RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastRecent(), 3);
    EmbeddingTable table = table(policy, UnknownRow.ZEROS, Optimizer.sgd(1), DType.F32);
    train(table, 1, 0, 1, 2, 3);
    Lookup early = new Lookup();
    table.find(new long[] {2, 1}, 2, early, true);
    apply(table, early, 2, 0); // 3 is the least recent now
    Lookup late = find(table, 1, 2);
    train(table, 3, 0, 3);
    train(table, 4, 0, 2);
    float[] before = read(table, 2, 3);
    train(table, 5, 0, 8); // takes the row of 1
    assertThatThrownBy(() -> read(table, late)).hasMessageContaining("refresh");
    float[] eight = read(table, 8);
    apply(table, late, 6, 1);
    assertThat(read(table, 8)).isEqualTo(eight);
    float[] after = read(table, 2, 3);
    assertThat(after[0]).isEqualTo(Math.fma(-0.1f, 1, before[0]));
    assertThat(after[2]).isEqualTo(before[2]);
    table.refresh(late);
    assertThat(Arrays.copyOf(read(table, late), 2)).containsOnly(0);
  }

  private static Lookup find(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    return lookup;
  }

  @Test
  void metadataThatCannotBeIsRefused() {
    RowPolicy policy = RowPolicy.ALL.withRoomMadeBy(new Eviction.LeastFrequent(), 3);
    for (int[] marks : new int[][] {{0, 1}, {-1, 1}, {3, 1}, {1, 0}, {1, -5}}) {
      EmbeddingTable table = table(policy, UnknownRow.ZEROS, Optimizer.sgd(1), DType.F32);
      table.restoreHistory(new long[] {1, 0, 1, 1, 0, 0, 0}, 0, (values, count) -> {});
      int[] left = {1};
      assertThatThrownBy(() ->
              table.importFrom((ids, segment) -> {
                long values = segment.address();
                ids[0] = 77;
                Memory.setInt(values + 8, marks[0]);
                Memory.setInt(values + 12, marks[1]);
                return left[0]--;
              }))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("id 77");
    }
    for (long[] counters :
        new long[][] {{}, {1, 0, 1, 1, 0, 0}, {-1, 0, 1, 1, 0, 0, 0}, {1, 0, 2, 1, 0, 0, 0}}) {
      EmbeddingTable table = table(policy, UnknownRow.ZEROS);
      assertThatThrownBy(() -> table.restoreHistory(counters, 0, (values, count) -> {}))
          .hasMessageContaining("table t: got a history");
      assertThatThrownBy(() -> table.restoreHistory(new long[7], 5, (values, count) -> {}))
          .hasMessageContaining("filter of 5 words");
    }
  }

  @Test
  void aPolicyWithoutAnyLimitIsOfEveryId() {
    assertThat(RowPolicy.ALL.withMaxRows(Long.MAX_VALUE, WhenFull.UNKNOWN).isAll()).isTrue();
    assertThat(RowPolicy.ALL.withMaxRows(1, WhenFull.ERROR).isAll()).isFalse();
    assertThat(byCount(2).isAll()).isFalse();
  }

  @Test
  void policiesThatMakeNoSenseAreRefused() {
    assertThatThrownBy(() -> new Admission.ByCount(0, 1)).hasMessageContaining("1 to 128");
    assertThatThrownBy(() -> new Admission.ByCount(129, 1)).hasMessageContaining("129");
    assertThatThrownBy(() -> new Admission.ByCount(2, 0)).hasMessageContaining("expected ids");
    assertThatThrownBy(() -> new Admission.ByProbability(0)).hasMessageContaining("above 0");
    assertThatThrownBy(() -> new Admission.ByProbability(Double.NaN)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> new Eviction.Unseen(0)).hasMessageContaining("steps 0");
    assertThatThrownBy(() -> new Eviction.SmallNorm(0, 1)).hasMessageContaining("norm");
    assertThatThrownBy(() -> new Eviction.LowScore(1, 1)).hasMessageContaining("decay 1.0");
    assertThatThrownBy(() -> new Eviction.LowScore(0.5, 0)).hasMessageContaining("score 0.0");
    assertThatThrownBy(() -> RowPolicy.ALL.withEviction(new Eviction.LeastRecent()))
        .hasMessageContaining("give maxRows");
    assertThatThrownBy(() -> RowPolicy.ALL.withMaxRows(0, WhenFull.ERROR))
        .hasMessageContaining("maxRows 0");
  }
}
