package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.kernel.Halves;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.MatrixBlock;
import dev.tern.internal.table.rows.PooledBags;
import dev.tern.internal.table.rows.RowParts;
import dev.tern.internal.table.rows.StoredWeights;
import dev.tern.optim.Optimizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clipped gradients and bounded weights of rows beside plain arithmetic. */
final class RowLimitsTest {
  private static final int BAGS = 150;

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void nothingIsLeft() {
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(
      int width, Optimizer optimizer, float l2, DType storage, RowLimits limits) {
    TableConfig config =
        new TableConfig(
            "t", 0, width, 3, TableOptions.of(optimizer).initRange(0.5f).l2(l2).storage(storage));
    return EmbeddingTable.create(config.with(o -> o.limits(limits)), allocator);
  }

  private float[] rows(EmbeddingTable table, Lookup lookup) {
    try (Floats out = new Floats(allocator, lookup.count() * table.config().width())) {
      table.refresh(lookup);
      ByAddress.ragged(table, lookup, out.address);
      return out.toArray();
    }
  }

  private static int[] oneHot(int count) {
    int[] offsets = new int[count + 1];
    for (int b = 0; b < count; b++) {
      offsets[b + 1] = b + 1;
    }
    return offsets;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 16, 19})
  void theSumOfARowsGradientsIsClippedBeforeL2(int width) {
    for (int range : new int[] {40, Integer.MAX_VALUE}) {
      for (List<Integer> widths : List.of(List.of(width), List.of(width / 2 + 1, width / 2))) {
        if (widths.stream().mapToInt(Integer::intValue).sum() == width && !widths.contains(0)) {
          clipsLikeTheFormula(width, range, widths);
        }
      }
    }
  }

  /**
   * @param range ids are below it: many twice, or all distinct
   */
  private void clipsLikeTheFormula(int width, int range, List<Integer> widths) {
    float norm = 1.5f;
    float l2 = 0.1f;
    SplittableRandom random = new SplittableRandom(width);
    long[] ids = random.ints(BAGS, 0, range).asLongStream().toArray();
    Map<Long, double[]> sums = new HashMap<>();
    Lookup lookup = new Lookup();
    try (EmbeddingTable table =
            table(width, Optimizer.sgd(1), l2, DType.F32, RowLimits.NONE.withClipNorm(norm));
        Floats grad = new Floats(allocator, BAGS * width)) {
      RowParts parts = new RowParts(widths);
      for (int p = 0; p < widths.size(); p++) {
        int begin = parts.part(p, 0, 0).begin;
        parts.set(p, grad.address + 4L * BAGS * begin, widths.get(p));
      }
      for (int b = 0; b < BAGS; b++) {
        double[] sum = sums.computeIfAbsent(ids[b], _ -> new double[width]);
        for (int p = 0; p < widths.size(); p++) {
          MatrixBlock part = parts.part(p, b, b + 1);
          for (int j = part.begin; j < part.end; j++) {
            // Norms from far below to far above the limit.
            float g = (float) (random.nextGaussian() * (b % 7) / 3);
            Memory.setFloat(part.base + b * part.stride + 4L * j, g);
            sum[j] += g;
          }
        }
      }
      float[] given = grad.toArray();
      table.find(ids, BAGS, lookup, true);
      float[] before = rows(table, lookup);
      PooledBags bags = PooledBags.of(oneHot(BAGS), BAGS, Combiner.SUM);
      table.apply(lookup.found, bags, parts, 0.5f, 1);
      float[] after = rows(table, lookup);
      assertThat(grad.toArray()).isEqualTo(given);
      for (int i = 0; i < BAGS; i++) {
        double squares = 0;
        for (double g : sums.get(ids[i])) {
          squares += g * g;
        }
        double factor = Math.min(1, norm / Math.sqrt(squares));
        for (int j = 0; j < width; j++) {
          double w = before[i * width + j];
          double expected = w - 0.5 * (factor * sums.get(ids[i])[j] + l2 * w);
          assertThat((double) after[i * width + j])
              .as("width %d in %s, id %d column %d", width, widths, ids[i], j)
              .isCloseTo(expected, within(1e-5));
        }
      }
    }
  }

  /** In three steps, so that the gradients of earlier ones are in the state of the last. */
  @ParameterizedTest
  @MethodSource("dev.tern.embedding.RowUpdatesTest#optimizers")
  void everyOptimizerStepsByTheClippedGradientAndKeepsItInItsState(Optimizer optimizer) {
    float norm = 0.5f;
    for (int width : new int[] {1, 8, 19}) {
      SplittableRandom random = new SplittableRandom(width);
      long[] ids = new SplittableRandom(3).longs(BAGS).toArray();
      RowLimits limits = RowLimits.NONE.withClipNorm(norm);
      Lookup lookup = new Lookup();
      Lookup same = new Lookup();
      try (EmbeddingTable table = table(width, optimizer, 0.1f, DType.F32, limits);
          EmbeddingTable plain = table(width, optimizer, 0.1f, DType.F32, RowLimits.NONE);
          Floats grad = new Floats(allocator, BAGS * width);
          Floats clipped = new Floats(allocator, BAGS * width)) {
        for (int step = 1; step <= 3; step++) {
          for (int b = 0; b < BAGS; b++) {
            double squares = 0;
            for (int j = 0; j < width; j++) {
              // Norms from below to above the limit, with another factor in each step.
              float g = (float) (random.nextGaussian() * (1 + (b + step) % 5) / 4);
              grad.set(b * width + j, g);
              squares += (double) g * g;
            }
            double factor = Math.min(1, norm / Math.sqrt(squares));
            for (int j = 0; j < width; j++) {
              clipped.set(b * width + j, (float) (factor * grad.get(b * width + j)));
            }
          }
          table.find(ids, BAGS, lookup, true);
          plain.find(ids, BAGS, same, true);
          ByAddress.apply(
              table, lookup, oneHot(BAGS), BAGS, Combiner.SUM, grad.address, width, 0.1f, step);
          ByAddress.apply(
              plain, same, oneHot(BAGS), BAGS, Combiner.SUM, clipped.address, width, 0.1f, step);
        }
        requireClose(exported(table), exported(plain), optimizer);
      }
    }
  }

  /** All that rows hold, in order of id. */
  private static List<Float> exported(EmbeddingTable table) {
    List<Float> all = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((_, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count * floats; i++) {
        all.add(Memory.getFloat(values + 4L * i));
      }
    });
    return all;
  }

  private static void requireClose(List<Float> got, List<Float> expected, Optimizer optimizer) {
    assertThat(got).hasSameSizeAs(expected);
    for (int i = 0; i < got.size(); i++) {
      float other = expected.get(i);
      assertThat(got.get(i))
          .as("%s, float %d", optimizer, i)
          .isCloseTo(other, within(1e-5f + 1e-4f * Math.abs(other)));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "F16", "BF16"})
  void weightsAreClampedAfterAnUpdate(DType storage) {
    // Neither bound is a number of two bytes.
    float low = -0.1f;
    float high = 0.3f;
    RowLimits limits = RowLimits.NONE.withBounds(low, high);
    for (Optimizer optimizer : RowUpdatesTest.optimizers().toList()) {
      for (int width : new int[] {1, 8, 19}) {
        SplittableRandom random = new SplittableRandom(width);
        long[] ids = random.ints(BAGS, 0, 100).asLongStream().toArray();
        Lookup bounded = new Lookup();
        Lookup free = new Lookup();
        try (EmbeddingTable table = table(width, optimizer, 0, storage, limits);
            EmbeddingTable other = table(width, optimizer, 0, storage, RowLimits.NONE);
            Floats grad = new Floats(allocator, BAGS * width)) {
          for (int i = 0; i < grad.length; i++) {
            grad.set(i, (float) random.nextGaussian());
          }
          table.find(ids, BAGS, bounded, true);
          other.find(ids, BAGS, free, true);
          int[] offsets = oneHot(BAGS);
          ByAddress.apply(
              table, bounded, offsets, BAGS, Combiner.SUM, grad.address, width, 0.3f, 1);
          ByAddress.apply(other, free, offsets, BAGS, Combiner.SUM, grad.address, width, 0.3f, 1);
          float[] expected = rows(other, free);
          float[] got = rows(table, bounded);
          float above = limits.low(storage);
          float below = limits.high(storage);
          assertThat(got).contains(below, above);
          for (int i = 0; i < got.length; i++) {
            float clamped = Math.min(Math.max(expected[i], above), below);
            assertThat(got[i]).as("%s", optimizer).isEqualTo(clamped).isBetween(low, high);
          }
        }
      }
    }
  }

  @Test
  void boundsAreRoundedInwards() {
    for (DType storage : new DType[] {DType.F16, DType.BF16}) {
      for (float x : new float[] {0.1f, -0.1f, 1, -1, 0, 1e-9f, -1e-9f, 1e-42f, -1e-42f, 3e38f}) {
        float most = RowLimits.NONE.withBounds(Float.NEGATIVE_INFINITY, x).high(storage);
        assertThat(most).isFinite().isLessThanOrEqualTo(x);
        assertThat(StoredWeights.stored(storage, most)).isEqualTo(most);
        for (int bits = 0; bits < 1 << 16; bits++) {
          float other = Halves.widen(storage, (short) bits);
          assertThat(other > most && other <= x).as("%s below %s", other, x).isFalse();
        }
      }
      assertThat(RowLimits.NONE.withBounds(Float.NEGATIVE_INFINITY, 0.5f).high(storage))
          .isEqualTo(0.5f);
      assertThat(RowLimits.NONE.withBounds(Float.NEGATIVE_INFINITY, -1e-30f).high(storage))
          .isNegative();
    }
  }

  @Test
  void wrongLimitsAreRefused() {
    assertThatThrownBy(() -> RowLimits.NONE.withClipNorm(-1))
        .hasMessage("row limits: got clipNorm -1.0, expected 0 (any) or a finite number above");
    assertThatThrownBy(() -> RowLimits.NONE.withBounds(2, 1))
        .hasMessageContaining("got weights from 2.0 to 1.0");
    assertThatThrownBy(() -> RowLimits.NONE.withBounds(Float.NaN, 1))
        .isInstanceOf(IllegalArgumentException.class);
    RowLimits beyond = RowLimits.NONE.withBounds(1e5f, 1e6f);
    table(1, Optimizer.sgd(1), 0, DType.BF16, beyond).close();
    assertThatThrownBy(() -> table(1, Optimizer.sgd(1), 0, DType.F16, beyond))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("table t: got weights from 100000.0 to 1000000.0, expected such as F16 holds");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 8, 16, 19})
  void gradientsWhoseSquaresAreBeyondFloatsAreClippedToo(int width) {
    RowLimits limits = RowLimits.NONE.withClipNorm(1);
    TableConfig config =
        new TableConfig("t", 0, width, 3, TableOptions.of(Optimizer.sgd(1)).initRange(0));
    try (EmbeddingTable table =
            EmbeddingTable.create(config.with(o -> o.limits(limits)), allocator);
        Floats grad = new Floats(allocator, 2 * width)) {
      for (int j = 0; j < width; j++) {
        grad.set(j, 1e20f);
        grad.set(width + j, -1e38f);
      }
      Lookup lookup = new Lookup();
      table.find(new long[] {5, 6}, 2, lookup, true);
      ByAddress.apply(table, lookup, oneHot(2), 2, Combiner.SUM, grad.address, width, 1, 1);
      float[] rows = rows(table, lookup);
      float expected = (float) (1 / Math.sqrt(width));
      for (int j = 0; j < width; j++) {
        assertThat(rows[j]).isCloseTo(-expected, within(1e-6f));
        assertThat(rows[width + j]).isCloseTo(expected, within(1e-6f));
      }
    }
  }

  @Test
  void rowsThatAdamMovesWithoutAGradientStayWithinTheBounds() {
    float high = 0.02f;
    TableConfig config =
        new TableConfig("t", 0, 9, 3, TableOptions.of(Optimizer.adam(0.01f)).initRange(0));
    RowLimits limits = RowLimits.NONE.withBounds(-1, high);
    try (EmbeddingTable table =
            EmbeddingTable.create(config.with(o -> o.limits(limits)), allocator);
        EmbeddingTable free = EmbeddingTable.create(config, allocator);
        Floats grad = new Floats(allocator, 2 * 9)) {
      for (int j = 0; j < grad.length; j++) {
        grad.set(j, -1);
      }
      // Id 1 has its only gradient in the first step and moves on in the same direction.
      for (int step = 1; step <= 6; step++) {
        long[] ids = step == 1 ? new long[] {1, 2} : new long[] {2};
        float[] rows = new float[0];
        for (EmbeddingTable each : List.of(free, table)) {
          Lookup lookup = new Lookup();
          each.find(ids, ids.length, lookup, true);
          int[] offsets = oneHot(ids.length);
          ByAddress.apply(
              each, lookup, offsets, ids.length, Combiner.SUM, grad.address, 9, 0.01f, step);
          Lookup untouched = new Lookup();
          each.find(new long[] {1}, 1, untouched, false);
          float[] before = rows;
          rows = rows(each, untouched);
          for (int j = 0; j < before.length; j++) {
            assertThat(rows[j]).as("step %d", step).isEqualTo(Math.min(high, before[j]));
          }
        }
      }
      Lookup beyond = new Lookup();
      free.find(new long[] {1}, 1, beyond, false);
      for (float weight : rows(free, beyond)) {
        assertThat(weight).isGreaterThan(1.2f * high);
      }
    }
  }

  @Test
  void boundsDoNotReachRowsThatAreGone() {
    RowPolicy policy = RowPolicy.ALL.withEviction(new Eviction.Unseen(1));
    TableConfig config =
        new TableConfig(
            "t",
            0,
            4,
            3,
            TableOptions.of(Optimizer.adam(0.1f))
                .initRange(0)
                .unknown(UnknownRow.MEAN)
                .rows(policy));
    RowLimits limits = RowLimits.NONE.withBounds(0.5f, 1);
    try (EmbeddingTable table =
            EmbeddingTable.create(config.with(o -> o.limits(limits)), allocator);
        Floats grad = Floats.of(allocator, new float[40])) {
      for (int t = 1; t <= 3; t++) {
        long[] ids = new long[t == 1 ? 10 : 1];
        for (int i = 0; i < ids.length; i++) {
          ids[i] = i;
        }
        Lookup lookup = new Lookup();
        table.find(ids, ids.length, lookup, true);
        ByAddress.apply(
            table, lookup, oneHot(ids.length), ids.length, Combiner.SUM, grad.address, 4, 1, t);
      }
      assertThat(table.size()).isEqualTo(1);
      Lookup unknown = new Lookup();
      table.find(new long[] {99}, 1, unknown, false);
      try (Floats out = new Floats(allocator, 4)) {
        ByAddress.ragged(table, unknown, out.address);
        assertThat(out.toArray()).containsOnly(0.5f);
      }
    }
  }
}
