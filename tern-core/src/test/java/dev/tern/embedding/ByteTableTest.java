package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.SoundTable;
import dev.tern.internal.table.rows.Int8Rows;
import dev.tern.internal.table.rows.MatrixBlock;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowReads;
import dev.tern.optim.Optimizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables whose rows are of {@link RowFormat#INT8}. */
final class ByteTableTest {
  private static final int[] WIDTHS = {1, 3, 4, 7, 8, 15, 16, 17, 63, 64, 65};
  private static final int[] COUNTS = {0, 1, 7, 8, 17, 64, 65, 1000};
  private static final long UNSEEN = 1L << 50;

  private final Allocator allocator = Allocator.of(1L << 28);
  private final List<EmbeddingTable> tables = new ArrayList<>();

  private EmbeddingTable table(TableConfig config) {
    EmbeddingTable table = EmbeddingTable.create(config, allocator);
    tables.add(table);
    return table;
  }

  private static TableConfig config(int width, DType storage, UnknownRow unknown) {
    return new TableConfig(
        "t",
        2,
        width,
        5,
        TableOptions.of(Optimizer.adam(0.1f)).initRange(0.5f).unknown(unknown).storage(storage));
  }

  @AfterEach
  void closedTablesHoldNoMemory() {
    tables.forEach(EmbeddingTable::close);
    assertThat(allocator.live()).isZero();
  }

  private static long[] ids(int count) {
    return LongStream.range(0, count).map(i -> i * 7919 - 1000).toArray();
  }

  /** A table with rows for ids. */
  private EmbeddingTable stored(TableConfig config, int count) {
    EmbeddingTable table = table(config);
    table.find(ids(count), count, new Lookup(), true);
    return table;
  }

  /** The same rows in 8 bits. */
  private EmbeddingTable narrowed(EmbeddingTable table) {
    EmbeddingTable narrow = table(table.config().with(o -> o.format(RowFormat.INT8)));
    List<Map.Entry<long[], byte[][]>> blocks = new ArrayList<>();
    table.exportBlocks(block ->
        blocks.add(
            Map.entry(
                Arrays.copyOf(block.ids(), block.count()),
                new byte[][] {
                  block.weights().toArray(ValueLayout.JAVA_BYTE),
                  block.state().toArray(ValueLayout.JAVA_BYTE)
                })));
    var left = blocks.iterator();
    narrow.importBlocks(
        table.size(),
        block -> {
          if (!left.hasNext()) {
            return false;
          }
          var next = left.next();
          System.arraycopy(next.getKey(), 0, block.ids(), 0, next.getKey().length);
          block.setCount(next.getKey().length);
          block.weights().copyFrom(MemorySegment.ofArray(next.getValue()[0]));
          block.state().copyFrom(MemorySegment.ofArray(next.getValue()[1]));
          return true;
        });
    return narrow;
  }

  private float[] read(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, false);
    try (Floats out = new Floats(allocator, ids.length * table.config().width())) {
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  /** A row of {@code weights} as it is read. */
  private float[] roundTrip(float... weights) {
    int width = weights.length;
    try (Floats given = Floats.of(allocator, weights);
        Floats row = new Floats(allocator, width + 1)) {
      Int8Rows.set(DType.F32, given.address, width, row.address);
      float[] read = new float[width];
      for (int j = 0; j < width; j++) {
        read[j] = Int8Rows.get(row.address, Int8Rows.scaleAt(width), j);
      }
      return read;
    }
  }

  private static double scale(float... weights) {
    double largest = 0;
    for (float weight : weights) {
      largest = Math.max(largest, Math.abs(weight));
    }
    return largest / 127;
  }

  private static void assertWithinHalfTheScale(float[] got, float[] exact) {
    double bound = scale(exact) * (0.5 + 0x1p-16);
    for (int j = 0; j < exact.length; j++) {
      assertThat((double) got[j]).isCloseTo(exact[j], within(bound));
    }
  }

  @Test
  void aWeightIsOffByAtMostHalfTheScale() {
    SplittableRandom random = new SplittableRandom(3);
    for (int exponent = -118; exponent < 127; exponent++) {
      for (int width : WIDTHS) {
        float[] weights = new float[width];
        for (int j = 0; j < width; j++) {
          weights[j] = (float) Math.scalb(random.nextDouble(-2, 2), exponent);
        }
        weights[random.nextInt(width)] = Math.scalb(1.5f, exponent);
        assertWithinHalfTheScale(roundTrip(weights), weights);
      }
    }
    float[] steps = new float[1 << 16];
    for (int j = 0; j < steps.length; j++) {
      steps[j] = j / 65535f;
    }
    assertWithinHalfTheScale(roundTrip(steps), steps);
    assertWithinHalfTheScale(
        roundTrip(Float.MAX_VALUE, -1e38f, 0), new float[] {Float.MAX_VALUE, -1e38f, 0});
  }

  @Test
  void theLargestWeightOfARowStaysAndAllOthersKeepTheirSign() {
    assertThat(roundTrip(-127, 1, 63.4f, 0.49f, -0.51f)).containsExactly(-127, 1, 63, 0, -1);
  }

  @Test
  void rowsOfNearlyNothingReadAsZerosAndThoseNotFiniteAsNaN() {
    assertThat(roundTrip(0, -0f)).containsExactly(0, 0);
    assertThat(roundTrip(Float.MIN_VALUE, -0x1p-120f)).containsExactly(0, 0);
    assertThat(roundTrip(0x1p-119f)).containsExactly(new float[] {0x1p-119f}, within(0x1p-126f));
    assertThat(roundTrip(1, Float.NaN, 2)).containsOnly(Float.NaN);
    assertThat(roundTrip(1, Float.NEGATIVE_INFINITY, 0)).containsOnly(Float.NaN);
  }

  @Test
  void vectorLoopsHaveTheBitsOfScalarLoops() {
    for (int width : WIDTHS) {
      for (int count : COUNTS) {
        float[] expected = loops(RowReads.int8(false, width), width, count);
        TableConfig config = config(width, DType.F32, UnknownRow.ZEROS);
        float[] got =
            loops(RowReads.fastest(config.with(o -> o.format(RowFormat.INT8))), width, count);
        assertThat(got).as("width %d count %d", width, count).isEqualTo(expected);
      }
    }
  }

  /** What gather and both ways of pooling give, of rows that lie packed. */
  private float[] loops(RowReads loops, int width, int count) {
    SplittableRandom random = new SplittableRandom(width + 100L * count);
    int bags = count / 2;
    int[] offsets = new int[bags + 1];
    for (int b = 0; b < bags; b++) {
      offsets[b + 1] = Math.min(count, offsets[b] + random.nextInt(4));
    }
    int rowBytes = Int8Rows.rowBytes(width);
    try (Floats rows = new Floats(allocator, count * rowBytes / 4);
        Floats weights = new Floats(allocator, width);
        Floats out = new Floats(allocator, 7 * count * (width + 1))) {
      long[] addresses = new long[count];
      float[] shares = new float[count];
      for (int i = 0; i < count; i++) {
        addresses[i] = rows.address + (long) rowBytes * i;
        for (int j = 0; j < width; j++) {
          weights.set(j, (float) (random.nextGaussian() * Math.exp(i % 13 - 8)));
        }
        Int8Rows.set(DType.F32, weights.address, width, addresses[i]);
        shares[i] = (float) random.nextGaussian();
      }
      RowLookup lookup = new RowLookup();
      lookup.addresses = addresses;
      lookup.inverse = random.ints(count, 0, Math.max(1, count)).toArray();
      long stride = 4L * (width + 1);
      MatrixBlock block =
          new MatrixBlock().at(out.address, stride).rows(0, count).columns(0, width);
      loops.gather(addresses, lookup.inverse, block);
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
          assertThat(out.get(i * (width + 1) + j))
              .isEqualTo(loops.get(addresses[lookup.inverse[i]], j));
        }
      }
      return out.toArray();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "F16", "BF16"})
  void rowsOfEveryStorageComeInRounded(DType storage) {
    for (int width : WIDTHS) {
      EmbeddingTable exact = stored(config(width, storage, UnknownRow.ZEROS), 5000);
      EmbeddingTable narrow = narrowed(exact);
      SoundTable.require(narrow.rows);
      assertThat(narrow.size()).isEqualTo(5000);
      float[] expected = read(exact, ids(5000));
      float[] got = read(narrow, ids(5000));
      for (int at = 0; at < got.length; at += width) {
        float[] row = Arrays.copyOfRange(expected, at, at + width);
        float[] rounded = Arrays.copyOfRange(got, at, at + width);
        assertThat(rounded).isEqualTo(roundTrip(row));
        assertWithinHalfTheScale(rounded, row);
      }
    }
  }

  @Test
  void rowsThatComeOneByOneAreTheSame() {
    EmbeddingTable exact = stored(config(9, DType.F32, UnknownRow.ZEROS), 3000);
    EmbeddingTable narrow = table(exact.config().with(o -> o.format(RowFormat.INT8)));
    int floats = exact.config().rowFloats();
    long[] ids = ids(3000);
    float[] weights = read(exact, ids);
    int[] at = {0};
    narrow.importFrom((block, segment) -> {
      long values = segment.address();
      int count = Math.min(block.length, ids.length - at[0]);
      for (int i = 0; i < count; i++, at[0]++) {
        block[i] = ids[at[0]];
        Memory.copyIn(weights, 9 * at[0], values + 4L * floats * i, 9);
      }
      return count;
    });
    assertThat(read(narrow, ids)).isEqualTo(read(narrowed(exact), ids));
  }

  @ParameterizedTest
  @EnumSource
  void pooledRowsAreOffByNoMoreThanTheirRowsTogether(Combiner combiner) {
    int width = 17;
    EmbeddingTable exact = stored(config(width, DType.F32, UnknownRow.ZEROS), 100);
    EmbeddingTable narrow = narrowed(exact);
    long[] ids = ids(100);
    int[] offsets = {0, 3, 3, 4, 100};
    float[] expected = pooled(exact, ids, offsets, combiner);
    float[] got = pooled(narrow, ids, offsets, combiner);
    float[] rows = read(exact, ids);
    for (int b = 0; b < 4; b++) {
      double bound = 1e-6;
      for (int i = offsets[b]; i < offsets[b + 1]; i++) {
        double half = scale(Arrays.copyOfRange(rows, i * width, (i + 1) * width)) / 2;
        bound += half * combiner.scale(offsets[b + 1] - offsets[b]) * 1.001;
      }
      for (int j = 0; j < width; j++) {
        int at = b * width + j;
        assertThat((double) got[at]).isCloseTo(expected[at], within(bound));
      }
    }
    assertThat(got).isNotEqualTo(expected);
  }

  private float[] pooled(EmbeddingTable table, long[] ids, int[] offsets, Combiner combiner) {
    int bags = offsets.length - 1;
    int width = table.config().width();
    try (Floats out = new Floats(allocator, bags * width)) {
      ByAddress.findAndPool(
          table, ids, ids.length, new Lookup(), false, offsets, bags, combiner, out.address, width);
      return out.toArray();
    }
  }

  @Test
  void unknownIdsReadAsZerosTheMeanOrTheirInitialRow() {
    for (UnknownRow unknown : UnknownRow.Derived.values()) {
      EmbeddingTable exact = stored(config(9, DType.F32, unknown), 200);
      float[] expected = read(exact, UNSEEN);
      float[] got = read(narrowed(exact), UNSEEN, UNSEEN + 1);
      for (int j = 0; j < 9; j++) {
        assertThat(got[j]).as("%s", unknown).isCloseTo(expected[j], within(0.01f));
      }
      assertThat(got[0] == 0).isEqualTo(unknown == UnknownRow.ZEROS);
      assertThat(got[0] == got[9]).isEqualTo(unknown != UnknownRow.INITIAL);
    }
  }

  @Test
  void aRowTakesAByteAWeightAndFourForItsScale() {
    int count = 400_000;
    EmbeddingTable exact = stored(config(16, DType.F32, UnknownRow.ZEROS), count);
    EmbeddingTable narrow = narrowed(exact);
    long index = narrow.statistics().indexBytes();
    // The last slab may have room to spare, of 4 MiB at most.
    assertThat(narrow.bytes() - index).isBetween(20L * count, 20L * count + (5L << 20));
    // Weights and two moments of Adam.
    assertThat(exact.bytes() - exact.statistics().indexBytes()).isGreaterThan(192L * count);
  }

  @Test
  void whatTrainsOrExportsIsRefused() {
    EmbeddingTable narrow = narrowed(stored(config(4, DType.F32, UnknownRow.ZEROS), 10));
    Lookup lookup = new Lookup();
    long[] ids = ids(10);
    narrow.find(ids, 10, lookup, false);
    try (Floats gradient = new Floats(allocator, 40)) {
      int[] one = {0, 10};
      Map<String, ThrowingCallable> calls =
          Map.of(
              "find with insert", () -> narrow.find(ids, 10, new Lookup(), true),
              "apply",
                  () ->
                      ByAddress.apply(
                          narrow, lookup, one, 1, Combiner.SUM, gradient.address, 4, 0.1f, 1),
              "trackChanges", narrow::trackChanges,
              "export", () -> narrow.exportTo((_, _, _) -> {}));
      calls.forEach(ByteTableTest::assertRefused);
      assertRefused("export", () -> narrow.exportBlocks(_ -> {}));
      assertRefused("export", () -> narrow.exportTo(ids, (_, _, _) -> {}));
    }
    assertThat(narrow.size()).isEqualTo(10);
  }

  private static void assertRefused(String operation, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "table t: got %s of rows of INT8, which are for reading alone; load the table with rows"
                + " as stored",
            operation);
  }

  @Test
  void aRowPolicyIsRefused() {
    RowPolicy policy = RowPolicy.ALL.withMaxRows(5, WhenFull.UNKNOWN);
    TableConfig limited =
        new TableConfig("t", 0, 4, 5, TableOptions.of(Optimizer.sgd(1)).initRange(0).rows(policy));
    assertThatThrownBy(() -> limited.with(o -> o.format(RowFormat.INT8)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got a row policy with rows of INT8, expected a row for each id");
  }
}
