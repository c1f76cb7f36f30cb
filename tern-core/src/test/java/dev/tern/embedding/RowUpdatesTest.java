package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.rows.InitialRows;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every optimizer against the equations of {@link Optimizer} in plain double arithmetic. */
final class RowUpdatesTest {
  private static final float LR = 0.1f;

  static Stream<Optimizer> optimizers() {
    return Stream.of(
        Optimizer.sgd(LR),
        Optimizer.momentum(LR),
        Optimizer.nesterov(LR),
        Optimizer.adagrad(LR),
        new Optimizer.Adagrad(LR, 0.5f, 1e-3f),
        new Optimizer.RowWiseAdagrad(LR, 0.25f, 1e-3f),
        Optimizer.rmsProp(LR),
        new Optimizer.RmsProp(LR, 0.5f, 1e-3f),
        Optimizer.adam(LR),
        Optimizer.lazyAdam(LR),
        new Optimizer.Adam(LR, 0.9f, 0.999f, 1e-8f, Untouched.DECAYED),
        Optimizer.ftrl(LR),
        new Optimizer.Ftrl(LR, 0.5f, 0.3f, 0.2f),
        new Optimizer.Ftrl(LR, 0, 0.3f, 0));
  }

  /** One row in double precision. */
  private static final class Row {
    final double[] w;
    final double[] a;
    final double[] b;
    double s;

    /**
     * Columns with a gradient that rounding of its terms may have made: no rule bounds its step.
     */
    final boolean[] doubtful;

    Row(double[] w, double initial) {
      this.w = w;
      a = new double[w.length];
      b = new double[w.length];
      doubtful = new boolean[w.length];
      java.util.Arrays.fill(a, initial);
      s = initial;
    }

    void untouched(Optimizer.Adam adam, double lr, int t) {
      switch (adam.untouched()) {
        case UPDATED -> step(adam, new double[w.length], 0, lr, t);
        case KEPT -> {}
        case DECAYED -> {
          for (int j = 0; j < w.length; j++) {
            a[j] *= adam.beta1();
            b[j] *= adam.beta2();
          }
        }
      }
    }

    void step(Optimizer optimizer, double[] grad, double l2, double lr, int t) {
      double[] g = new double[w.length];
      double square = 0;
      for (int j = 0; j < w.length; j++) {
        g[j] = grad[j] + l2 * w[j];
        square += g[j] * g[j] / w.length;
        doubtful[j] |= g[j] != 0 && Math.abs(g[j]) < 1e-4;
      }
      s += square;
      for (int j = 0; j < w.length; j++) {
        switch (optimizer) {
          case Optimizer.Sgd _ -> w[j] -= lr * g[j];
          case Optimizer.Momentum o -> {
            a[j] = o.momentum() * a[j] - lr * g[j];
            w[j] += a[j];
          }
          case Optimizer.Nesterov o -> {
            a[j] = o.momentum() * a[j] + g[j];
            w[j] -= lr * (g[j] + o.momentum() * a[j]);
          }
          case Optimizer.Adagrad o -> {
            a[j] += g[j] * g[j];
            w[j] -= lr * g[j] / (Math.sqrt(a[j]) + o.eps());
          }
          case Optimizer.RowWiseAdagrad o -> w[j] -= lr / (Math.sqrt(s) + o.eps()) * g[j];
          case Optimizer.RmsProp o -> {
            a[j] = o.rho() * a[j] + (1 - (double) o.rho()) * g[j] * g[j];
            w[j] -= lr * g[j] / (Math.sqrt(a[j]) + o.eps());
          }
          case Optimizer.Adam o -> {
            a[j] = o.beta1() * a[j] + (1 - (double) o.beta1()) * g[j];
            b[j] = o.beta2() * b[j] + (1 - (double) o.beta2()) * g[j] * g[j];
            double m = a[j] / (1 - Math.pow(o.beta1(), t));
            w[j] -= lr * m / (Math.sqrt(b[j] / (1 - Math.pow(o.beta2(), t))) + o.eps());
          }
          case Optimizer.Ftrl o -> {
            double n = b[j] + g[j] * g[j];
            a[j] += g[j] - (Math.sqrt(n) - Math.sqrt(b[j])) / lr * w[j];
            b[j] = n;
            double pull = (o.beta() + Math.sqrt(n)) / lr + o.l2();
            w[j] = Math.abs(a[j]) <= o.l1() ? 0 : (Math.signum(a[j]) * o.l1() - a[j]) / pull;
          }
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void stepsFollowTheEquations(Optimizer optimizer) {
    for (int width : new int[] {1, 3, 8, 16, 17}) {
      for (Combiner combiner : Combiner.values()) {
        trainsLikeTheReference(optimizer, width, combiner, 0, false);
        trainsLikeTheReference(optimizer, width, combiner, 0.05f, false);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void l2OfAllRowsIsAStepWithoutGradientOfRowsThatTheBatchLacks(Optimizer optimizer) {
    for (int width : new int[] {1, 3, 8, 17}) {
      trainsLikeTheReference(optimizer, width, Combiner.SUM, 0.5f, true);
    }
  }

  private static void trainsLikeTheReference(
      Optimizer optimizer, int width, Combiner combiner, float l2, boolean all) {
    Allocator allocator = Allocator.of(1L << 26);
    TableConfig config =
        new TableConfig(
            "t", 0, width, 9, TableOptions.of(optimizer).initRange(0.5f).l2(l2).l2OfAllRows(all));
    InitialRows initial = new InitialRows(config);
    Map<Long, Row> reference = new HashMap<>();
    SplittableRandom random = new SplittableRandom(width);
    int stride = width + 2;
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator)) {
      Lookup lookup = new Lookup();
      for (int t = 1; t <= 6; t++) {
        int bags = 150;
        int[] offsets = new int[bags + 1];
        for (int b = 0; b < bags; b++) {
          offsets[b + 1] = offsets[b] + (t % 2 == 0 ? 1 : random.nextInt(4));
        }
        long[] ids = random.longs(offsets[bags], -60, 60 * t).toArray();
        float lr = LR * t;
        try (Floats grad = new Floats(allocator, bags * stride)) {
          for (int i = 0; i < grad.length; i++) {
            grad.set(i, (float) random.nextDouble(-1, 1));
          }
          table.find(ids, ids.length, lookup, true);
          ByAddress.apply(table, lookup, offsets, bags, combiner, grad.address, stride, lr, t);
          step(reference, config, initial, ids, offsets, combiner, grad, stride, lr, t);
        }
      }
      compare(table, reference);
    }
    assertThat(allocator.live()).isZero();
  }

  private static void step(
      Map<Long, Row> reference,
      TableConfig config,
      InitialRows initial,
      long[] ids,
      int[] offsets,
      Combiner combiner,
      Floats grad,
      int stride,
      float lr,
      int t) {
    int width = config.width();
    Map<Long, double[]> sums = new HashMap<>();
    for (int b = 0; b + 1 < offsets.length; b++) {
      int n = offsets[b + 1] - offsets[b];
      double divisor =
          switch (combiner) {
            case SUM -> 1;
            case MEAN -> n;
            case SQRTN -> Math.sqrt(n);
          };
      for (int i = offsets[b]; i < offsets[b + 1]; i++) {
        double[] sum = sums.computeIfAbsent(ids[i], _ -> new double[width]);
        for (int j = 0; j < width; j++) {
          sum[j] += grad.get(b * stride + j) / divisor;
        }
      }
    }
    for (long id : ids) {
      reference.computeIfAbsent(
          id,
          _ -> {
            double[] w = new double[width];
            for (int j = 0; j < width; j++) {
              w[j] = initial.value(id, j);
            }
            float[] state = config.rule().initialState(width);
            return new Row(w, state.length == 0 ? 0 : state[0]);
          });
    }
    reference.forEach((id, row) -> {
      double[] sum = sums.get(id);
      if (sum != null) {
        row.step(config.optimizer(), sum, config.l2(), lr, t);
      } else if (config.options().l2OfAllRows()) {
        row.step(config.optimizer(), new double[width], config.l2(), lr, t);
      } else if (config.optimizer() instanceof Optimizer.Adam adam) {
        row.untouched(adam, lr, t);
      }
    });
  }

  /** Rules that divide a gradient by its own size: of tiny ones the step is not small. */
  private static boolean dividesByNorms(Optimizer optimizer) {
    return optimizer instanceof Optimizer.Adagrad
        || optimizer instanceof Optimizer.RowWiseAdagrad
        || optimizer instanceof Optimizer.RmsProp
        || optimizer instanceof Optimizer.Adam;
  }

  private static void compare(EmbeddingTable table, Map<Long, Row> reference) {
    int floats = table.config().rowFloats();
    assertThat(table.size()).isEqualTo(reference.size());
    int[] doubtful = {0};
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        Row row = reference.get(ids[i]);
        for (int j = 0; j < row.w.length; j++) {
          if (row.doubtful[j] && dividesByNorms(table.config().optimizer())) {
            doubtful[0]++;
            continue;
          }
          float got = Memory.getFloat(values + 4L * (i * floats + j));
          float tolerance = 2e-4f * (1 + (float) Math.abs(row.w[j]));
          assertThat(got)
              .as("%s id %d column %d", table.config().optimizer(), ids[i], j)
              .isCloseTo((float) row.w[j], within(tolerance));
        }
      }
    });
    assertThat(doubtful[0]).isLessThanOrEqualTo(reference.size() * table.config().width() / 100);
  }

  @Test
  void duplicatesAreAddedInOrderOfPositionBeforeTheStep() {
    Allocator allocator = Allocator.of(1L << 24);
    TableConfig config =
        new TableConfig("t", 0, 1, 0, TableOptions.of(Optimizer.sgd(1)).initRange(0));
    float[] grads = {1e8f, 1, -1e8f, 1, 3};
    float inOrder = (((1e8f + 1) + -1e8f) + 1) + 3;
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator);
        Floats grad = Floats.of(allocator, grads);
        Floats out = new Floats(allocator, 1)) {
      Lookup lookup = new Lookup();
      table.find(new long[] {4, 4, 4, 4, 4}, 5, lookup, true);
      ByAddress.apply(
          table, lookup, new int[] {0, 1, 2, 3, 4, 5}, 5, Combiner.SUM, grad.address, 1, 1, 1);
      table.find(new long[] {4}, 1, lookup, false);
      ByAddress.ragged(table, lookup, out.address);
      assertThat(out.get(0)).isEqualTo(-inOrder);
    }
  }

  @Test
  void momentsDecayByAllStepsThatDidNotTouchTheirRow() {
    Allocator allocator = Allocator.of(1L << 24);
    Optimizer.Adam adam = new Optimizer.Adam(LR, 0.9f, 0.999f, 1e-8f, Untouched.DECAYED);
    TableConfig config = new TableConfig("t", 0, 9, 0, TableOptions.of(adam).initRange(0));
    for (int last : new int[] {2, 3, 40, 1 << 20}) {
      double m = (1 - (double) adam.beta1()) * 2;
      double v = (1 - (double) adam.beta2()) * 4;
      for (int t = 2; t < last; t++) {
        m *= adam.beta1();
        v *= adam.beta2();
      }
      m = adam.beta1() * m + (1 - (double) adam.beta1()) * -1;
      v = adam.beta2() * v + (1 - (double) adam.beta2());
      double[] moments = {m, v};
      try (EmbeddingTable table = EmbeddingTable.create(config, allocator);
          Floats grad = new Floats(allocator, 9)) {
        Lookup lookup = new Lookup();
        for (int t : new int[] {1, last}) {
          for (int j = 0; j < 9; j++) {
            grad.set(j, t == 1 ? 2 : -1);
          }
          table.find(new long[] {4}, 1, lookup, true);
          ByAddress.apply(table, lookup, new int[] {0, 1}, 1, Combiner.SUM, grad.address, 9, LR, t);
        }
        table.exportTo((ids, segment, count) -> {
          long row = segment.address();
          for (int j = 0; j < 18; j++) {
            double expected = moments[j / 9];
            assertThat((double) Memory.getFloat(row + 36 + 4L * j))
                .isCloseTo(expected, within(1e-6 * Math.abs(expected)));
          }
          assertThat(Memory.getInt(row + 108)).isEqualTo(last);
        });
      }
    }
  }

  @Test
  void ftrlWithLearningRateZeroChangesNothing() {
    Allocator allocator = Allocator.of(1L << 24);
    TableConfig config =
        new TableConfig("t", 0, 1, 0, TableOptions.of(Optimizer.ftrl(1)).initRange(1));
    try (EmbeddingTable table = EmbeddingTable.create(config, allocator);
        Floats grad = Floats.of(allocator, 1);
        Floats out = new Floats(allocator, 2)) {
      Lookup lookup = new Lookup();
      table.find(new long[] {4}, 1, lookup, true);
      ByAddress.ragged(table, lookup, out.address);
      ByAddress.apply(table, lookup, new int[] {0, 1}, 1, Combiner.SUM, grad.address, 1, 0, 1);
      table.refresh(lookup);
      ByAddress.ragged(table, lookup, out.address + 4);
      assertThat(out.get(1)).isEqualTo(out.get(0));
    }
  }
}
