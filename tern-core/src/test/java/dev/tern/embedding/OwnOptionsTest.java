package dev.tern.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Workers;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.InitialWeights;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import dev.tern.optim.Optimizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tables of one model with optimizers, storage, L2 and initial weights of their own. */
final class OwnOptionsTest {
  private static final int WIDTH = 19;
  private static final int ROWS = 40;

  private final Allocator allocator = Allocator.of(1L << 28);

  @AfterEach
  void closedTablesHoldNoMemory() {
    assertThat(allocator.live()).isZero();
  }

  private EmbeddingTable table(String name, int index, TableOptions options) {
    return EmbeddingTable.create(new TableConfig(name, index, WIDTH, 42, options), allocator);
  }

  private static Batch batch(SplittableRandom random) {
    Batch batch =
        new Batch(
            new Schema(List.of(), List.of(), List.of(Slot.ragged("a"), Slot.ragged("b"))), ROWS);
    for (int b = 0; b < ROWS; b++) {
      for (int slot = 0; slot < 2; slot++) {
        for (int i = random.nextInt(4); i > 0; i--) {
          batch.addId(slot, random.nextInt(200));
        }
      }
      batch.endRow();
    }
    return batch;
  }

  private static List<String> rows(EmbeddingTable table) {
    List<String> rows = new ArrayList<>();
    int floats = table.config().rowFloats();
    table.exportTo((ids, segment, count) -> {
      for (int i = 0; i < count; i++) {
        int[] row = new int[floats];
        for (int j = 0; j < floats; j++) {
          row[j] = Memory.getInt(segment.address() + 4L * (i * floats + j));
        }
        rows.add(ids[i] + Arrays.toString(row));
      }
    });
    return rows;
  }

  /** Trains two tables together, at a learning rate. */
  private static void train(EmbeddingTable a, EmbeddingTable b, float lr) {
    SplittableRandom random = new SplittableRandom(3);
    int floats = ROWS * 2 * WIDTH;
    try (Arena arena = Arena.ofShared();
        Workers workers = Workers.of(2);
        BatchLookup lookup =
            new SlotTables(List.of(a, b), Combiner.SUM).newLookup(List.of(WIDTH))) {
      MemorySegment vectors = arena.allocate(4L * floats, 64);
      for (int step = 1; step <= 20; step++) {
        lookup.find(workers, batch(random), true, List.of(vectors));
        for (int i = 0; i < floats; i++) {
          vectors.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
        }
        lookup.apply(workers, List.of(vectors), lr, step);
      }
    }
  }

  @Test
  void aTableLearnsAsInARunWhereAllTablesHaveItsOptions() {
    Optimizer adagrad = Optimizer.adagrad(0.05f);
    InitialWeights normal = new InitialWeights.Normal(0.3f);
    TableOptions common = TableOptions.of(Optimizer.sgd(0.1f)).l2(0.01f);
    TableOptions mixed =
        common.own(
            "a", OwnOptions.NONE.optimizer(adagrad).storage(DType.BF16).l2(0.2f).initial(normal));
    TableOptions all = TableOptions.of(adagrad).storage(DType.BF16).l2(0.2f).initial(normal);
    try (EmbeddingTable a = table("a", 0, mixed);
        EmbeddingTable b = table("b", 1, mixed);
        EmbeddingTable ofAll = table("a", 0, all);
        EmbeddingTable other = table("b", 1, all);
        EmbeddingTable plain = table("b", 1, common);
        EmbeddingTable another = table("a", 0, common)) {
      train(a, b, 0.1f); // In proportion the rate of table a is 0.05.
      train(ofAll, other, 0.05f);
      train(another, plain, 0.1f);
      assertThat(rows(a)).isEqualTo(rows(ofAll)).isNotEqualTo(rows(another));
      assertThat(rows(b)).isEqualTo(rows(plain)).isNotEqualTo(rows(other));
      assertThat(a.config().stateFloats()).isEqualTo(WIDTH);
      assertThat(b.config().stateFloats()).isZero();
    }
  }

  @Test
  void anOptimizerOfTheFirstPartStaysBesideTheOwnOneOfTheOthers() {
    TableOptions options =
        TableOptions.of(Optimizer.sgd(0.1f))
            .rule(RowRule.withHead(1, Optimizer.sgd(0.4f), Optimizer.sgd(0.1f)))
            .own("a", OwnOptions.NONE.optimizer(Optimizer.adagrad(0.2f)));
    TableConfig config = new TableConfig("a", 0, 4, 1, options);
    assertThat(config.rule())
        .isEqualTo(RowRule.withHead(1, Optimizer.sgd(0.4f), Optimizer.adagrad(0.2f)));
    assertThat(config.rateRatio()).isEqualTo(2);
    assertThat(config.with(o -> o.l2(0.5f)).rateRatio()).isEqualTo(2);
    assertThat(config.with(o -> o.l2(0.5f)).rule()).isEqualTo(config.rule());
    assertThat(new TableConfig("b", 0, 4, 1, options).rateRatio()).isEqualTo(1);
  }

  @Test
  void aRateOfOneTableNeedsARateOfTheOthers() {
    TableOptions options =
        TableOptions.of(Optimizer.sgd(0)).own("a", OwnOptions.NONE.optimizer(Optimizer.sgd(1)));
    assertThatThrownBy(() -> new TableConfig("a", 0, 4, 1, options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got learning rates 1.0 of one table and 0 of the others");
    TableOptions storage =
        TableOptions.of(Optimizer.sgd(1)).own("a", OwnOptions.NONE.storage(DType.I32));
    assertThatThrownBy(() -> new TableConfig("a", 0, 4, 1, storage))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("table a: got storage I32");
    TableOptions share = TableOptions.of(Optimizer.sgd(1)).own("a", OwnOptions.NONE.l2(-1));
    assertThatThrownBy(() -> new TableConfig("a", 0, 4, 1, share))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("table a: got l2 -1.0");
  }

  /** Rows of ids, as they are read without a row or once they have one. */
  private static float[] read(EmbeddingTable table, long[] ids, boolean insert) {
    Lookup lookup = new Lookup();
    table.find(ids, ids.length, lookup, insert);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(4L * ids.length * WIDTH, 4);
      table.ragged(lookup, out);
      return out.toArray(ValueLayout.JAVA_FLOAT);
    }
  }

  @Test
  void newRowsAreDrawnAsTheTableSaysAndReadTheSameBeforeTheyAreThere() {
    long[] ids = LongStream.range(0, 3000).map(i -> i * i - 7).toArray();
    for (DType storage : List.of(DType.F32, DType.F16, DType.BF16)) {
      for (InitialWeights initial :
          List.of(
              InitialWeights.DEFAULT,
              new InitialWeights.Normal(0.3f),
              InitialWeights.ZEROS,
              new InitialWeights.Constant(-1.5f))) {
        TableOptions options =
            TableOptions.of(Optimizer.sgd(1))
                .storage(storage)
                .unknown(UnknownRow.INITIAL)
                .initial(initial);
        try (EmbeddingTable table = table("a", 0, options)) {
          float[] before = read(table, ids, false);
          assertThat(read(table, ids, true)).isEqualTo(before);
          requireDrawn(initial, before);
        }
      }
    }
  }

  private static void requireDrawn(InitialWeights initial, float[] weights) {
    switch (initial) {
      case InitialWeights.Constant(float value) -> assertThat(weights).containsOnly(value);
      case InitialWeights.Uniform(float range) -> {
        for (float weight : weights) {
          assertThat(weight).isBetween(-1.01f * range, 1.01f * range); // Rounded, in halves.
        }
        requireMoments(weights, range / Math.sqrt(3), 1.8);
      }
      case InitialWeights.Normal(float deviation) -> requireMoments(weights, deviation, 3);
    }
  }

  private static void requireMoments(float[] weights, double deviation, double kurtosis) {
    double sum = 0;
    double squares = 0;
    double fourth = 0;
    for (float weight : weights) {
      sum += weight;
      squares += weight * weight;
      fourth += Math.pow(weight, 4);
    }
    int n = weights.length;
    assertThat(sum / n).isCloseTo(0, within(6 * deviation / Math.sqrt(n)));
    assertThat(Math.sqrt(squares / n)).isCloseTo(deviation, within(0.01 * deviation));
    assertThat(fourth * n / squares / squares).isCloseTo(kurtosis, within(0.1));
  }

  @Test
  void initialWeightsAreFinite() {
    for (float wrong : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new InitialWeights.Uniform(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "initial weights: got " + wrong + ", expected a range of 0 or more");
      assertThatThrownBy(() -> new InitialWeights.Constant(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> new InitialWeights.Normal(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected a deviation of 0 or more");
  }
}
