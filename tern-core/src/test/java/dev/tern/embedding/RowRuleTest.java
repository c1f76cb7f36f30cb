package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import dev.tern.optim.Optimizer.Adam.Untouched;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rows with two optimizers, against two tables of one each that hold the parts of the same rows.
 */
final class RowRuleTest {
  private static final float LR = 0.05f;
  private static final int BATCH = 96;
  private static final int IDS = 150;

  private final Allocator allocator = Allocator.of(1L << 26);

  @AfterEach
  void closedTablesHoldNoMemory() {
    assertThat(allocator.live()).isZero();
  }

  private static List<Optimizer> optimizers(float lr) {
    return List.of(
        Optimizer.sgd(lr),
        Optimizer.momentum(lr),
        Optimizer.nesterov(lr),
        new Optimizer.Adagrad(lr, 0.1f, 1e-8f),
        new Optimizer.RowWiseAdagrad(lr, 0.2f, 1e-8f),
        Optimizer.rmsProp(lr),
        Optimizer.lazyAdam(lr),
        new Optimizer.Adam(lr, 0.9f, 0.99f, 1e-8f, Untouched.DECAYED),
        new Optimizer.Ftrl(lr, 1, 0.001f, 0.01f));
  }

  static List<Arguments> pairs() {
    List<Arguments> all = new ArrayList<>();
    int k = 0;
    for (Optimizer first : optimizers(2 * LR)) {
      for (Optimizer others : optimizers(LR)) {
        int head = new int[] {1, 3, 8, 16, 17}[k % 5];
        int rest = new int[] {8, 1, 17, 5, 16, 7, 15}[k % 7];
        all.add(Arguments.of(first, others, head, rest, k % 3 == 0 ? DType.F16 : DType.F32));
        k++;
      }
    }
    return all;
  }

  private EmbeddingTable table(RowRule rule, int width, DType storage, RowLimits limits) {
    TableConfig plain =
        new TableConfig(
            "t",
            1,
            width,
            5,
            TableOptions.of(rule.optimizer()).initRange(0.3f).l2(0.01f).storage(storage));
    return EmbeddingTable.create(plain.with(o -> o.rule(rule).limits(limits)), allocator);
  }

  /** Rows as they are exported, by their bits: id, weights, state. */
  private static List<int[]> rows(EmbeddingTable table) {
    List<int[]> rows = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      long values = segment.address();
      for (int i = 0; i < count; i++) {
        long at = values + 4L * i * floats;
        rows.add(IntStream.range(0, floats).map(j -> Memory.getInt(at + 4L * j)).toArray());
      }
    });
    return rows;
  }

  /**
   * Makes ids 0 to IDS - 1 with columns {@code [from, from + W)} of the weights of {@code like}.
   */
  private void fill(EmbeddingTable table, List<int[]> like, int from) {
    TableConfig config = table.config();
    int[] at = {0};
    float[] state = config.rule().initialState(config.width());
    table.importFrom((ids, segment) -> {
      long values = segment.address();
      int count = 0;
      for (; count < ids.length && at[0] < IDS; count++, at[0]++) {
        long row = values + 4L * count * config.rowFloats();
        ids[count] = at[0];
        for (int j = 0; j < config.width(); j++) {
          Memory.setInt(row + 4L * j, like.get(at[0])[from + j]);
        }
        Memory.copyIn(state, 0, row + 4L * config.width(), state.length);
      }
      return count;
    });
  }

  private void step(EmbeddingTable table, long[] ids, long grad, int stride, float lr, long step) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, true);
    int[] offsets = IntStream.rangeClosed(0, ids.length).toArray();
    ByAddress.apply(table, lookup, offsets, ids.length, Combiner.SUM, grad, stride, lr, step);
  }

  @ParameterizedTest(name = "{0} of {2}, {1} of {3}, {4}")
  @MethodSource("pairs")
  void eachPartOfARowIsUpdatedAsIfItWereARow(
      Optimizer first, Optimizer others, int head, int rest, DType storage) {
    int width = head + rest;
    RowLimits limits = new RowLimits(0, -0.5f, 0.5f);
    RowRule rule = RowRule.withHead(head, first, others);
    try (EmbeddingTable whole = table(rule, width, storage, limits);
        EmbeddingTable left = table(RowRule.of(first), head, storage, limits);
        EmbeddingTable right = table(RowRule.of(others), rest, storage, limits);
        Floats grad = new Floats(allocator, BATCH * width)) {
      whole.find(IntStream.range(0, IDS).asLongStream().toArray(), IDS, new Lookup(), true);
      List<int[]> start = rows(whole);
      float[] state = rule.initialState(width);
      for (int j = 0; j < state.length; j++) {
        assertThat(start.getFirst()[width + j]).isEqualTo(Float.floatToRawIntBits(state[j]));
      }
      fill(left, start, 0);
      fill(right, start, head);
      SplittableRandom random = new SplittableRandom(head);
      for (int t = 1; t <= 12; t++) {
        // In turn some ids several times, and each once, which is read in place.
        int from = t;
        long[] ids =
            t % 2 == 0
                ? random.longs(BATCH, 0, IDS).toArray()
                : IntStream.range(0, BATCH).mapToLong(i -> (i + from) % IDS).toArray();
        for (int i = 0; i < BATCH * width; i++) {
          grad.set(i, (float) random.nextGaussian() / 8);
        }
        float rate = t == 7 ? 0 : LR / t;
        step(whole, ids, grad.address, width, rate, t);
        step(left, ids, grad.address, width, rate * (first.lr() / others.lr()), t);
        step(right, ids, grad.address + 4L * head, width, rate, t);
      }
      requireParts(rows(whole), rows(left), rows(right), head, rest);
    }
  }

  /** Rows hold the weights of both, then the state of the first part, then that of the second. */
  private static void requireParts(
      List<int[]> whole, List<int[]> left, List<int[]> right, int head, int rest) {
    assertThat(whole).hasSize(IDS);
    for (int i = 0; i < IDS; i++) {
      int[] one = left.get(i);
      int[] other = right.get(i);
      IntStream weights =
          IntStream.concat(Arrays.stream(one, 0, head), Arrays.stream(other, 0, rest));
      IntStream state =
          IntStream.concat(
              Arrays.stream(one, head, one.length), Arrays.stream(other, rest, other.length));
      assertThat(whole.get(i)).as("id %d", i).isEqualTo(IntStream.concat(weights, state).toArray());
    }
  }

  @Test
  void rulesThatCannotBeAreRefused() {
    Optimizer sgd = Optimizer.sgd(0.1f);
    assertThatThrownBy(() -> RowRule.withHead(0, sgd, sgd)).hasMessageContaining("1 or more");
    assertThatThrownBy(() -> RowRule.withHead(1, sgd, Optimizer.adam(0.1f)))
        .hasMessageContaining("use lazy Adam");
    assertThatThrownBy(() -> RowRule.withHead(1, Optimizer.adam(0.1f), sgd))
        .hasMessageContaining("use lazy Adam");
    assertThatThrownBy(() -> RowRule.withHead(1, sgd, Optimizer.sgd(0)))
        .hasMessageContaining("expected one above 0 for both");
    assertThatThrownBy(() -> table(RowRule.withHead(4, sgd, sgd), 4, DType.F32, RowLimits.NONE))
        .hasMessageContaining("table t: got weights with an optimizer of their own 4");
  }
}
