package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Weights, several levels, room that batches fill, and errors. */
final class RaggedTest {
  private static final Levels LEVELS = Levels.ofLengths(new int[] {2, 0, 3});
  private static final Tensor FIVE = Tensor.of(Shape.of(5, 1), 1, 2, 3, 4, 5);

  @Test
  void exampleOfTheClassDocComputesWhatItSays() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    assertThat(x.pool(SequencePooling.MEAN).toArray()).containsExactly(1.5f, 0, 4);
    assertThat(x.reverse().toArray()).containsExactly(2, 1, 5, 4, 3);
    assertThat(x.levels()).isEqualTo(LEVELS);
    assertThat(x.sequenceIds().toLongs()).containsExactly(0, 0, 2, 2, 2);
    assertThat(x.positions().toLongs()).containsExactly(0, 1, 0, 1, 2);
  }

  @Test
  void weightsCountInSumsAndMoveWithTheirRows() {
    Tensor weights = Tensor.of(Shape.of(5), 1, 3, 0, 2, 2);
    Ragged x = Ragged.of(FIVE, LEVELS).weighted(weights);
    assertThat(x.pool(SequencePooling.SUM).toArray()).containsExactly(7, 0, 18);
    assertThat(x.pool(SequencePooling.MEAN).toArray()).containsExactly(7 / 4f, 0, 18 / 4f);
    float root = (float) Math.sqrt(10);
    assertThat(x.pool(SequencePooling.SQRT).toArray())
        .containsExactly(7 / root, 0, (float) (18 / Math.sqrt(8)));
    Ragged moved = Ragged.concat(List.of(x.reverse(), x.truncate(1)));
    assertThat(moved.weights().orElseThrow().toArray()).startsWith(3, 1, 1, 2, 2, 0, 0);
    assertThatThrownBy(() -> x.pool(SequencePooling.MAX))
        .hasMessageContaining("call unweighted first");
    assertThat(x.unweighted().pool(SequencePooling.MAX, -1).toArray()).containsExactly(2, -1, 5);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SUM", "MEAN", "SQRT"})
  void gradientsOfWeightsAgreeWithFiniteDifferences(SequencePooling kind) {
    Tensor rows = TensorTest.random(3, 6, 2);
    Levels levels = Levels.ofLengths(new int[] {0, 3, 1, 2});
    TensorTest.checkGradient(
        w -> Ragged.of(rows, levels).weighted(w.square().add(0.5f)).pool(kind),
        TensorTest.random(4, 6),
        6);
  }

  @Test
  void aWeightedSumTakesOneFactorForEachRow() {
    Ragged x = Ragged.of(TensorTest.random(3, 5, 2), LEVELS);
    assertThatThrownBy(() -> x.weightedSum(TensorTest.random(4, 3, 3, 2)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("weightedSum: got factors [3, 3, 2], expected [3, length]");
  }

  @Test
  void gradientsOfTheDenseSideAgreeWithFiniteDifferences() {
    Ragged x = Ragged.of(TensorTest.random(3, 5, 2), LEVELS);
    TensorTest.checkGradient(y -> x.matmul(y, 3).values(), TensorTest.random(4, 3, 2, 4), 3, 2, 4);
    TensorTest.checkGradient(y -> x.weightedSum(y), TensorTest.random(4, 3, 3), 3, 3);
    TensorTest.checkGradient(y -> x.mul(y).values(), TensorTest.random(4, 3, 4, 2), 3, 4, 2);
    TensorTest.checkGradient(y -> x.expand(y).values(), TensorTest.random(4, 3, 2), 3, 2);
    TensorTest.checkGradient(
        y -> Ragged.unpad(y, x.lengths(), 6).values(), TensorTest.random(4, 3, 4, 2), 3, 4, 2);
    Tensor columns = Tensor.ofInts(Shape.of(5), 0, 2, 1, 1, 0);
    Ragged flat = x.with(TensorTest.random(5, 5));
    TensorTest.checkGradient(y -> flat.scatter(y, columns), TensorTest.random(4, 3, 3), 3, 3);
  }

  // --- several levels, beside nested lists ---

  /** Rows as arrays, sequences as lists. */
  private static List<Object> nested(Levels levels, float[] values, int width) {
    List<Object> elements = new ArrayList<>();
    for (int row = 0; row < levels.rows(); row++) {
      elements.add(Arrays.toString(Arrays.copyOfRange(values, row * width, (row + 1) * width)));
    }
    for (int level = levels.depth() - 1; level >= 0; level--) {
      int[] offsets = levels.offsets(level);
      List<Object> sequences = new ArrayList<>();
      for (int s = 0; s + 1 < offsets.length; s++) {
        sequences.add(List.copyOf(elements.subList(offsets[s], offsets[s + 1])));
      }
      elements = sequences;
    }
    return elements;
  }

  private static List<Object> nested(Ragged x) {
    return nested(x.levels(), x.toArray(), x.values().shape().withSize(0, 1).elements());
  }

  private static Levels random(long seed, int depth, int sequences) {
    Random random = new Random(seed);
    int[][] lengths = new int[depth][];
    int count = sequences;
    for (int level = 0; level < depth; level++) {
      lengths[level] = random.ints(count, 0, 4).toArray();
      count = Arrays.stream(lengths[level]).sum();
    }
    return Levels.ofLengths(lengths);
  }

  private static Ragged ragged(Levels levels, int width) {
    return Ragged.of(TensorTest.random(levels.rows(), levels.rows(), width), levels);
  }

  private static List<Object> joined(List<?> a, List<?> b) {
    List<Object> all = new ArrayList<>(a);
    all.addAll(b);
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void whatMovesOutermostSequencesTakesAllLevelsAlong(int depth) {
    for (int sequences : new int[] {0, 1, 6, 17}) {
      Ragged x = ragged(random(depth, depth, sequences), 3);
      Ragged y = ragged(random(9, depth, sequences), 3);
      List<Object> lists = nested(x);
      List<Object> others = nested(y);
      assertThat(nested(Ragged.merge(List.of(x, y)))).isEqualTo(joined(lists, others));
      List<Object> pairs = new ArrayList<>();
      for (int i = 0; i < sequences; i++) {
        pairs.add(joined((List<?>) lists.get(i), (List<?>) others.get(i)));
      }
      assertThat(nested(Ragged.concat(List.of(x, y)))).isEqualTo(pairs);
      List<Ragged> parts = x.split(sequences / 2, 0, sequences - sequences / 2);
      assertThat(nested(parts.get(0))).isEqualTo(lists.subList(0, sequences / 2));
      assertThat(nested(parts.get(1))).isEmpty();
      assertThat(nested(Ragged.merge(parts))).isEqualTo(lists);
      int[] backwards = IntStream.range(0, sequences).map(i -> sequences - 1 - i).toArray();
      Tensor index = Tensor.ofInts(Shape.of(sequences), backwards);
      assertThat(nested(x.take(index))).isEqualTo(lists.reversed());
    }
  }

  @Test
  void levelsArePooledFromTheInnermostOut() {
    Levels levels = Levels.ofLengths(new int[] {1, 2}, new int[] {2, 0, 1}, new int[] {2, 1, 3});
    Ragged x = Ragged.of(Tensor.of(Shape.of(6), 1, 2, 3, 4, 5, 6), levels);
    Ragged sums = x.outer(x.pool(SequencePooling.SUM));
    assertThat(nested(sums).toString()).isEqualTo("[[[[3.0], [3.0]]], [[], [[15.0]]]]");
    Ragged most = sums.outer(sums.pool(SequencePooling.MAX, -1));
    assertThat(most.pool(SequencePooling.SUM).toArray()).containsExactly(3, 14);
    assertThatThrownBy(() -> most.outer(FIVE)).hasMessageContaining("expected a row for each");
  }

  @Test
  void gradientsGoThroughAllLevels() {
    Levels levels = random(3, 3, 4);
    Function<Tensor, Tensor> function =
        rows -> {
          Ragged x = Ragged.of(rows, levels).softmax().reverse();
          Ragged y = Ragged.concat(List.of(x, x.expand(x.pool(SequencePooling.MAX))));
          Ragged inner = y.outer(y.pool(SequencePooling.SUM));
          return inner.outer(inner.pool(SequencePooling.SQRT)).pool(SequencePooling.MAX);
        };
    TensorTest.checkGradient(function, TensorTest.random(7, levels.rows(), 2), levels.rows(), 2);
  }

  @Test
  void rowsStayWhenTheirSequencesAreReset() {
    Ragged x = Ragged.of(FIVE, LEVELS).weighted(Tensor.of(Shape.of(5), 1, 1, 1, 1, 2));
    Levels other = Levels.ofLengths(new int[] {1, 1}, new int[] {4, 1});
    assertThat(x.reset(other).pool(SequencePooling.SUM).toArray()).containsExactly(10, 10);
    assertThat(x.reset(other).levels()).isEqualTo(other);
    assertThat(x.reset(Ragged.of(FIVE, other)).pool(SequencePooling.SUM).toArray())
        .containsExactly(10, 10);
    assertThatThrownBy(() -> x.reset(Levels.ofLengths(new int[] {4})))
        .hasMessageContaining("expected 4 rows");
  }

  @Test
  void aRowPads() {
    Ragged x =
        Ragged.of(Tensor.of(Shape.of(3, 2), 1, 2, 3, 4, 5, 6), Levels.ofLengths(new int[] {1, 2}));
    assertThat(x.pad(2, Tensor.of(Shape.of(2), 8, 9)).toArray())
        .containsExactly(1, 2, 8, 9, 3, 4, 5, 6);
  }

  @Test
  void partsThatDoNotFitTogetherAreRefused() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    Ragged two = Ragged.of(FIVE, Levels.ofLengths(new int[] {2, 3}));
    Ragged deep = Ragged.of(FIVE, Levels.ofLengths(new int[] {0, 0, 1}, new int[] {5}));
    assertThatThrownBy(() -> Ragged.concat(List.of(x, two)))
        .hasMessageContaining("got 3 and 2 outermost sequences");
    assertThatThrownBy(() -> Ragged.merge(List.of(x, deep)))
        .hasMessageContaining("expected as many levels");
    assertThatThrownBy(() -> Ragged.merge(List.of(x, x.weighted(FIVE.reshape(5)))))
        .hasMessageContaining("weights in all or none");
    assertThatThrownBy(() -> Ragged.concat(List.of())).hasMessageContaining("got no ragged");
    assertThatThrownBy(() -> x.split(1, 1)).hasMessageContaining("expected 3 sequences in all");
    assertThatThrownBy(() -> x.expand(FIVE)).hasMessageContaining("each of 3 sequences");
    assertThatThrownBy(() -> x.products(two, 3)).hasMessageContaining("got 3 and 2 sequences");
    assertThatThrownBy(() -> x.keep(Tensor.zeros(Shape.of(4)))).hasMessageContaining("5 rows");
  }

  /** The example in the documents of sequence_expand, with reference level 0. */
  @Test
  void sequencesAreRepeatedForEachElementOfOthers() {
    Ragged x = Ragged.of(Tensor.of(Shape.of(4), 1, 2, 3, 4), Levels.ofLengths(new int[] {2, 2}));
    Levels levels = Levels.ofLengths(new int[] {2, 2}, new int[] {3, 3, 1, 1});
    Ragged y = Ragged.of(Tensor.zeros(Shape.of(8)), levels);
    Ragged repeated = x.repeat(y.lengths(0), y.sequences(1), 8);
    assertThat(repeated.toArray()).containsExactly(1, 2, 1, 2, 3, 4, 3, 4);
    assertThat(repeated.levels()).isEqualTo(Levels.ofLengths(new int[] {2, 2, 2, 2}));
  }

  // --- room ---

  @Test
  void aPlanServesBatchesOfAnyLengthsAndReadsNothingOfThoseBefore() {
    try (Device device = Device.cpu(2, 16 << 20);
        RaggedVariable room = RaggedVariable.of(device, "x", new int[] {4, 9}, Shape.of(20, 2))) {
      Ragged x = room.ragged();
      Tensor means = x.outer(x.pool(SequencePooling.MEAN)).pool(SequencePooling.SUM);
      Tensor shares = x.softmax().reverse().pool(SequencePooling.LAST);
      Tensor gradient = Tensor.gradients(means.square().sum(), List.of(x.values())).get(0);
      try (Computation step = Computation.of(device, List.of(means, shares, gradient), Map.of())) {
        for (int batch = 0; batch < 12; batch++) {
          Levels levels = fitting(batch);
          float[] rows = TensorTest.random(batch, levels.rows(), 2).toArray();
          room.set(levels, rows);
          step.run();
          Ragged alone = Ragged.of(Tensor.of(Shape.of(levels.rows(), 2), rows), levels);
          Tensor pooled = alone.outer(alone.pool(SequencePooling.MEAN)).pool(SequencePooling.SUM);
          Tensor slopes = Tensor.gradients(pooled.square().sum(), List.of(alone.values())).get(0);
          float[] ends = alone.softmax().reverse().pool(SequencePooling.LAST).toArray();
          // Sequences without use are empty.
          assertThat(output(step, 0, 8)).containsExactly(Arrays.copyOf(pooled.toArray(), 8));
          assertThat(output(step, 1, 18)).containsExactly(Arrays.copyOf(ends, 18));
          assertThat(output(step, 2, 40)).containsExactly(Arrays.copyOf(slopes.toArray(), 40));
        }
      }
    }
  }

  /** The slope of a root, a logarithm or a quotient at 0 is infinite, and 0 times it no number. */
  @Test
  void gradientsOfWeightsAreNumbersWhereRoomIsFilled() {
    for (Function<Tensor, Tensor> norm :
        List.<Function<Tensor, Tensor>>of(Tensor::sqrt, Tensor::log, Tensor::reciprocal)) {
      try (Device device = Device.cpu(1, 1 << 20);
          RaggedVariable room = RaggedVariable.of(device, "x", 2, Shape.of(5, 2))) {
        Levels levels = Levels.ofLengths(new int[] {2, 1});
        float[] rows = {1, 2, 3, 4, 5, 6};
        room.set(levels, rows);
        Tensor w = Tensor.of(Shape.of(2, 2), 1, 2, 3, 4);
        Ragged alone = Ragged.of(Tensor.of(Shape.of(3, 2), rows), levels);
        assertThat(normSlopes(room.ragged().filled(1), w, norm))
            .containsExactly(normSlopes(alone, w, norm), within(1e-4f));
      }
    }
  }

  private static float[] normSlopes(Ragged x, Tensor w, Function<Tensor, Tensor> norm) {
    Tensor norms = norm.apply(x.values().matmul(w).square().sum(1));
    Tensor loss = x.with(norms).pool(SequencePooling.SUM).sum();
    return Tensor.gradients(loss, List.of(w)).get(0).toArray();
  }

  private static Levels fitting(int seed) {
    Levels levels = random(seed, 2, seed % 5);
    while (levels.sequences(1) > 9 || levels.rows() > 20) {
      levels = levels.slice(0, levels.sequences(0) - 1);
    }
    return levels;
  }

  private static float[] output(Computation step, int index, int count) {
    float[] values = new float[count];
    step.copyOutput(index, values, 0);
    return values;
  }

  @Test
  void rowsOfLongerBatchesBeforeAreZeroed() {
    try (Device device = Device.cpu(1, 1 << 20);
        RaggedVariable room = RaggedVariable.of(device, "x", 3, Shape.of(4, 1));
        Computation read = Computation.of(device, List.of(room.ragged().values()), Map.of())) {
      room.set(Levels.ofLengths(new int[] {2, 2}), 1, Float.NaN, 3, 4);
      room.setOffsets(new int[] {0, 1, 99}, 1);
      read.run();
      assertThat(output(read, 0, 4)).containsExactly(1, 0, 0, 0);
    }
  }

  @Test
  void roomThatCannotBeHadHoldsNoMemory() {
    try (Device device = Device.cpu(1, 1 << 20)) {
      assertThatThrownBy(() -> RaggedVariable.of(device, "x", 1000, Shape.of(1 << 20, 4)));
      assertThatThrownBy(() -> RaggedVariable.of(device, "x", 9, Shape.of()))
          .hasMessageContaining("x: got room for [9] sequences and values []");
      assertThatThrownBy(() -> RaggedVariable.of(device, "x", new int[0], Shape.of(3)))
          .hasMessageContaining("expected one level or more");
      assertThatThrownBy(() -> RaggedVariable.of(device, "x", -1, Shape.of(3)))
          .hasMessageContaining("got room for [-1] sequences");
      assertThat(device.memoryInUse()).isZero();
    }
  }

  @Test
  void whatDoesNotFitIntoTheRoomIsRefusedAndChangesNothing() {
    try (Device device = Device.cpu(1, 1 << 20);
        RaggedVariable room = RaggedVariable.of(device, "clicks", 2, Shape.of(3, 1))) {
      room.set(Levels.ofLengths(new int[] {1, 2}), 1, 2, 3);
      assertThatThrownBy(() -> room.set(Levels.ofLengths(new int[] {1, 1, 1}), 7, 8, 9))
          .hasMessageContaining("clicks: got 3 sequences in level 0, expected at most 2");
      assertThatThrownBy(() -> room.set(Levels.ofLengths(new int[] {4}), 7, 8, 9, 9))
          .hasMessageContaining("clicks: got 4 rows, expected at most 3");
      assertThatThrownBy(() -> room.set(Levels.ofLengths(new int[] {2}), 7, 8, 9))
          .hasMessageContaining("got 3 numbers, expected 2 rows of 1");
      assertThatThrownBy(() -> room.set(Levels.ofLengths(new int[] {1}, new int[] {1}), 7))
          .hasMessageContaining("got 2 levels, expected 1");
      assertThatThrownBy(() -> room.setOffsets(new int[] {0, 2, 1}, 2))
          .hasMessageContaining("got offset 1 at place 2 after 2");
      assertThatThrownBy(() -> room.setOffsets(new int[] {0, 2, 4}, 2))
          .hasMessageContaining("got offset 4 at place 2 after 2, expected 2 to 3");
      for (int sequences : new int[] {-1, 2, 3}) {
        assertThatThrownBy(() -> room.setOffsets(new int[] {0, 1}, sequences))
            .hasMessageContaining(
                "clicks: got " + sequences + " sequences of 2 offsets, expected 0 to 1");
      }
      assertThat(room.ragged().toArray()).containsExactly(1, 2, 3);
    }
  }

  // --- errors ---

  @Test
  void valuesAndLevelsThatDisagreeAreRefused() {
    assertThatThrownBy(() -> Ragged.of(FIVE, Levels.ofLengths(new int[] {2, 4})))
        .hasMessageContaining("got values [5, 1], expected 6 rows, the last offset of level 0");
    assertThatThrownBy(() -> Ragged.of(FIVE, LEVELS).with(Tensor.zeros(Shape.of(4))))
        .hasMessageContaining("expected 5 rows");
    assertThatThrownBy(() -> Ragged.of(FIVE, Tensor.zeros(Shape.of(3))))
        .hasMessageContaining("as offsets of level 0, expected I32");
    assertThatThrownBy(() -> Ragged.of(FIVE, new Tensor[0])).hasMessageContaining("no offsets");
  }

  @Test
  void offsetsThatAreComputedAreCheckedWhereTheyAreUsed() {
    Ragged descending = Ragged.of(FIVE, Tensor.ofInts(Shape.of(4), 0, 4, 2, 5));
    assertThatThrownBy(() -> descending.pool(SequencePooling.SUM).toArray())
        .hasMessageContaining("got offset 2 at place 2 after 4");
    Ragged outside = Ragged.of(FIVE, Tensor.ofInts(Shape.of(3), 0, 4, 6));
    assertThatThrownBy(() -> outside.pool(SequencePooling.MAX).toArray())
        .hasMessageContaining("got offset 6 at place 2 after 4, expected 4 to 5");
    assertThatThrownBy(() -> outside.reverse().values().toArray())
        .hasMessageContaining("mirror: got offset 6");
    Ragged late = Ragged.of(FIVE, Tensor.ofInts(Shape.of(2), 1, 5));
    assertThatThrownBy(() -> late.values().gather(late.sequenceIds()).toArray())
        .hasMessageContaining("got offset 1 at place 0");
  }

  /** What points past its own rows would be rows of the part that follows. */
  @Test
  void offsetsPastTheirRowsAreRefusedByAllReaders() {
    Ragged bad = Ragged.of(FIVE, Tensor.ofInts(Shape.of(3), 0, 1, 6));
    Ragged good = Ragged.of(FIVE, Tensor.ofInts(Shape.of(3), 0, 3, 5));
    Tensor ones = Tensor.ofInts(Shape.of(2), 1, 1);
    List<Supplier<Object>> readers =
        List.of(
            bad::levels,
            bad::toArray,
            () -> bad.lengths().toLongs(),
            () -> bad.mask(5).toArray(),
            () -> bad.pad(6, 0).toArray(),
            () -> bad.pool(SequencePooling.MEAN).toArray(),
            () -> bad.pool(SequencePooling.FIRST).toArray(),
            () -> bad.pool(SequencePooling.LAST).toArray(),
            () -> bad.slice(ones, Tensor.ofInts(Shape.of(2), 0, 1)).toArray(),
            () -> bad.take(ones).values().toArray(),
            () -> bad.reshape(1).lengths().toLongs(),
            () -> bad.reshape(1).levels(),
            () -> bad.unpad(Tensor.zeros(Shape.of(2, 7, 1))).values().toArray(),
            () -> Ragged.concat(List.of(bad, good)).values().toArray(),
            () -> Ragged.merge(List.of(bad, good)).pool(SequencePooling.SUM).toArray());
    for (Supplier<Object> reader : readers) {
      assertThatThrownBy(reader::get)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got offset 6 at place 2 after 1, expected 1 to 5");
    }
    Tensor far = Tensor.ofInts(Shape.of(3), 0, Integer.MAX_VALUE, 5);
    assertThatThrownBy(() -> Ragged.merge(List.of(good, Ragged.of(FIVE, far))).toArray())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got offset 2147483647");
  }

  @Test
  void offsetsPastTheSequencesBelowAreRefused() {
    Tensor inner = Tensor.ofInts(Shape.of(3), 0, 1, 5);
    Ragged past = Ragged.of(FIVE, Tensor.ofInts(Shape.of(2), 0, 3), inner);
    Ragged below = Ragged.of(FIVE, Tensor.ofInts(Shape.of(2), 0, -3), inner);
    Ragged good = Ragged.of(FIVE, Tensor.ofInts(Shape.of(2), 0, 2), inner);
    assertThatThrownBy(past::levels)
        .hasMessageContaining("levels, level 0: got offset 3 at place 1 after 0, expected 0 to 2");
    assertThatThrownBy(below::levels)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got offset -3 at place 1");
    assertThatThrownBy(() -> past.lengths(0).toLongs())
        .hasMessageContaining("lengths: got offset 3");
    assertThatThrownBy(() -> Ragged.merge(List.of(past, good)).values().toArray())
        .hasMessageContaining("lengths: got offset 3 at place 1 after 0, expected 0 to 2");
    assertThat(good.lengths(0).toLongs()).containsExactly(2);
  }

  @Test
  void errorsOfOpsSayWhichSequence() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    assertThatThrownBy(() -> x.pad(2, 0).toArray())
        .hasMessageContaining("got 3 rows in sequence 2, expected at most 2");
    Tensor ones = Tensor.ofInts(Shape.of(3), 1, 1, 1);
    assertThatThrownBy(() -> x.slice(ones, ones).values().toArray())
        .hasMessageContaining("got 1 rows from 1 of sequence 1, expected a part of its 0 rows");
    assertThatThrownBy(() -> x.with(Tensor.zeros(Shape.of(5, 2))).reshape(5).levels())
        .hasMessageContaining("got 4 numbers up to sequence 1, expected rows of 5");
  }

  @Test
  void marksOfHalfPrecisionAreRefused() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    Tensor marks = Tensor.of(Shape.of(5), 1, 0, 0, 1, 0);
    for (DType type : List.of(DType.F32, DType.BOOL, DType.I32, DType.I64)) {
      assertThat(x.keep(marks.cast(type)).toArray()).containsExactly(1, 4);
    }
    for (DType type : List.of(DType.F16, DType.BF16)) {
      assertThatThrownBy(() -> x.keep(marks.cast(type))).hasMessageContaining("cast them first");
    }
  }

  @Test
  void roomThatIsTooSmallIsAnError() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    assertThatThrownBy(() -> x.take(Tensor.ofInts(Shape.of(2), 2, 2), 5).values().toArray())
        .hasMessageContaining("ranges: got offset 6 at place 2 after 3, expected 3 to 5");
    Tensor counts = Tensor.ofInts(Shape.of(3), 1, 1, 2);
    assertThatThrownBy(() -> x.repeat(counts, 3, 9).values().toArray())
        .hasMessageContaining("sequences: got offset 4 at place 3");
    assertThatThrownBy(() -> x.take(Tensor.ofInts(Shape.of(1), 3)).values().toArray())
        .hasMessageContaining("got index 3 at position 0");
  }

  // --- what others got wrong ---

  /** Paddle 1.5 took powers without the maximum: numbers above 88 gave infinity. */
  @Test
  void softmaxOfLargeNumbersIsFinite() {
    Tensor rows = Tensor.of(Shape.of(5), 1000, 1000, 88, 89, -1000);
    float[] shares = Ragged.of(rows, LEVELS).softmax().toArray();
    assertThat(shares).startsWith(0.5f, 0.5f);
    assertThat(shares[2] + shares[3] + shares[4]).isCloseTo(1, within(1e-6f));
  }

  /** Paddle lost levels in ops that did not know them; here what has none is no Ragged. */
  @Test
  void levelsStayThroughWhatComputesOnRows() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    for (Ragged y :
        List.of(x.with(x.values().exp()), x.softmax(), x.reverse(), x.add(x.pad(3, 0)))) {
      assertThat(y.levels()).isEqualTo(LEVELS);
    }
  }

  /** A sequence without rows must not move the gradients of those after it. */
  @Test
  void emptySequencesShiftNoGradients() {
    Ragged x = Ragged.of(FIVE, LEVELS);
    Tensor weights = Tensor.of(Shape.of(3, 1), 10, 20, 30);
    for (SequencePooling kind :
        List.of(
            SequencePooling.SUM,
            SequencePooling.MAX,
            SequencePooling.FIRST,
            SequencePooling.LAST)) {
      Tensor loss = x.pool(kind).mul(weights).sum();
      float[] slopes = Tensor.gradients(loss, List.of(FIVE)).get(0).toArray();
      assertThat(slopes[0] + slopes[1]).isEqualTo(kind == SequencePooling.SUM ? 20 : 10);
      assertThat(slopes[2] + slopes[3] + slopes[4])
          .isEqualTo(kind == SequencePooling.SUM ? 90 : 30);
    }
  }

  @Test
  void equalLargestNumbersShareTheirGradient() {
    Tensor rows = Tensor.of(Shape.of(3), 2, 2, 1);
    Tensor loss = Ragged.of(rows, Levels.ofLengths(new int[] {3})).pool(SequencePooling.MAX).sum();
    assertThat(Tensor.gradients(loss, List.of(rows)).get(0).toArray())
        .containsExactly(0.5f, 0.5f, 0);
  }

  /** Paddle pooled one level, later two. */
  @Test
  void sixLevelsArePooled() {
    Ragged x = ragged(Levels.ofLengths(one(2), one(2), one(2), one(2), one(2), one(2)), 1);
    while (x.depth() > 1) {
      x = x.outer(x.pool(SequencePooling.MEAN));
    }
    assertThat(x.pool(SequencePooling.MEAN).shape()).isEqualTo(Shape.of(2, 1));
  }

  private static int[] one(int count) {
    int[] lengths = new int[count];
    Arrays.fill(lengths, 1);
    return lengths;
  }

  /** One float for all rows would stay at 2^24. */
  @Test
  void sumsOfLongSequencesLoseLittle() {
    int count = 1 << 16;
    for (int width : new int[] {1, 5}) {
      float[] rows = new float[count * width];
      Arrays.fill(rows, 1);
      Arrays.fill(rows, 0, width, 1 << 24);
      Ragged x =
          Ragged.of(Tensor.of(Shape.of(count, width), rows), Levels.ofLengths(new int[] {count}));
      for (float sum : x.pool(SequencePooling.SUM).toArray()) {
        assertThat(sum).isBetween((1 << 24) + count - 64f, (float) (1 << 24) + count);
      }
    }
  }

  @Test
  void threadsChangeNoBits() {
    Levels levels = Levels.ofLengths(new Random(3).ints(500, 0, 9).toArray());
    float[] rows = TensorTest.random(4, levels.rows(), 5).toArray();
    List<float[]> results = new ArrayList<>();
    for (int threads = 1; threads <= 3; threads++) {
      try (Device device = Device.cpu(threads, 16 << 20)) {
        Ragged x = Ragged.of(Tensor.of(Shape.of(levels.rows(), 5), rows), levels);
        Tensor pooled = x.softmax().pool(SequencePooling.SQRT);
        try (Computation step = Computation.of(device, List.of(pooled), Map.of())) {
          step.run();
          results.add(output(step, 0, 2500));
        }
      }
    }
    assertThat(results.get(1)).containsExactly(results.get(0));
    assertThat(results.get(2)).containsExactly(results.get(0));
  }

  @Test
  void aTightBudgetChangesNoBits() {
    Levels levels = Levels.ofLengths(new Random(3).ints(300, 0, 9).toArray());
    float[] rows = TensorTest.random(4, levels.rows(), 6).toArray();
    Run whole = trained(levels, rows, 16 << 20);
    Run tight = trained(levels, rows, whole.memory * 4 / 5);
    assertThat(tight.memory).isLessThanOrEqualTo(whole.memory * 4 / 5);
    assertThat(tight.gradient).containsExactly(whole.gradient);
  }

  private record Run(long memory, float[] gradient) {}

  private static Run trained(Levels levels, float[] rows, long budget) {
    try (Device device = Device.cpu(2, 16 << 20, budget)) {
      Tensor values = Tensor.of(Shape.of(levels.rows(), 6), rows);
      Ragged x = Ragged.of(values, levels);
      Ragged y = x.with(x.values().mul(2).tanh()).softmax().reverse();
      Tensor loss =
          y.mul(x.pad(8, 1))
              .pool(SequencePooling.MAX)
              .add(y.pool(SequencePooling.LAST))
              .square()
              .sum();
      Tensor gradient = Tensor.gradients(loss, List.of(values)).get(0);
      try (Computation step = Computation.of(device, List.of(gradient), Map.of())) {
        step.run();
        return new Run(step.memory(), output(step, 0, rows.length));
      }
    }
  }
}
