package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.MatrixBlock;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowReads;
import dev.tern.internal.table.rows.StoredWeights;
import dev.tern.internal.table.rows.UpdateLoops;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables whose weights are F16 or BF16. */
final class HalfTableTest {
  private static final int[] WIDTHS = {1, 7, 8, 15, 16, 17, 63, 64, 65};
  private static final int[] COUNTS = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1000};

  private final Allocator allocator = Allocator.of(1L << 28);
  private final List<EmbeddingTable> tables = new ArrayList<>();

  private EmbeddingTable table(int width, Optimizer optimizer, float range, DType storage) {
    return table(width, optimizer, range, storage, UnknownRow.ZEROS);
  }

  private EmbeddingTable table(
      int width, Optimizer optimizer, float range, DType storage, UnknownRow unknown) {
    EmbeddingTable table =
        EmbeddingTable.create(
            new TableConfig(
                "t",
                2,
                width,
                5,
                TableOptions.of(optimizer).initRange(range).unknown(unknown).storage(storage)),
            allocator);
    tables.add(table);
    return table;
  }

  @AfterEach
  void closedTablesHoldNoMemory() {
    tables.forEach(EmbeddingTable::close);
    assertThat(allocator.live()).isZero();
  }

  static Stream<Arguments> optimizersAndStorages() {
    return RowUpdatesTest.optimizers()
        .flatMap(o -> Stream.of(DType.F16, DType.BF16).map(s -> Arguments.of(o, s)));
  }

  private static int[] oneHot(int count) {
    return IntStream.rangeClosed(0, count).toArray();
  }

  private float[] read(EmbeddingTable table, boolean insert, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, insert);
    try (Floats out = new Floats(allocator, ids.length * table.config().width())) {
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  /** Every row, weights and state, by id. */
  private static Map<Long, float[]> rows(EmbeddingTable table) {
    int floats = table.config().rowFloats();
    Map<Long, float[]> rows = new TreeMap<>();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        float[] row = new float[floats];
        Memory.copyOut(values + 4L * i * floats, row, 0, floats);
        rows.put(ids[i], row);
      }
    });
    return rows;
  }

  private static void fill(EmbeddingTable table, Map<Long, float[]> rows) {
    var left = rows.entrySet().iterator();
    int floats = table.config().rowFloats();
    table.importFrom((ids, segment) -> {
      long values = segment.address();
      int count = 0;
      for (; count < ids.length && left.hasNext(); count++) {
        var row = left.next();
        ids[count] = row.getKey();
        Memory.copyIn(row.getValue(), 0, values + 4L * count * floats, floats);
      }
      return count;
    });
  }

  private static void assertSame(EmbeddingTable got, EmbeddingTable expected, String what) {
    Map<Long, float[]> other = rows(expected);
    Map<Long, float[]> rows = rows(got);
    assertThat(rows.keySet()).isEqualTo(other.keySet());
    rows.forEach((id, row) -> assertThat(row).as("%s, id %d", what, id).isEqualTo(other.get(id)));
  }

  /** Step {@code t} on {@code ids}, bags of one, gradients by id. */
  private void step(EmbeddingTable table, int t, long... ids) {
    int width = table.config().width();
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    try (Floats grad = new Floats(allocator, ids.length * width)) {
      for (int i = 0; i < ids.length; i++) {
        SplittableRandom random = new SplittableRandom(31 * ids[i] + t);
        for (int j = 0; j < width; j++) {
          grad.set(i * width + j, (float) random.nextDouble(-1, 1));
        }
      }
      ByAddress.apply(
          table,
          lookup,
          oneHot(ids.length),
          ids.length,
          Combiner.SUM,
          grad.address,
          width,
          0.05f,
          t);
    }
  }

  private static long[] ids(int t, int count) {
    return new SplittableRandom(t).longs(-count, count).distinct().limit(count).toArray();
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void vectorLoopsHaveTheBitsOfScalarLoops(DType storage) {
    for (int width : WIDTHS) {
      for (int count : COUNTS) {
        float[] expected = loops(false, storage, width, count);
        float[] got = loops(VectorSupport.available(), storage, width, count);
        assertThat(got).as("width %d count %d", width, count).isEqualTo(expected);
      }
    }
  }

  /** What gather, both ways of pooling and store leave behind. */
  private float[] loops(boolean vectors, DType storage, int width, int count) {
    RowReads loops = RowReads.of(vectors, storage);
    SplittableRandom random = new SplittableRandom(width + 100L * count);
    int bags = count / 2;
    int[] offsets = new int[bags + 1];
    for (int b = 0; b < bags; b++) {
      offsets[b + 1] = Math.min(count, offsets[b] + random.nextInt(4));
    }
    try (Floats rows = new Floats(allocator, count * width);
        Floats weights = new Floats(allocator, count * width);
        Floats out = new Floats(allocator, 7 * count * (width + 1))) {
      long[] addresses = new long[count];
      int[] keys = random.ints(count).toArray();
      for (int i = 0; i < count; i++) {
        addresses[i] = rows.address + 4L * i * width;
        for (int j = 0; j < width; j++) {
          weights.set(i * width + j, (float) (random.nextGaussian() * Math.exp(i % 13 - 8)));
        }
      }
      RowLookup lookup = new RowLookup();
      lookup.addresses = addresses;
      lookup.inverse = random.ints(count, 0, Math.max(1, count)).toArray();
      MatrixBlock from = new MatrixBlock().at(weights.address, 4L * width);
      new UpdateLoops(vectors)
          .store(storage, addresses, keys, from.rows(0, count).columns(0, width));
      long stride = 4L * (width + 1);
      MatrixBlock block =
          new MatrixBlock().at(out.address, stride).rows(0, count).columns(0, width);
      loops.gather(addresses, lookup.inverse, block);
      float[] shares = new float[count];
      for (int i = 0; i < count; i++) {
        shares[i] = (float) random.nextGaussian();
      }
      for (Combiner combiner : Combiner.values()) {
        long target = out.address + (1 + combiner.ordinal()) * count * stride;
        loops.pool(
            lookup, PooledBags.of(offsets, bags, combiner), block.at(target, stride).rows(0, bags));
        target += 3 * count * stride;
        PooledBags weighted = new PooledBags(combiner).set(offsets, shares, bags);
        loops.pool(lookup, weighted, block.at(target, stride));
      }
      for (int i = 0; i < count; i++) {
        for (int j = 0; j < width; j++) {
          float stored = StoredWeights.get(storage, addresses[lookup.inverse[i]], j);
          assertThat(out.get(i * (width + 1) + j)).isEqualTo(stored);
          float weight = weights.get(lookup.inverse[i] * width + j);
          assertThat(stored).isCloseTo(weight, within(Math.abs(weight) / 128 + 1e-7f));
        }
      }
      return out.toArray();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void newRowsAreTheRowsOfF32Rounded(DType storage) {
    for (int width : WIDTHS) {
      long[] ids = ids(1, 100);
      float[] full = read(table(width, Optimizer.adam(1), 0.5f, DType.F32), true, ids);
      EmbeddingTable half = table(width, Optimizer.adam(1), 0.5f, storage, UnknownRow.INITIAL);
      float[] unknown = read(half, false, ids);
      assertThat(half.size()).isZero();
      float[] inserted = read(half, true, ids);
      assertThat(unknown).isEqualTo(inserted);
      for (int i = 0; i < full.length; i++) {
        float expected = Halves.widen(storage, Halves.nearest(storage, full[i]));
        assertThat(inserted[i]).as("width %d", width).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void unknownIdsReadAsZerosOrTheMeanRow(DType storage) {
    EmbeddingTable zeros = table(9, Optimizer.sgd(1), 0.5f, storage);
    read(zeros, true, 1, 2);
    assertThat(read(zeros, false, 3)).containsOnly(0);
    EmbeddingTable mean = table(9, Optimizer.sgd(1), 0.5f, storage, UnknownRow.MEAN);
    float[] rows = read(mean, true, 1, 2);
    float[] unknown = read(mean, false, 3);
    for (int j = 0; j < 9; j++) {
      assertThat(unknown[j]).isCloseTo((rows[j] + rows[9 + j]) / 2, within(0.002f));
    }
  }

  @ParameterizedTest
  @MethodSource("optimizersAndStorages")
  void aStepIsThatOfAnF32TableRounded(Optimizer optimizer, DType storage) {
    for (int width : new int[] {1, 8, 17}) {
      for (int count : new int[] {1, 64, 130}) {
        EmbeddingTable half = table(width, optimizer, 0.5f, storage);
        EmbeddingTable full = table(width, optimizer, 0.5f, DType.F32);
        long[] ids = ids(count, count);
        step(half, 1, ids);
        fill(full, rows(half));
        step(half, 2, ids);
        step(full, 2, ids);
        Map<Long, float[]> exact = rows(full);
        rows(half).forEach((id, row) -> assertRounded(storage, width, row, exact.get(id)));
      }
    }
  }

  private static void assertRounded(DType storage, int width, float[] got, float[] exact) {
    for (int j = 0; j < got.length; j++) {
      if (j >= width) {
        assertThat(got[j]).as("state").isEqualTo(exact[j]);
      } else if (storage == DType.F16) {
        assertThat(got[j]).isEqualTo(Float.float16ToFloat(Float.floatToFloat16(exact[j])));
      } else {
        int below = Float.floatToRawIntBits(exact[j]) & 0xFFFF0000;
        int above = below + (below == Float.floatToRawIntBits(exact[j]) ? 0 : 0x10000);
        assertThat(got[j]).isIn(Float.intBitsToFloat(below), Float.intBitsToFloat(above));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("optimizersAndStorages")
  void resultsDependNeitherOnTheOrderOfIdsNorOnAnExportBetween(Optimizer optimizer, DType storage) {
    EmbeddingTable whole = table(9, optimizer, 0.5f, storage);
    EmbeddingTable backwards = table(9, optimizer, 0.5f, storage);
    EmbeddingTable first = table(9, optimizer, 0.5f, storage);
    EmbeddingTable resumed = table(9, optimizer, 0.5f, storage);
    for (int t = 1; t <= 8; t++) {
      long[] ids = ids(t, 70);
      step(whole, t, ids);
      step(backwards, t, IntStream.range(0, 70).mapToLong(i -> ids[69 - i]).toArray());
      if (t == 4) {
        fill(resumed, rows(first));
        assertSame(resumed, first, "imported");
      }
      step(t < 4 ? first : resumed, t, ids);
      if (t < 4) {
        assertSame(first, whole, "before");
      }
    }
    assertSame(backwards, whole, "another order");
    assertSame(resumed, whole, "resumed");
  }

  @Test
  void smallStepsAreNotLostOnAverage() {
    // A step of 1/16 of the distance between two BF16 numbers, 16 times, on 16,000 weights.
    int count = 1000;
    int width = 16;
    EmbeddingTable table = table(width, Optimizer.sgd(1), 0, DType.BF16);
    float[] ones = new float[width];
    Arrays.fill(ones, 1);
    Map<Long, float[]> start = new TreeMap<>();
    LongStream.range(0, count).forEach(id -> start.put(id, ones));
    fill(table, start);
    Lookup lookup = new Lookup();
    try (Floats grad = new Floats(allocator, count * width)) {
      for (int i = 0; i < grad.length; i++) {
        grad.set(i, -0x1p-11f);
      }
      for (int t = 1; t <= 16; t++) {
        table.find(LongStream.range(0, count).toArray(), count, lookup, false);
        ByAddress.apply(
            table, lookup, oneHot(count), count, Combiner.SUM, grad.address, width, 1, t);
      }
    }
    float[] weights = read(table, false, LongStream.range(0, count).toArray());
    double mean = 0;
    double[] columns = new double[width];
    for (int i = 0; i < weights.length; i++) {
      mean += weights[i] / (double) weights.length;
      columns[i % width] += weights[i] / (double) count;
    }
    // Each of the 16 draws has a deviation of sqrt(15) / 16 of a distance.
    double deviation = 0x1p-7 * Math.sqrt(15) / 4 / Math.sqrt(weights.length);
    assertThat(mean).isCloseTo(1 + 0x1p-7, within(5 * deviation));
    for (double column : columns) {
      assertThat(column).isCloseTo(1 + 0x1p-7, within(5 * deviation * Math.sqrt(width)));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void aFiniteWeightStaysFiniteAndOthersStayWhatTheyAre(DType storage) {
    EmbeddingTable table = table(17, Optimizer.sgd(1), 0, storage);
    float[] start = new float[17];
    Arrays.fill(start, Float.MAX_VALUE);
    start[3] = Float.NEGATIVE_INFINITY;
    start[16] = Float.NaN;
    fill(table, Map.of(7L, start));
    float largest = storage == DType.F16 ? 65504 : Float.intBitsToFloat(0x7F7F0000);
    float[] stored = read(table, false, 7);
    assertThat(stored[0]).isEqualTo(largest);
    assertThat(stored[3]).isEqualTo(Float.NEGATIVE_INFINITY);
    assertThat(stored[16]).isNaN();
    Lookup lookup = new Lookup();
    table.find(new long[] {7}, 1, lookup, false);
    try (Floats grad = new Floats(allocator, 17)) {
      for (int j = 0; j < 17; j++) {
        grad.set(j, -largest / 1000);
      }
      ByAddress.apply(table, lookup, oneHot(1), 1, Combiner.SUM, grad.address, 17, 1, 1);
    }
    float[] row = read(table, false, 7);
    for (int j = 0; j < 17; j++) {
      if (j == 3 || j == 16) {
        assertThat(row[j]).as("column %d", j).isNotFinite();
      } else {
        assertThat(row[j]).as("column %d", j).isEqualTo(largest);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void rowsTakeHalfTheBytes(DType storage) {
    long[] ids = LongStream.range(0, 1 << 18).toArray();
    long[] bytes = new long[2];
    for (int i = 0; i < 2; i++) {
      EmbeddingTable table = table(16, Optimizer.sgd(1), 0, i == 0 ? DType.F32 : storage);
      Lookup lookup = new Lookup();
      long empty = table.bytes();
      table.find(ids, ids.length, lookup, true);
      bytes[i] = table.bytes() - empty;
    }
    assertThat(bytes[0] - bytes[1]).isEqualTo(32L * ids.length);
  }

  @Test
  void otherTypesAreRefused() {
    assertThatThrownBy(() -> table(1, Optimizer.sgd(1), 0, DType.I32))
        .hasMessage("table t: got storage I32, expected F32, F16 or BF16");
  }
}
