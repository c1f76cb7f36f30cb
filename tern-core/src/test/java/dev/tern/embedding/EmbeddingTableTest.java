package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.TableStatistics;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.SoundTable;
import dev.tern.optim.Optimizer;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EmbeddingTableTest {
  private static final long[] EXTREMES = {
    0, 1, -1, -2, Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE + 1, Long.MAX_VALUE - 1
  };

  private final Allocator allocator = Allocator.of(1L << 30);
  private final List<EmbeddingTable> tables = new ArrayList<>();

  private EmbeddingTable table(int width, Optimizer optimizer, UnknownRow unknown) {
    return table(
        new TableConfig(
            "t", 3, width, 42, TableOptions.of(optimizer).initRange(0.5f).unknown(unknown)));
  }

  private EmbeddingTable table(TableConfig config) {
    EmbeddingTable table = EmbeddingTable.create(config, allocator);
    tables.add(table);
    return table;
  }

  @AfterEach
  void closedTablesHoldNoMemory() {
    for (EmbeddingTable table : tables) {
      table.close();
      table.close();
    }
    assertThat(allocator.live()).isZero();
  }

  private static int[] oneHot(int count) {
    return IntStream.rangeClosed(0, count).toArray();
  }

  /** Rows of {@code ids}, one after the other. */
  private float[] read(EmbeddingTable table, boolean insert, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, insert);
    try (Floats out = new Floats(allocator, ids.length * table.config().width())) {
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  @Test
  void lookupOfUnknownIdReturnsZerosAndInsertsNothing() {
    EmbeddingTable table = table(3, Optimizer.sgd(1), UnknownRow.ZEROS);
    read(table, true, 7);
    assertThat(read(table, false, 8, 9)).containsOnly(0);
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void anErasedIdReadsAsUnknownTakesNoGradientAndBeginsAnew() {
    for (Optimizer optimizer : List.of(Optimizer.sgd(1), Optimizer.adam(1))) {
      EmbeddingTable table = table(2, optimizer, UnknownRow.ZEROS);
      float[] start = read(table, true, 7, 8, 9);
      Lookup before = new Lookup();
      table.find(new long[] {7, 8}, 2, before, true);
      assertThat(table.erase(new long[] {7, 10}, 2)).isOne();
      SoundTable.require(table.rows);
      assertThat(table.size()).isEqualTo(2);
      assertThat(read(table, false, 7)).containsOnly(0);
      assertThatThrownBy(() -> ByAddress.pool(table, before, oneHot(2), 0, 2, Combiner.SUM, 0, 2))
          .hasMessageContaining("refresh it");
      try (Floats grad = Floats.of(allocator, 1, 1, 0, 0)) {
        ByAddress.apply(table, before, oneHot(2), 2, Combiner.SUM, grad.address, 2, 1, 1);
      }
      assertThat(read(table, false, 7)).containsOnly(0);
      assertThat(read(table, false, 8, 9)).containsExactly(Arrays.copyOfRange(start, 2, 6));
      assertThat(read(table, true, 7)).containsExactly(Arrays.copyOf(start, 2));
      assertThat(table.erase(new long[0], 0)).isZero();
    }
  }

  @Test
  void lookupOfUnknownIdReturnsInitialRow() {
    EmbeddingTable table = table(5, Optimizer.adagrad(1), UnknownRow.INITIAL);
    read(table, true, 1);
    float[] before = read(table, false, 1, 8, -9, 8);
    assertThat(table.size()).isEqualTo(1);
    assertThat(read(table, true, 1, 8, -9, 8)).isEqualTo(before);
    assertThat(table.size()).isEqualTo(3);
  }

  @Test
  void lookupOfUnknownIdReturnsMeanOfAllRows() {
    EmbeddingTable table = table(2, Optimizer.sgd(1), UnknownRow.MEAN);
    assertThat(read(table, false, 5000)).containsExactly(0, 0);
    float[] rows = read(table, true, LongStream.range(0, 1000).toArray());
    double first = IntStream.range(0, 1000).mapToDouble(i -> rows[2 * i]).average().orElseThrow();
    double second =
        IntStream.range(0, 1000).mapToDouble(i -> rows[2 * i + 1]).average().orElseThrow();
    float[] mean = read(table, false, 5000);
    assertThat(mean[0]).isCloseTo((float) first, within(1e-7f));
    assertThat(mean[1]).isCloseTo((float) second, within(1e-7f));
    EmbeddingTable backwards = table(2, Optimizer.sgd(1), UnknownRow.MEAN);
    read(backwards, true, LongStream.range(0, 1000).map(i -> 999 - i).toArray());
    assertThat(read(backwards, false, 5000)).isEqualTo(mean);
  }

  @Test
  void meanFollowsUpdates() {
    EmbeddingTable table = table(1, Optimizer.sgd(1), UnknownRow.MEAN);
    Lookup lookup = new Lookup();
    table.find(new long[] {1, 2}, 2, lookup, true);
    try (Floats grad = Floats.of(allocator, 2, 4)) {
      float before = read(table, false, 9)[0];
      ByAddress.apply(table, lookup, oneHot(2), 2, Combiner.SUM, grad.address, 1, 1, 1);
      assertThat(read(table, false, 9)[0]).isCloseTo(before - 3, within(1e-6f));
    }
  }

  @Test
  void initialRowsDependOnSeedIndexAndIdAlone() {
    TableConfig config =
        new TableConfig("a", 3, 16, 42, TableOptions.of(Optimizer.adam(1)).initRange(0.5f));
    long[] ids = LongStream.concat(Arrays.stream(EXTREMES), LongStream.range(5, 3000)).toArray();
    long[] backwards = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      backwards[i] = ids[ids.length - 1 - i];
    }
    float[] expected = read(table(config), true, ids);
    EmbeddingTable other =
        table(
            new TableConfig(
                "b",
                3,
                16,
                42,
                TableOptions.of(Optimizer.sgd(1)).initRange(0.5f).l2(1).unknown(UnknownRow.MEAN)));
    read(other, true, backwards);
    assertThat(read(other, false, ids)).isEqualTo(expected);
    assertThat(
            read(
                table(
                    new TableConfig(
                        "a", 4, 16, 42, TableOptions.of(Optimizer.sgd(1)).initRange(0.5f))),
                true,
                ids))
        .isNotEqualTo(expected);
    assertThat(
            read(
                table(
                    new TableConfig(
                        "a", 3, 16, 43, TableOptions.of(Optimizer.sgd(1)).initRange(0.5f))),
                true,
                ids))
        .isNotEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 16})
  void initialWeightsAreUniformInTheRange(int width) {
    float[] w =
        read(
            table(width, Optimizer.sgd(1), UnknownRow.ZEROS),
            true,
            LongStream.range(0, 160_000 / width).toArray());
    double mean = 0;
    double square = 0;
    for (float value : w) {
      assertThat(value).isGreaterThanOrEqualTo(-0.5f).isLessThan(0.5f);
      mean += value / w.length;
      square += value * value / w.length;
    }
    assertThat(mean).isCloseTo(0, within(0.004));
    assertThat(square).isCloseTo(1.0 / 12, within(0.001));
    Set<Float> distinct = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      distinct.add(w[i]);
    }
    assertThat(distinct).hasSizeGreaterThan(9_900);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, -1, 2, 13, 64, 4096, 1L << 32, 1L << 40})
  void twoIdsNeverShareARow(long factor) {
    EmbeddingTable table = table(2, Optimizer.sgd(1), UnknownRow.ZEROS);
    Set<Long> ids = new HashSet<>();
    for (long extreme : EXTREMES) {
      ids.add(extreme);
    }
    for (long i = -20_000; i < 20_000; i++) {
      ids.add(i * factor);
    }
    long[] batch = ids.stream().mapToLong(Long::longValue).toArray();
    Lookup lookup = new Lookup();
    table.find(batch, batch.length, lookup, true);
    Set<Long> addresses = new HashSet<>();
    for (int u = 0; u < lookup.unique(); u++) {
      assertThat(addresses.add(lookup.found.addresses[u]))
          .as("id %d", lookup.found.ids[u])
          .isTrue();
    }
    assertThat(table.size()).isEqualTo(ids.size());
    long[] first = Arrays.copyOf(lookup.found.addresses, lookup.unique());
    table.find(batch, batch.length, lookup, true);
    assertThat(Arrays.copyOf(lookup.found.addresses, lookup.unique())).isEqualTo(first);
    assertThat(table.size()).isEqualTo(ids.size());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 63, 64, 65, 1000})
  void rowsOfEveryWidthKeepTheirValuesWhileTheTableGrows(int width) {
    EmbeddingTable table = table(width, Optimizer.adagrad(1), UnknownRow.ZEROS);
    int count = 2_000_000 / (width + 100);
    float[] first = read(table, true, LongStream.range(0, 100).toArray());
    read(table, true, LongStream.range(100, count).toArray());
    assertThat(read(table, false, LongStream.range(0, 100).toArray())).isEqualTo(first);
    EmbeddingTable fresh = table(width, Optimizer.sgd(1), UnknownRow.INITIAL);
    assertThat(read(table, false, LongStream.range(0, count).toArray()))
        .isEqualTo(read(fresh, false, LongStream.range(0, count).toArray()));
    assertThat(table.bytes()).isGreaterThan(8L * width * count);
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void bagsPoolTheirRows(Combiner combiner) {
    for (int width : new int[] {1, 4, 7, 8, 16, 17, 40}) {
      for (UnknownRow unknown : UnknownRow.Derived.values()) {
        poolsLikeTheReference(combiner, width, unknown);
      }
    }
  }

  private void poolsLikeTheReference(Combiner combiner, int width, UnknownRow unknown) {
    EmbeddingTable table = table(width, Optimizer.sgd(1), unknown);
    SplittableRandom random = new SplittableRandom(width);
    read(table, true, random.longs(50, 0, 100).toArray());
    int bags = 100;
    int[] offsets = new int[bags + 1];
    offsets[0] = 2;
    for (int b = 0; b < bags; b++) {
      offsets[b + 1] = offsets[b] + Math.max(0, random.nextInt(-2, 6));
    }
    long[] ids = random.longs(offsets[bags] + 1, 0, 100).toArray();
    float[] rows = read(table, false, ids);
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, false);
    int stride = width + 3;
    try (Floats out = new Floats(allocator, bags * stride)) {
      ByAddress.pool(table, lookup, offsets, 1, 40, combiner, out.address, stride);
      ByAddress.pool(table, lookup, offsets, 40, bags, combiner, out.address, stride);
      for (int b = 0; b < bags; b++) {
        int n = offsets[b + 1] - offsets[b];
        float factor =
            switch (combiner) {
              case SUM -> 1;
              case MEAN -> 1f / n;
              case SQRTN -> (float) (1 / Math.sqrt(n));
            };
        for (int j = 0; j < stride; j++) {
          float sum = 0;
          for (int i = offsets[b]; i < offsets[b + 1] && j < width; i++) {
            sum = Math.fma(factor, rows[i * width + j], sum);
          }
          float expected = sum;
          if (b == 0 || j >= width) {
            expected = Float.NaN;
          }
          assertThat(out.get(b * stride + j))
              .as("bag %d column %d", b, j)
              .isEqualTo((Float) expected);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000})
  void oneIdPerBagCopiesItsRow(int bags) {
    EmbeddingTable table = table(9, Optimizer.sgd(1), UnknownRow.ZEROS);
    long[] ids = new SplittableRandom(bags).longs(bags, 0, 2L * bags + 1).toArray();
    float[] rows = read(table, true, ids);
    Lookup lookup = new Lookup();
    table.find(ids, bags, lookup, true);
    for (Combiner combiner : Combiner.values()) {
      try (Floats out = new Floats(allocator, bags * 9)) {
        ByAddress.pool(table, lookup, oneHot(bags), 0, bags, combiner, out.address, 9);
        assertThat(out.toArray()).isEqualTo(rows);
      }
    }
  }

  @Test
  void anIdMissingBetweenForwardAndBackwardShiftsNoGradient() {
    EmbeddingTable table = table(1, Optimizer.sgd(1), UnknownRow.INITIAL);
    float[] before = read(table, true, 10, 12);
    Lookup lookup = new Lookup();
    table.find(new long[] {10, 11, 12, 11}, 4, lookup, false);
    try (Floats grad = Floats.of(allocator, 1, 100, 2, 200)) {
      ByAddress.apply(table, lookup, oneHot(4), 4, Combiner.SUM, grad.address, 1, 1, 1);
    }
    assertThat(table.size()).isEqualTo(2);
    assertThat(read(table, false, 10, 12)).containsExactly(before[0] - 1, before[1] - 2);
  }

  @Test
  void onlyPositionsWithinTheOffsetsTakeGradients() {
    EmbeddingTable table = table(1, Optimizer.momentum(1), UnknownRow.ZEROS);
    long[] ids = {10, 11, 12, 13};
    Lookup lookup = new Lookup();
    try (Floats grad = Floats.of(allocator, 1, 2)) {
      float[] before = read(table, true, ids);
      for (int step = 1; step <= 2; step++) {
        table.find(ids, 4, lookup, true);
        int[] offsets = step == 1 ? new int[] {0, 1, 2, 3, 4} : new int[] {1, 2, 3};
        if (step == 1) {
          try (Floats all = Floats.of(allocator, 1, 1, 1, 1)) {
            ByAddress.apply(table, lookup, offsets, 4, Combiner.SUM, all.address, 1, 1, step);
          }
          before = read(table, false, ids);
        } else {
          ByAddress.apply(table, lookup, offsets, 2, Combiner.SUM, grad.address, 1, 1, step);
        }
      }
      // The accumulator of step 1 is -1; it moves the rows touched in step 2 by 0.9 of it.
      float[] after = read(table, false, ids);
      assertThat(after[0]).isEqualTo(before[0]);
      assertThat(after[1]).isCloseTo(before[1] - 1.9f, within(1e-5f));
      assertThat(after[2]).isCloseTo(before[2] - 2.9f, within(1e-5f));
      assertThat(after[3]).isEqualTo(before[3]);
    }
  }

  @Test
  void aLookupIsRefusedAfterItsRowsChangedUntilRefreshed() {
    EmbeddingTable table = table(1, Optimizer.sgd(1), UnknownRow.ZEROS);
    Lookup first = new Lookup();
    Lookup second = new Lookup();
    table.find(new long[] {1}, 1, first, true);
    table.find(new long[] {1}, 1, second, true);
    try (Floats grad = Floats.of(allocator, 1);
        Floats out = new Floats(allocator, 1)) {
      ByAddress.pool(table, second, oneHot(1), 0, 1, Combiner.SUM, out.address, 1);
      float before = out.get(0);
      ByAddress.apply(table, first, oneHot(1), 1, Combiner.SUM, grad.address, 1, 1, 1);
      assertThat(table.version()).isEqualTo(second.version() + 1);
      assertThatThrownBy(() -> ByAddress.ragged(table, second, out.address))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("its rows changed or moved since");
      table.refresh(second);
      ByAddress.pool(table, second, oneHot(1), 0, 1, Combiner.SUM, out.address, 1);
      assertThat(out.get(0)).isEqualTo(before - 1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 1000, 30_000, 200_000, 262_000, 400_000})
  void aBatchFindsEachIdAsIfItWereAlone(int size) {
    EmbeddingTable table = table(1, Optimizer.sgd(1), UnknownRow.ZEROS);
    long[] known = LongStream.range(0, size).map(i -> 3 * i - size).toArray();
    Lookup lookup = new Lookup();
    table.find(known, size, lookup, true);
    SplittableRandom random = new SplittableRandom(size);
    for (int count : new int[] {1, 127, 128, 129, 255, 256, 257, 3000}) {
      long[] ids = random.longs(count, -size - 10, 2L * size + 10).toArray();
      table.find(ids, count, lookup, false);
      for (int i = 0; i < count; i++) {
        long place = ids[i] + size;
        boolean there = place >= 0 && place < 3L * size && place % 3 == 0;
        assertThat(lookup.found.rows[lookup.found.inverse[i]])
            .as("id %d", ids[i])
            .isEqualTo(there ? (int) (place / 3) : -1);
      }
    }
  }

  @Test
  void aLookupMayBePooledAfterLaterIdsGrewTheTable() {
    EmbeddingTable table = table(3, Optimizer.sgd(1), UnknownRow.ZEROS);
    long[] ids = {1, 2, 3};
    float[] expected = read(table, true, ids);
    Lookup lookup = new Lookup();
    table.find(ids, 3, lookup, true);
    read(table, true, LongStream.range(100, 400_000).toArray());
    try (Floats out = new Floats(allocator, 9)) {
      ByAddress.ragged(table, lookup, out.address);
      assertThat(out.toArray()).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000, 5000})
  void exportThenImportGivesTheSameTable(int count) {
    EmbeddingTable table = table(3, Optimizer.adam(1), UnknownRow.ZEROS);
    long[] ids =
        LongStream.concat(Arrays.stream(EXTREMES), new SplittableRandom(count).longs(count))
            .limit(count)
            .toArray();
    read(table, true, ids);
    train(table, ids);
    Rows rows = Rows.of(table);
    assertThat(rows.ids).isSorted().hasSize(count);
    EmbeddingTable copy = table(3, Optimizer.adam(1), UnknownRow.ZEROS);
    copy.importFrom(rows.source());
    assertThat(copy.size()).isEqualTo(count);
    assertThat(read(copy, false, ids)).isEqualTo(read(table, false, ids));
    train(table, ids);
    train(copy, ids);
    assertThat(Rows.of(copy).values).isEqualTo(Rows.of(table).values);
  }

  private void train(EmbeddingTable table, long[] ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    try (Floats grad = new Floats(allocator, ids.length * 3)) {
      for (int i = 0; i < grad.length; i++) {
        grad.set(i, i % 7 - 3);
      }
      ByAddress.apply(
          table, lookup, oneHot(ids.length), ids.length, Combiner.SUM, grad.address, 3, 0.1f, 1);
    }
  }

  /** A table's rows on the heap. */
  private static final class Rows {
    final List<Long> ids = new ArrayList<>();
    final List<Float> values = new ArrayList<>();
    private int given;

    static Rows of(EmbeddingTable table) {
      Rows rows = new Rows();
      int floats = table.config().rowFloats();
      table.exportTo((ids, segment, count) -> {
        long values = segment.address();
        for (int i = 0; i < count; i++) {
          rows.ids.add(ids[i]);
          for (int j = 0; j < floats; j++) {
            rows.values.add(Memory.getFloat(values + 4L * (i * floats + j)));
          }
        }
      });
      return rows;
    }

    RowSource source() {
      return (target, rows) -> {
        int floats = ids.isEmpty() ? 1 : values.size() / ids.size();
        int count = Math.min(target.length, ids.size() - given);
        for (int i = 0; i < count; i++, given++) {
          target[i] = ids.get(given);
          for (int j = 0; j < floats; j++) {
            rows.setAtIndex(ValueLayout.JAVA_FLOAT, i * floats + j, values.get(given * floats + j));
          }
        }
        return count;
      };
    }
  }

  @Test
  void importRefusesIdsGivenTwiceAndTablesInUse() {
    EmbeddingTable table = table(1, Optimizer.sgd(1), UnknownRow.ZEROS);
    int[] calls = {0};
    RowSource twice =
        (ids, values) -> {
          ids[0] = 5;
          ids[1] = 5;
          return calls[0]++ == 0 ? 2 : 0;
        };
    assertThatThrownBy(() -> table.importFrom(twice)).hasMessageContaining("id 5 twice");
    RowSource inTwoBlocks =
        (ids, _) -> {
          ids[0] = 6;
          return 1;
        };
    assertThatThrownBy(() -> table.importFrom(inTwoBlocks)).hasMessageContaining("id 6 twice");
    assertThat(table.size()).isEqualTo(1);
    assertThatThrownBy(() -> table.importFrom((_, _) -> 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("expected an empty table");
  }

  @Test
  void wrongArgumentsAreRefusedBeforeAnythingIsRead() {
    EmbeddingTable table = table(1, Optimizer.sgd(1), UnknownRow.ZEROS);
    Lookup lookup = new Lookup();
    table.find(new long[] {1, 2}, 2, lookup, true);
    for (int[] offsets : new int[][] {{0, 3}, {-1, 1}, {1, 0}, {0, 2, 1}}) {
      assertThatThrownBy(() ->
              ByAddress.pool(table, lookup, offsets, 0, offsets.length - 1, Combiner.SUM, 0, 1))
          .as(Arrays.toString(offsets))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("table t: got offsets");
      assertThatThrownBy(() ->
              ByAddress.apply(table, lookup, offsets, offsets.length - 1, Combiner.SUM, 0, 1, 1, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> ByAddress.pool(table, lookup, new int[2], 0, 2, Combiner.SUM, 0, 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(
            () -> ByAddress.apply(table, lookup, oneHot(2), 2, Combiner.SUM, 0, 1, -1, 1))
        .hasMessageContaining("learning rate -1.0");
    assertThatThrownBy(() -> ByAddress.apply(table, lookup, oneHot(2), 2, Combiner.SUM, 0, 1, 1, 0))
        .hasMessageContaining("step 0");
    EmbeddingTable other = table(1, Optimizer.sgd(1), UnknownRow.ZEROS);
    assertThatThrownBy(() -> ByAddress.ragged(other, lookup, 0))
        .hasMessageContaining("one of its own");
    other.close();
    assertThatThrownBy(() -> other.find(new long[0], 0, lookup, false))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("after close");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16})
  void aTableOverBudgetSaysSoAndKeepsItsRows(int width) {
    Allocator small = Allocator.of(1 << 20);
    TableConfig config =
        new TableConfig("big", 0, width, 1, TableOptions.of(Optimizer.sgd(1)).initRange(0.1f));
    try (EmbeddingTable table = EmbeddingTable.create(config, small)) {
      Lookup lookup = new Lookup();
      long[] ids = LongStream.range(0, 100_000).toArray();
      int before = 3000;
      table.find(ids, before, lookup, true);
      assertThatThrownBy(() -> table.find(ids, ids.length, lookup, true))
          .hasMessageContaining("table big");
      assertThatThrownBy(() -> ByAddress.ragged(table, lookup, 0))
          .hasMessageContaining("call find first");
      int held = (int) table.size();
      // Of wide rows there is no room for all of a batch, of narrow ones the index ends amid it.
      assertThat(held > before).isEqualTo(width == 1);
      table.find(ids, held, lookup, false);
      for (int u = 0; u < held; u++) {
        assertThat(lookup.found.rows[u]).isEqualTo(u);
      }
      assertThat(Memory.getFloat(lookup.found.addresses[held - 1])).isNotZero();
      SoundTable.require(table.rows);
      TableStatistics statistics = table.statistics();
      assertThat(statistics.admitted()).isEqualTo(held);
      assertThat(statistics.misses()).isEqualTo(held + statistics.rejected());
    }
    assertThat(small.live()).isZero();
  }
}
