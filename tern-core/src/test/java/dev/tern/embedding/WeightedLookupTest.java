package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Positions with weights beside the formulas of TensorFlow's embedding_lookup_sparse. */
final class WeightedLookupTest {
  private static final int BAGS = 90;

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void nothingIsLeft() {
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(int width, UnknownRow unknown, DType storage) {
    return EmbeddingTable.create(
        new TableConfig(
            "t",
            0,
            width,
            3,
            TableOptions.of(Optimizer.sgd(1)).initRange(0.5f).unknown(unknown).storage(storage)),
        allocator);
  }

  /** Bags of 0 to 4 ids below 50, some ids twice in a bag; weights are 0, below 0 and above. */
  private static final class Batch {
    final int[] offsets = new int[BAGS + 1];
    final long[] ids;
    final float[] weights;

    Batch(int seed, boolean single) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int b = 0; b < BAGS; b++) {
        offsets[b + 1] = offsets[b] + (single ? 1 : b % 5);
      }
      ids = random.longs(offsets[BAGS], 0, 50).toArray();
      weights = new float[ids.length];
      for (int i = 0; i < ids.length; i++) {
        weights[i] = i % 11 == 0 ? 0 : (float) random.nextDouble(-0.5, 2);
      }
    }

    /** By what the row at a position is multiplied. */
    double factor(int bag, int position, Combiner combiner) {
      double sum = 0;
      double squares = 0;
      for (int i = offsets[bag]; i < offsets[bag + 1]; i++) {
        sum += weights[i];
        squares += weights[i] * (double) weights[i];
      }
      double divisor =
          switch (combiner) {
            case SUM -> 1;
            case MEAN -> sum;
            case SQRTN -> Math.sqrt(squares);
          };
      return weights[position] / (divisor == 0 ? 1 : divisor);
    }
  }

  private float[] rows(EmbeddingTable table, Lookup lookup) {
    try (Floats out = new Floats(allocator, lookup.count() * table.config().width())) {
      table.ragged(lookup, out.address);
      return out.toArray();
    }
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void bagsAreSumsOfWeightedRows(Combiner combiner) {
    for (DType storage : new DType[] {DType.F32, DType.F16, DType.BF16}) {
      for (UnknownRow unknown : new UnknownRow[] {UnknownRow.ZEROS, UnknownRow.INITIAL}) {
        for (int width : new int[] {1, 7, 8, 16, 19}) {
          for (boolean single : new boolean[] {false, true}) {
            poolsLikeTheFormula(combiner, storage, unknown, width, single);
          }
        }
      }
    }
  }

  private void poolsLikeTheFormula(
      Combiner combiner, DType storage, UnknownRow unknown, int width, boolean single) {
    Batch batch = new Batch(width, single);
    Lookup lookup = new Lookup();
    try (EmbeddingTable table = table(width, unknown, storage);
        Floats out = new Floats(allocator, BAGS * width)) {
      // About half of the ids have rows.
      table.find(IntStream.range(0, 25).asLongStream().toArray(), 25, lookup, true);
      table.find(batch.ids, batch.ids.length, lookup, false);
      float[] rows = rows(table, lookup);
      table.pool(lookup, batch.offsets, batch.weights, 0, 40, combiner, out.address, width);
      table.pool(lookup, batch.offsets, batch.weights, 40, BAGS, combiner, out.address, width);
      for (int b = 0; b < BAGS; b++) {
        for (int j = 0; j < width; j++) {
          double sum = 0;
          double size = 1e-2;
          for (int i = batch.offsets[b]; i < batch.offsets[b + 1]; i++) {
            double term = batch.factor(b, i, combiner) * rows[i * width + j];
            sum += term;
            size += Math.abs(term);
          }
          assertThat((double) out.get(b * width + j))
              .as("%s %s, width %d, bag %d column %d", storage, unknown, width, b, j)
              .isCloseTo(sum, within(1e-6 * size));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Combiner.class)
  void gradientsHaveTheFactorsOfTheirRows(Combiner combiner) {
    int width = 19;
    for (boolean single : new boolean[] {false, true}) {
      Batch batch = new Batch(1, single);
      Lookup lookup = new Lookup();
      try (EmbeddingTable table = table(width, UnknownRow.ZEROS, DType.F32);
          Floats grad = new Floats(allocator, BAGS * width)) {
        for (int i = 0; i < grad.length; i++) {
          grad.set(i, i % 23 - 11);
        }
        table.find(batch.ids, batch.ids.length, lookup, true);
        float[] before = rows(table, lookup);
        table.apply(
            lookup, batch.offsets, batch.weights, BAGS, combiner, grad.address, width, 0.5f, 1);
        table.refresh(lookup);
        float[] after = rows(table, lookup);
        for (int at = 0; at < batch.ids.length; at++) {
          for (int j = 0; j < width; j++) {
            double sum = 0;
            double size = 1;
            for (int b = 0; b < BAGS; b++) {
              for (int i = batch.offsets[b]; i < batch.offsets[b + 1]; i++) {
                if (batch.ids[i] == batch.ids[at]) {
                  double term = batch.factor(b, i, combiner) * grad.get(b * width + j);
                  sum += term;
                  size += Math.abs(term);
                }
              }
            }
            assertThat((double) after[at * width + j])
                .as("position %d column %d", at, j)
                .isCloseTo(before[at * width + j] - 0.5 * sum, within(1e-6 * size));
          }
        }
      }
    }
  }

  @Test
  void weightsOfOneGiveTheBitsOfNoWeightsAndFoundRowsMayBePooledAtOnce() {
    Batch batch = new Batch(5, false);
    float[] ones = new float[batch.ids.length];
    Arrays.fill(ones, 1);
    Lookup lookup = new Lookup();
    try (EmbeddingTable table = table(19, UnknownRow.INITIAL, DType.F32);
        Floats plain = new Floats(allocator, BAGS * 19);
        Floats weighted = new Floats(allocator, BAGS * 19)) {
      table.find(batch.ids, batch.ids.length, lookup, true);
      for (Combiner combiner : Combiner.values()) {
        table.pool(lookup, batch.offsets, 0, BAGS, combiner, plain.address, 19);
        table.pool(lookup, batch.offsets, ones, 0, BAGS, combiner, weighted.address, 19);
        assertThat(weighted.toArray()).isEqualTo(plain.toArray());
      }
      table.pool(lookup, batch.offsets, batch.weights, 0, BAGS, Combiner.MEAN, plain.address, 19);
      table.findAndPool(
          batch.ids,
          batch.ids.length,
          new Lookup(),
          false,
          batch.offsets,
          batch.weights,
          BAGS,
          Combiner.MEAN,
          weighted.address,
          19);
      assertThat(weighted.toArray()).isEqualTo(plain.toArray());
    }
  }

  @Test
  void weightsThatAddUpToZeroAreNotDivided() {
    Lookup lookup = new Lookup();
    try (EmbeddingTable table = table(1, UnknownRow.ZEROS, DType.F32);
        Floats out = new Floats(allocator, 1)) {
      table.find(new long[] {1, 2}, 2, lookup, true);
      float[] rows = rows(table, lookup);
      int[] offsets = {0, 2};
      table.pool(lookup, offsets, new float[] {2, -2}, 0, 1, Combiner.MEAN, out.address, 1);
      assertThat(out.get(0)).isEqualTo(2 * rows[0] - 2 * rows[1]);
      table.pool(lookup, offsets, new float[2], 0, 1, Combiner.SQRTN, out.address, 1);
      assertThat(out.get(0)).isZero();
    }
  }

  @Test
  void aWeightForEachPositionIsNeeded() {
    Lookup lookup = new Lookup();
    int[] offsets = {0, 2};
    try (EmbeddingTable table = table(1, UnknownRow.ZEROS, DType.F32)) {
      table.find(new long[] {1, 2}, 2, lookup, true);
      assertThatThrownBy(() -> table.pool(lookup, offsets, new float[1], 0, 1, Combiner.SUM, 0, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("table t: got 1 weights for 2 ids, expected one for each");
      assertThatThrownBy(
              () -> table.apply(lookup, offsets, new float[0], 1, Combiner.SUM, 0, 1, 1, 1))
          .hasMessage("table t: got 0 weights for 2 ids, expected one for each");
    }
  }
}
