package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowBlock;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.table.SoundTable;
import dev.tern.optim.Optimizer;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ids without a row that read as buckets, against a plain model and against rows of ids. */
final class BucketRowsTest {
  static final int WIDTH = 3;
  private static final long[] EXTREMES = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE};

  /** The first id met has the only row. */
  private static final RowPolicy ONE_ROW = RowPolicy.ALL.withMaxRows(1, WhenFull.UNKNOWN);

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void closedTablesHoldNoMemory() {
    assertThat(allocator.live()).isZero();
  }

  private static TableConfig config(
      UnknownRow unknown, Optimizer optimizer, DType storage, RowPolicy policy) {
    return new TableConfig(
        "t",
        2,
        WIDTH,
        42,
        TableOptions.of(optimizer).initRange(0.5f).unknown(unknown).storage(storage).rows(policy));
  }

  private static TableConfig config(int buckets, RowPolicy policy) {
    return config(new UnknownRow.Hashed(buckets), Optimizer.sgd(1), DType.F32, policy);
  }

  private EmbeddingTable table(TableConfig config) {
    return EmbeddingTable.create(config, allocator);
  }

  private float[] read(EmbeddingTable table, Lookup lookup) {
    try (Floats out = new Floats(allocator, lookup.count() * WIDTH)) {
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  private float[] read(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, false);
    return read(table, lookup);
  }

  private static Lookup found(EmbeddingTable table, long... ids) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    return lookup;
  }

  /** A step on bags of one id, each with the gradient {@code gradient}. */
  private void apply(EmbeddingTable table, Lookup lookup, float gradient, long step) {
    float[] values = new float[WIDTH * lookup.count()];
    Arrays.fill(values, gradient);
    int[] offsets = IntStream.rangeClosed(0, lookup.count()).toArray();
    try (Floats grad = Floats.of(allocator, values)) {
      ByAddress.apply(
          table, lookup, offsets, lookup.count(), Combiner.SUM, grad.address, WIDTH, 0.5f, step);
    }
  }

  /** Buckets of a table as they are stored: weights, then state, of each block of them. */
  private static List<byte[]> buckets(EmbeddingTable table) {
    List<byte[]> blocks = new ArrayList<>();
    try (TableSnapshot snapshot = table.snapshot()) {
      snapshot.exportBuckets(block -> {
        blocks.add(block.weights().toArray(ValueLayout.JAVA_BYTE));
        blocks.add(block.state().toArray(ValueLayout.JAVA_BYTE));
      });
    }
    return blocks;
  }

  /** The weights of a bucket of a table of F32 with few of them. */
  private static float[] bucket(EmbeddingTable table, int number) {
    MemorySegment weights = MemorySegment.ofArray(buckets(table).getFirst());
    float[] row = new float[WIDTH];
    for (int j = 0; j < WIDTH; j++) {
      row[j] = weights.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 4L * (number * WIDTH + j));
    }
    return row;
  }

  /** What was taken by {@link #buckets}, to restore it. */
  private static RowBlock.Source source(List<byte[]> blocks) {
    int[] at = {0};
    return block -> {
      block.setCount(0);
      if (at[0] == blocks.size()) {
        return false;
      }
      byte[] weights = blocks.get(at[0]++);
      byte[] state = blocks.get(at[0]++);
      block.setCount(weights.length / (4 * WIDTH));
      block.weights().copyFrom(MemorySegment.ofArray(weights));
      block.state().copyFrom(MemorySegment.ofArray(state));
      return true;
    };
  }

  private Map<Long, float[]> initialRows(long[] ids, TableConfig like) {
    TableConfig initial =
        config(UnknownRow.INITIAL, like.optimizer(), like.storage(), RowPolicy.ALL);
    Map<Long, float[]> rows = new HashMap<>();
    try (EmbeddingTable table = table(initial)) {
      for (long id : ids) {
        rows.put(id, read(table, id));
      }
    }
    return rows;
  }

  /** Gradients are eighths, so that sums are exact in any order. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 100})
  void idsWithoutARowLearnAsInAModelOfAMapAndAnArray(int count) {
    RowPolicy policy =
        RowPolicy.ALL
            .withAdmission(new Admission.ByCount(4, 1000))
            .withMaxRows(25, WhenFull.UNKNOWN);
    TableConfig config = config(count, policy);
    long[] known =
        LongStream.concat(Arrays.stream(EXTREMES), LongStream.range(1000, 1060)).toArray();
    SplittableRandom random = new SplittableRandom(5);
    try (EmbeddingTable table = table(config)) {
      float[][] first =
          IntStream.range(0, count).mapToObj(b -> bucket(table, b)).toArray(float[][]::new);
      PlainBuckets plain = new PlainBuckets(initialRows(known, config), first, 4, 25);
      for (int step = 1; step <= 60; step++) {
        int bags = random.nextInt(12);
        int[] offsets = new int[bags + 1];
        for (int b = 0; b < bags; b++) {
          offsets[b + 1] = offsets[b] + random.nextInt(4);
        }
        long[] ids = random.ints(offsets[bags], 0, known.length).mapToLong(i -> known[i]).toArray();
        float[] gradients = new float[bags * WIDTH];
        for (int i = 0; i < gradients.length; i++) {
          gradients[i] = random.nextInt(-16, 16) / 8f;
        }
        Lookup lookup = found(table, ids);
        plain.meet(ids);
        float[] got = read(table, lookup);
        for (int i = 0; i < ids.length; i++) {
          float[] row = Arrays.copyOfRange(got, i * WIDTH, (i + 1) * WIDTH);
          assertThat(row).as("id %d in step %d", ids[i], step).isEqualTo(plain.row(ids[i]));
        }
        try (Floats grad = Floats.of(allocator, gradients)) {
          ByAddress.apply(
              table, lookup, offsets, bags, Combiner.SUM, grad.address, WIDTH, 0.5f, step);
        }
        plain.step(ids, offsets, gradients, 0.5f);
        SoundTable.require(table.rows);
      }
      assertThat(table.size()).isEqualTo(25).isEqualTo(plain.rows.size());
      assertThat(plain.rows.keySet())
          .isNotEqualTo(Set.copyOf(Arrays.stream(known).boxed().toList()));
      for (long id : known) {
        assertThat(read(table, id)).as("id %d", id).isEqualTo(plain.row(id));
      }
      for (int b = 0; b < count; b++) {
        assertThat(bucket(table, b)).isEqualTo(plain.buckets[b]);
      }
    }
  }

  static List<Arguments> rules() {
    List<Optimizer> optimizers =
        List.of(
            Optimizer.sgd(1),
            Optimizer.momentum(1),
            Optimizer.adagrad(1),
            Optimizer.rowWiseAdagrad(1),
            Optimizer.adam(1),
            Optimizer.lazyAdam(1),
            Optimizer.ftrl(0.5f));
    List<Arguments> rules = new ArrayList<>();
    for (Optimizer optimizer : optimizers) {
      for (DType storage : List.of(DType.F32, DType.F16, DType.BF16)) {
        rules.add(Arguments.of(optimizer, storage));
      }
    }
    return rules;
  }

  /**
   * One bucket beside a row of id 0, the number of the bucket: all ids that read as the bucket are
   * id 0 in the other table. BF16 is rounded by the number, too.
   */
  @ParameterizedTest
  @MethodSource("rules")
  void allIdsOfABucketInABatchAreOneStepOfTheirGradientsAddedUp(
      Optimizer optimizer, DType storage) {
    long own = 77;
    RowLimits limits = RowLimits.NONE.withClipNorm(1.5f).withBounds(-2, 2);
    for (RowLimits each : List.of(RowLimits.NONE, limits)) {
      TableConfig hashed =
          config(new UnknownRow.Hashed(1), optimizer, storage, ONE_ROW).with(o -> o.limits(each));
      TableConfig plain =
          config(UnknownRow.ZEROS, optimizer, storage, RowPolicy.ALL).with(o -> o.limits(each));
      try (EmbeddingTable table = table(hashed);
          EmbeddingTable other = table(plain)) {
        List<byte[]> first = buckets(table);
        boolean[] given = {false};
        other.importBlocks(
            1,
            block -> {
              block.setCount(given[0] ? 0 : 1);
              if (!given[0]) {
                block.ids()[0] = 0;
                block.weights().copyFrom(MemorySegment.ofArray(first.get(0)));
                block.state().copyFrom(MemorySegment.ofArray(first.get(1)));
              }
              given[0] = true;
              return block.count() > 0;
            });
        SplittableRandom random = new SplittableRandom(3);
        found(table, own);
        found(other, own);
        for (int step = 1; step <= 12; step++) {
          stepOfBoth(table, other, own, random, step);
          assertThat(String.join(" ", hex(buckets(table))))
              .as("step %d", step)
              .isEqualTo(String.join(" ", hex(stored(other, 0))));
          assertThat(hex(stored(table, own))).isEqualTo(hex(stored(other, own)));
        }
        assertThat(hex(buckets(table))).isNotEqualTo(hex(first));
        assertThat(table.size()).isOne();
      }
    }
  }

  private void stepOfBoth(
      EmbeddingTable table, EmbeddingTable other, long own, SplittableRandom random, int step) {
    // In some steps nobody has no row; in some, each bag has one id and all are distinct.
    boolean single = step % 3 == 0;
    int bags = single ? 4 : 9;
    int[] offsets = new int[bags + 1];
    for (int b = 0; b < bags; b++) {
      offsets[b + 1] = offsets[b] + (single ? 1 : random.nextInt(4));
    }
    long[] ids = new long[offsets[bags]];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = random.nextInt(4) == 0 ? own : EXTREMES[random.nextInt(EXTREMES.length)];
    }
    if (single) {
      ids = new long[] {Long.MIN_VALUE, own, -1, Long.MAX_VALUE};
    } else if (step % 3 == 1) {
      Arrays.fill(ids, own);
    }
    long[] merged = Arrays.stream(ids).map(id -> id == own ? own : 0).toArray();
    Combiner combiner = Combiner.values()[step % Combiner.values().length];
    float[] gradients = new float[bags * WIDTH];
    float[] weights = new float[ids.length];
    for (int i = 0; i < gradients.length; i++) {
      gradients[i] = random.nextFloat(-1, 1);
    }
    for (int i = 0; i < weights.length; i++) {
      weights[i] = random.nextFloat(0.1f, 2);
    }
    try (Floats grad = Floats.of(allocator, gradients);
        Floats pooled = new Floats(allocator, gradients.length);
        Floats expected = new Floats(allocator, gradients.length)) {
      Lookup lookup = found(table, ids);
      Lookup plain = found(other, merged);
      ByAddress.pool(table, lookup, offsets, 0, bags, combiner, pooled.address, WIDTH);
      ByAddress.pool(other, plain, offsets, 0, bags, combiner, expected.address, WIDTH);
      assertThat(pooled.toArray()).isEqualTo(expected.toArray());
      if (step % 2 == 0) {
        ByAddress.apply(table, lookup, offsets, bags, combiner, grad.address, WIDTH, 0.5f, step);
        ByAddress.apply(other, plain, offsets, bags, combiner, grad.address, WIDTH, 0.5f, step);
      } else {
        ByAddress.apply(
            table, lookup, offsets, weights, bags, combiner, grad.address, WIDTH, 0.5f, step);
        ByAddress.apply(
            other, plain, offsets, weights, bags, combiner, grad.address, WIDTH, 0.5f, step);
      }
    }
  }

  private static List<byte[]> stored(EmbeddingTable table, long id) {
    ByteArrayOutputStream weights = new ByteArrayOutputStream();
    ByteArrayOutputStream state = new ByteArrayOutputStream();
    table.exportBlocks(block -> {
      for (int i = 0; i < block.count(); i++) {
        if (block.ids()[i] == id) {
          weights.writeBytes(part(block.weights(), i, block.count()));
          state.writeBytes(part(block.state(), i, block.count()));
        }
      }
    });
    return List.of(weights.toByteArray(), state.toByteArray());
  }

  private static byte[] part(MemorySegment column, int row, int rows) {
    long bytes = column.byteSize() / rows;
    return column.asSlice(row * bytes, bytes).toArray(ValueLayout.JAVA_BYTE);
  }

  private static List<String> hex(List<byte[]> blocks) {
    return blocks.stream().map(HexFormat.of()::formatHex).toList();
  }

  @Test
  void bucketsBeginApartFromEachOtherAndFromIdsAndTheirNumbersAreNoIds() {
    TableConfig config = config(500, ONE_ROW);
    long[] numbers = LongStream.range(0, 500).toArray();
    Map<Long, float[]> ids = initialRows(numbers, config);
    try (EmbeddingTable table = table(config)) {
      Set<List<Float>> rows = new HashSet<>();
      for (int b = 0; b < 500; b++) {
        float[] row = bucket(table, b);
        assertThat(row).isNotEqualTo(ids.get((long) b));
        rows.add(List.of(row[0], row[1], row[2]));
        for (float weight : row) {
          assertThat(weight).isBetween(-0.5f, 0.5f).isNotZero();
        }
      }
      assertThat(rows).hasSize(500);
      found(table, 3);
      assertThat(read(table, 3)).isEqualTo(ids.get(3L));
      assertThat(table.size()).isOne();
      assertThat(table.statistics().rows()).isOne();
      table.exportTo((exported, _, count) -> {
        assertThat(count).isOne();
        assertThat(exported[0]).isEqualTo(3);
      });
      SoundTable.require(table.rows);
    }
  }

  /** Ids of different buckets of 1000. */
  private static final long[] APART = {11, 12, 13, 14};

  @Test
  void whoReadARowThatWentTrainsNothingAndWhoReadABucketTrainsIt() {
    RowPolicy two =
        RowPolicy.ALL
            .withMaxRows(2, WhenFull.UNKNOWN)
            .withRoomMadeBy(new Eviction.LeastRecent(), 2);
    assertThat(
            Arrays.stream(APART).mapToInt(id -> PlainBuckets.bucket(id, 1000)).distinct().count())
        .isEqualTo(4);
    TableConfig config = config(1000, two);
    Map<Long, float[]> initial = initialRows(APART, config);
    try (EmbeddingTable table = table(config)) {
      Map<Long, float[]> buckets = new HashMap<>();
      for (long id : APART) {
        buckets.put(id, bucket(table, PlainBuckets.bucket(id, 1000)));
      }
      Lookup early = found(table, 11, 12, 13);
      apply(table, found(table, 11), 0, 1);
      // In the second step, 13 and 14 take the rows of 12 and 11.
      assertThat(found(table, 13, 14).isComplete()).isTrue();
      apply(table, early, 1, 2);
      assertThat(read(table, 13)).isEqualTo(initial.get(13L));
      assertThat(read(table, 14)).isEqualTo(initial.get(14L));
      assertThat(read(table, 11)).isEqualTo(buckets.get(11L));
      assertThat(read(table, 12)).isEqualTo(buckets.get(12L));
      float[] stepped = buckets.get(13L).clone();
      for (int j = 0; j < WIDTH; j++) {
        stepped[j] -= 0.5f;
      }
      assertThat(bucket(table, PlainBuckets.bucket(13, 1000))).isEqualTo(stepped);
      // Whose row went reads as its bucket once it is refreshed.
      table.refresh(early);
      assertThat(Arrays.copyOf(read(table, early), WIDTH)).isEqualTo(buckets.get(11L));
    }
  }

  @Test
  void whoReadARowThatWentTrainsNoBucketInLaterStepsEither() {
    RowPolicy one =
        RowPolicy.ALL
            .withMaxRows(1, WhenFull.UNKNOWN)
            .withRoomMadeBy(new Eviction.LeastRecent(), 1);
    try (EmbeddingTable table = table(config(1000, one))) {
      float[] bucket = bucket(table, PlainBuckets.bucket(11, 1000));
      Lookup early = found(table, 11);
      apply(table, found(table, 11), 0, 1);
      found(table, 12);
      apply(table, early, 1, 2);
      assertThat(read(table, 11)).isEqualTo(bucket);
      found(table, 13);
      apply(table, early, 1, 3);
      assertThat(read(table, 11)).isEqualTo(bucket);
    }
  }

  @Test
  void aRefreshedLookupReadsTheBucketsOfIdsWhoseRowsWent() {
    RowPolicy one =
        RowPolicy.ALL
            .withMaxRows(1, WhenFull.UNKNOWN)
            .withRoomMadeBy(new Eviction.LeastRecent(), 1);
    TableConfig config = config(1000, one);
    try (EmbeddingTable table = table(config)) {
      float[] bucket = bucket(table, PlainBuckets.bucket(11, 1000));
      Lookup early = found(table, 11);
      apply(table, found(table, 11), 0, 1);
      found(table, 12);
      table.refresh(early);
      assertThat(read(table, early)).isEqualTo(bucket);
      // It trains what it read.
      apply(table, early, 1, 2);
      assertThat(read(table, 11)[0]).isEqualTo(bucket[0] - 0.5f);
      table.refresh(early);
      assertThat(read(table, early)[0]).isEqualTo(bucket[0] - 0.5f);
    }
  }

  @Test
  void aLookupOfBucketsIsRefusedAfterTheyChanged() {
    try (EmbeddingTable table = table(config(1, ONE_ROW))) {
      found(table, 77);
      Lookup before = found(table, 1);
      apply(table, found(table, 2), 1, 1);
      assertThatThrownBy(() -> read(table, before))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("its rows changed or moved since");
      table.refresh(before);
      assertThat(read(table, before)).isEqualTo(bucket(table, 0));
    }
  }

  @ParameterizedTest
  @EnumSource(RowFormat.class)
  void idsNeverMetReadAsTheirBucketsWhereNothingIsInserted(RowFormat format) {
    int count = 9000; // several blocks
    TableConfig config = config(count, RowPolicy.ALL).with(o -> o.format(format));
    try (EmbeddingTable trained = table(config(count, ONE_ROW));
        EmbeddingTable table = table(config)) {
      found(trained, 77);
      apply(trained, found(trained, LongStream.range(0, 3000).toArray()), 1, 1);
      table.restoreBuckets(source(buckets(trained)));
      for (long id : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 5, 1L << 40}) {
        float[] exact = read(trained, id);
        float[] got = read(table, id);
        float largest =
            Math.max(Math.max(Math.abs(exact[0]), Math.abs(exact[1])), Math.abs(exact[2]));
        float off = format == RowFormat.INT8 ? largest / 127 * 0.51f : 0;
        for (int j = 0; j < WIDTH; j++) {
          assertThat(got[j]).isBetween(exact[j] - off, exact[j] + off).isNotZero();
        }
      }
      assertThat(table.size()).isZero();
      if (format == RowFormat.STORED) {
        assertThat(hex(buckets(table))).isEqualTo(hex(buckets(trained)));
      }
    }
  }

  @Test
  void bucketsThatDoNotFitAreRefused() {
    try (EmbeddingTable table = table(config(5, ONE_ROW));
        EmbeddingTable fewer = table(config(4, ONE_ROW));
        EmbeddingTable none =
            table(config(UnknownRow.ZEROS, Optimizer.sgd(1), DType.F32, RowPolicy.ALL))) {
      Consumer<EmbeddingTable> restore = other -> table.restoreBuckets(source(buckets(other)));
      assertThatThrownBy(() -> restore.accept(fewer))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "table t: got other bucket rows than it has, expected 5; the source is damaged");
      assertThatThrownBy(() -> fewer.restoreBuckets(source(buckets(table))))
          .hasMessageContaining("expected 4; the source is damaged");
      assertThatThrownBy(() -> none.restoreBuckets(source(buckets(table))))
          .hasMessageContaining("expected 0; the source is damaged");
      found(table, 1);
      assertThatThrownBy(() -> restore.accept(table))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("got an import into 1 rows, expected an empty table");
    }
    for (int count : new int[] {0, -1, UnknownRow.Hashed.MOST + 1}) {
      assertThatThrownBy(() -> new UnknownRow.Hashed(count))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("unknown row: got %d buckets, expected 1 to 1048576".formatted(count));
    }
  }

  @Test
  void aTableWithoutMemoryForItsBucketsHoldsNone() {
    try (Allocator small = Allocator.of(1L << 20)) {
      assertThatThrownBy(
              () -> EmbeddingTable.create(config(UnknownRow.Hashed.MOST, ONE_ROW), small))
          .isInstanceOf(OutOfBudgetException.class);
      assertThat(small.live()).isZero();
    }
  }

  @Test
  void aSnapshotOfAnEmptyTableKeepsTheBucketsThatARestoreChanges() {
    try (EmbeddingTable trained = table(config(5, ONE_ROW));
        EmbeddingTable table = table(config(5, ONE_ROW))) {
      found(trained, 77);
      apply(trained, found(trained, 1, 2, 3), 1, 1);
      List<String> first = hex(buckets(table));
      List<byte[]> seen = new ArrayList<>();
      try (TableSnapshot snapshot = table.snapshot()) {
        table.restoreBuckets(source(buckets(trained)));
        snapshot.exportBuckets(block -> {
          seen.add(block.weights().toArray(ValueLayout.JAVA_BYTE));
          seen.add(block.state().toArray(ValueLayout.JAVA_BYTE));
        });
      }
      assertThat(hex(seen)).isEqualTo(first);
      assertThat(hex(buckets(table))).isEqualTo(hex(buckets(trained))).isNotEqualTo(first);
    }
  }

  /** With one, the constants were null in a process that loads the enum behind them first. */
  @Test
  void whatUnknownIdsReadAsHasNoDefaultMethod() {
    assertThat(UnknownRow.class.getMethods()).noneMatch(Method::isDefault);
    assertThat(UnknownRow.ZEROS).isSameAs(UnknownRow.Derived.ZEROS);
  }
}
