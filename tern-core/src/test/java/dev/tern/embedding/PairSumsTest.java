package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowParts;
import dev.tern.optim.Optimizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums of pairs within bags, and their gradients, beside a plain loop over all pairs. */
final class PairSumsTest {
  private static final int BAGS = 60;
  private static final int IDS = 200;

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void nothingIsLeft() {
    assertThat(allocator.live()).isZero();
  }

  private static TableConfig config(int width, DType storage, UnknownRow unknown) {
    return new TableConfig(
        "t",
        0,
        width,
        3,
        TableOptions.of(Optimizer.sgd(1)).initRange(0.5f).unknown(unknown).storage(storage));
  }

  /** Bags of 0 to 40 ids, some twice in a bag; weights are 0, below 0 and above. */
  private static final class Rows {
    final int[] offsets = new int[BAGS + 1];
    final long[] ids;
    final float[] weights;
    final PooledBags bags;

    Rows(int seed, int most, boolean weighted, Combiner combiner) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int b = 0; b < BAGS; b++) {
        int count = b % 7 == 0 ? 0 : random.nextInt(random.nextInt(most) + 1) + 1;
        offsets[b + 1] = offsets[b] + count;
      }
      ids = random.longs(offsets[BAGS], 0, IDS).toArray();
      weights = weighted ? new float[ids.length] : PooledBags.UNWEIGHTED;
      for (int i = 0; i < weights.length; i++) {
        weights[i] = i % 11 == 0 ? 0 : (float) random.nextDouble(-0.5, 2);
      }
      bags = new PooledBags(combiner).set(offsets, weights, BAGS);
    }

    double factor(int bag, int position) {
      return bags.factor(bags.scale(bag), position);
    }

    /** The sum over all pairs of a bag, from rows of all positions. */
    double pairs(int bag, double[][] rows) {
      double sum = 0;
      for (int i = offsets[bag]; i < offsets[bag + 1]; i++) {
        for (int k = offsets[bag]; k < i; k++) {
          for (int j = 0; j < rows[i].length; j++) {
            sum += factor(bag, i) * rows[i][j] * factor(bag, k) * rows[k][j];
          }
        }
      }
      return sum;
    }
  }

  /** The last {@code width} weights of the row of every position. */
  private double[][] rows(EmbeddingTable table, Lookup lookup, int width) {
    int all = table.config().width();
    try (Floats out = new Floats(allocator, lookup.count() * all)) {
      ByAddress.ragged(table, lookup, out.address);
      double[][] rows = new double[lookup.count()][width];
      for (int i = 0; i < rows.length; i++) {
        for (int j = 0; j < width; j++) {
          rows[i][j] = out.get(i * all + all - width + j);
        }
      }
      return rows;
    }
  }

  /** Memory for a linear weight and a vector a bag, for gradients of these, and for pair sums. */
  private final class Places implements AutoCloseable {
    final int width;
    final Floats first = new Floats(allocator, BAGS);
    final Floats vectors;
    final Floats pairs = new Floats(allocator, BAGS);
    final Floats firstGradients = new Floats(allocator, BAGS);
    final Floats vectorGradients;
    final Floats pairGradients = new Floats(allocator, BAGS);

    Places(int width) {
      this.width = width;
      vectors = new Floats(allocator, BAGS * width);
      vectorGradients = new Floats(allocator, BAGS * width);
    }

    RowParts pooled() {
      return parts(first, vectors, pairs);
    }

    RowParts gradients() {
      return parts(firstGradients, vectorGradients, pairGradients);
    }

    private RowParts parts(Floats part, Floats vector, Floats sums) {
      RowParts parts = new RowParts(List.of(1, width));
      parts.set(0, part.address, 1);
      parts.set(1, vector.address, width);
      parts.setPairs(sums.address, 1);
      parts.setPooled(vectors.address, width);
      return parts;
    }

    @Override
    public void close() {
      List.of(first, vectors, pairs, firstGradients, vectorGradients, pairGradients)
          .forEach(Floats::close);
    }
  }

  static List<UnknownRow> unknown() {
    return List.of(UnknownRow.ZEROS, UnknownRow.INITIAL, UnknownRow.MEAN, new UnknownRow.Hashed(7));
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void sumsAreThoseOfAPlainLoopOverPairs(Combiner combiner) {
    for (DType storage : new DType[] {DType.F32, DType.F16, DType.BF16}) {
      for (UnknownRow unknown : unknown()) {
        for (int width : new int[] {1, 5, 8, 16, 19}) {
          for (boolean weighted : new boolean[] {false, true}) {
            try (EmbeddingTable table =
                EmbeddingTable.create(config(1 + width, storage, unknown), allocator)) {
              table.find(LongStream.range(0, IDS / 2).toArray(), IDS / 2, new Lookup(), true);
              requireSums(table, new Rows(width, 40, weighted, combiner));
            }
          }
        }
      }
    }
  }

  private void requireSums(EmbeddingTable table, Rows rows) {
    int width = table.config().width() - 1;
    Lookup lookup = new Lookup();
    table.find(rows.ids, rows.ids.length, lookup, false);
    double[][] weights = rows(table, lookup, width);
    try (Places places = new Places(width)) {
      table.pool(lookup.found, rows.bags, 0, BAGS, places.pooled());
      for (int b = 0; b < BAGS; b++) {
        double expected = rows.pairs(b, weights);
        assertThat((double) places.pairs.get(b))
            .as("bag %d of %s", b, table.config())
            .isCloseTo(expected, within(1e-4 + 1e-4 * Math.abs(expected)));
        if (rows.offsets[b + 1] - rows.offsets[b] < 2) {
          assertThat(places.pairs.get(b)).isZero();
        }
      }
    }
  }

  @Test
  void rowsOfEightBitsPairAsTheyAreRead() {
    for (int width : new int[] {3, 8, 17}) {
      try (EmbeddingTable table =
              EmbeddingTable.create(config(1 + width, DType.F32, UnknownRow.ZEROS), allocator);
          EmbeddingTable narrow =
              EmbeddingTable.create(
                  table.config().with(o -> o.format(RowFormat.INT8)), allocator)) {
        table.find(LongStream.range(0, IDS).toArray(), IDS, new Lookup(), true);
        copy(table, narrow);
        requireSums(narrow, new Rows(width, 40, true, Combiner.SUM));
      }
    }
  }

  private static void copy(EmbeddingTable table, EmbeddingTable narrow) {
    List<Runnable> none = new ArrayList<>();
    table.exportBlocks(block -> {
      long[] ids = Arrays.copyOf(block.ids(), block.count());
      byte[] weights = block.weights().toArray(ValueLayout.JAVA_BYTE);
      narrow.importBlocks(
          IDS,
          into -> {
            if (!none.isEmpty()) {
              return false;
            }
            none.add(() -> {});
            System.arraycopy(ids, 0, into.ids(), 0, ids.length);
            into.setCount(ids.length);
            into.weights().copyFrom(MemorySegment.ofArray(weights));
            return true;
          });
    });
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void gradientsAreThoseOfFiniteDifferences(Combiner combiner) {
    for (DType storage : new DType[] {DType.F32, DType.F16, DType.BF16}) {
      for (int width : new int[] {3, 8, 19}) {
        for (boolean weighted : new boolean[] {false, true}) {
          requireGradients(storage, new Rows(width, 12, weighted, combiner), width);
        }
      }
    }
  }

  private void requireGradients(DType storage, Rows rows, int width) {
    SplittableRandom random = new SplittableRandom(5);
    double[] scales = random.doubles(BAGS, -1, 1).toArray();
    try (EmbeddingTable table =
            EmbeddingTable.create(config(1 + width, storage, UnknownRow.ZEROS), allocator);
        Places places = new Places(width)) {
      Lookup lookup = new Lookup();
      table.find(rows.ids, rows.ids.length, lookup, true);
      double[][] before = rows(table, lookup, width);
      table.pool(lookup.found, rows.bags, 0, BAGS, places.pooled());
      for (int b = 0; b < BAGS; b++) {
        places.firstGradients.set(b, 0);
        places.pairGradients.set(b, (float) scales[b]);
        for (int j = 0; j < width; j++) {
          places.vectorGradients.set(b * width + j, 0);
        }
      }
      table.apply(lookup.found, rows.bags, places.gradients(), 1, 1);
      table.find(rows.ids, rows.ids.length, lookup, false);
      double[][] after = rows(table, lookup, width);
      for (int i = 0; i < rows.ids.length; i += 7) {
        int j = i % width;
        double slope = slope(rows, before, scales, rows.ids[i], j);
        double rounding = storage == DType.F32 ? 1e-4 : 0.02 * Math.max(1, Math.abs(slope));
        assertThat(before[i][j] - after[i][j])
            .as("%s, width %d, position %d", storage, width, i)
            .isCloseTo(slope, within(rounding));
      }
    }
  }

  /** The slope of the scaled sums by one weight, from two points; they are quadratic. */
  private static double slope(Rows rows, double[][] at, double[] scales, long id, int column) {
    double difference = 0;
    for (double step : new double[] {0.5, -0.5}) {
      double[][] moved = Arrays.stream(at).map(double[]::clone).toArray(double[][]::new);
      for (int i = 0; i < moved.length; i++) {
        moved[i][column] += rows.ids[i] == id ? step : 0;
      }
      for (int b = 0; b < BAGS; b++) {
        difference += Math.signum(step) * scales[b] * rows.pairs(b, moved);
      }
    }
    return difference;
  }

  /** Bits of all weights after a step on bags of one id or none. */
  private List<Integer> single(boolean paired, DType storage, UnknownRow unknown) {
    int width = 11;
    SplittableRandom random = new SplittableRandom(9);
    try (EmbeddingTable table =
            EmbeddingTable.create(config(1 + width, storage, unknown), allocator);
        Places places = new Places(width)) {
      Rows rows = new Rows(4, 1, false, Combiner.MEAN);
      Lookup lookup = new Lookup();
      table.find(rows.ids, rows.ids.length, lookup, true);
      RowParts pooled = places.pooled();
      table.pool(lookup.found, rows.bags, 0, BAGS, pooled);
      for (int b = 0; b < BAGS; b++) {
        assertThat(places.pairs.get(b)).isZero();
        places.firstGradients.set(b, (float) random.nextGaussian());
        places.pairGradients.set(b, (float) random.nextGaussian());
        for (int j = 0; j < width; j++) {
          places.vectorGradients.set(b * width + j, (float) random.nextGaussian());
        }
      }
      RowParts gradients = new RowParts(List.of(1, width));
      gradients.set(0, places.firstGradients.address, 1);
      gradients.set(1, places.vectorGradients.address, width);
      table.apply(lookup.found, rows.bags, paired ? places.gradients() : gradients, 0.1f, 1);
      List<Integer> bits = new ArrayList<>();
      table.exportTo((ids, segment, count) -> {
        for (int i = 0; i < count * table.config().rowFloats(); i++) {
          bits.add(Memory.getInt(segment.address() + 4L * i));
        }
      });
      return bits;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"F32", "F16", "BF16"})
  void bagsOfOneIdHaveNoPairsAndTakeTheStepsOfBefore(DType storage) {
    for (UnknownRow unknown : unknown()) {
      assertThat(single(true, storage, unknown))
          .isEqualTo(single(false, storage, unknown))
          .isNotEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void slotsOfSharedTablesHaveTheirOwnSums(int threads) {
    List<Slot> slots =
        List.of(Slot.weighted("a"), Slot.ragged("b"), Slot.ragged("c").withTable("a"));
    Batch batch = new Batch(new Schema(List.of(), List.of(), slots), 1);
    SplittableRandom random = new SplittableRandom(1);
    int rows = 50;
    for (int b = 0; b < rows; b++) {
      for (int s = 0; s < 3; s++) {
        for (int k = random.nextInt(4); k > 0; k--) {
          if (s == 0) {
            batch.addId(s, random.nextInt(20), random.nextInt(-2, 3) / 2f);
          } else {
            batch.addId(s, random.nextInt(20));
          }
        }
      }
      batch.endRow();
    }
    TableConfig config = config(9, DType.F32, UnknownRow.ZEROS);
    try (EmbeddingTable shared = EmbeddingTable.create(config, allocator);
        EmbeddingTable other = EmbeddingTable.create(config, allocator);
        Workers workers = Workers.of(threads);
        BatchLookup lookup =
            new SlotTables(List.of(shared, other), List.of(0, 1, 0), Combiner.SUM)
                .newPairLookup(List.of(1, 8));
        Floats first = new Floats(allocator, rows * 3);
        Floats vectors = new Floats(allocator, rows * 3 * 8);
        Floats pairs = new Floats(allocator, rows * 3);
        Floats zeros = Floats.of(allocator, new float[rows * 3 * 8])) {
      lookup.find(workers, batch, true, segments(first, vectors, pairs));
      for (int s = 0; s < 3; s++) {
        double[][] at = weights(s == 1 ? other : shared, batch, s);
        for (int b = 0; b < rows; b++) {
          int from = batch.offsets(s)[b];
          int to = batch.offsets(s)[b + 1];
          double expected = 0;
          double pooled = 0;
          for (int i = from; i < to; i++) {
            double[] x = at[i];
            float w = s == 0 ? batch.weights(s)[i] : 1;
            pooled += w * x[0];
            for (int k = from; k < i; k++) {
              double[] y = at[k];
              double dot = IntStream.range(0, 8).mapToDouble(j -> x[j] * y[j]).sum();
              expected += w * (s == 0 ? batch.weights(s)[k] : 1) * dot;
            }
          }
          assertThat((double) pairs.get(b * 3 + s)).isCloseTo(expected, within(1e-5));
          assertThat((double) vectors.get((b * 3 + s) * 8)).isCloseTo(pooled, within(1e-5));
        }
      }
      requireStep(lookup, workers, batch, List.of(shared, other), first, vectors, zeros);
    }
  }

  /** A step with a gradient for the sum of slot 2 in row 1 alone, where it has the ids 3 and 4. */
  private void requireStep(
      BatchLookup lookup,
      Workers workers,
      Batch batch,
      List<EmbeddingTable> tables,
      Floats first,
      Floats vectors,
      Floats zeros) {
    batch.clear();
    for (long id : new long[] {3, 4}) {
      batch.addId(0, id);
    }
    batch.endRow();
    for (long id : new long[] {3, 4}) {
      batch.addId(2, id);
    }
    batch.endRow();
    try (Floats gradients = Floats.of(allocator, 0, 0, 0, 0, 0, 1);
        Floats pairs = new Floats(allocator, 6)) {
      lookup.find(workers, batch, true, segments(first, vectors, pairs));
      double[][] before = weights(tables.getFirst(), batch, 2);
      lookup.apply(workers, segments(zeros, zeros, gradients), 1, 1);
      double[][] after = weights(tables.getFirst(), batch, 2);
      for (int j = 0; j < 8; j++) {
        assertThat(before[0][j] - after[0][j]).isCloseTo(before[1][j], within(1e-6));
        assertThat(before[1][j] - after[1][j]).isCloseTo(before[0][j], within(1e-6));
      }
    }
  }

  private double[][] weights(EmbeddingTable table, Batch batch, int slot) {
    Lookup lookup = new Lookup();
    table.find(batch.ids(slot), batch.idCount(slot), lookup, false);
    return rows(table, lookup, 8);
  }

  private static List<MemorySegment> segments(Floats... blocks) {
    return Arrays.stream(blocks)
        .map(block -> MemorySegment.ofAddress(block.address).reinterpret(4L * block.length))
        .toList();
  }
}
