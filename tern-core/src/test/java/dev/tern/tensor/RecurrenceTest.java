package dev.tern.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Recurrent units over sequences of any lengths. */
final class RecurrenceTest {
  private static final int[] LENGTHS = {0, 5, 1, 0, 12, 3};
  private static final int ROWS = Arrays.stream(LENGTHS).sum();
  private static final int SPARE = 4;

  private static int[] offsets(int... lengths) {
    int[] offsets = new int[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      offsets[i + 1] = offsets[i] + lengths[i];
    }
    return offsets;
  }

  /** Sequences of gates with weights; spare rows hold no numbers. */
  private static Ragged sequences(int width) {
    float[] gates = TensorTest.random(31, ROWS, 3 * width).toArray();
    float[] weights = TensorTest.random(32, ROWS).sigmoid().toArray();
    int used = gates.length;
    gates = Arrays.copyOf(gates, used + 3 * width * SPARE);
    weights = Arrays.copyOf(weights, ROWS + SPARE);
    Arrays.fill(gates, used, gates.length, Float.NaN);
    Arrays.fill(weights, ROWS, ROWS + SPARE, Float.NaN);
    Tensor values = Tensor.of(Shape.of(ROWS + SPARE, 3 * width), gates);
    return Ragged.of(values, Tensor.ofInts(Shape.of(LENGTHS.length + 1), offsets(LENGTHS)))
        .weighted(Tensor.of(Shape.of(ROWS + SPARE), weights));
  }

  private static Tensor recurrent(int width) {
    return TensorTest.random(33, width, 3 * width).mul((float) (1 / Math.sqrt(width)));
  }

  private static double[] doubles(float[] values, int from, int count) {
    double[] result = new double[count];
    Arrays.setAll(result, i -> values[from + i]);
    return result;
  }

  private static float[] plain(Ragged x, Tensor recurrent, boolean weighted) {
    float[] gates = x.values().toArray();
    float[] weights = x.weights().orElseThrow().toArray();
    double[] u = doubles(recurrent.toArray(), 0, recurrent.shape().elements());
    int width = recurrent.shape().size(0);
    float[] all = new float[x.rows() * width];
    int row = 0;
    for (int length : LENGTHS) {
      double[][] given = new double[length][];
      double[] factors = new double[length];
      for (int i = 0; i < length; i++) {
        given[i] = doubles(gates, (row + i) * 3 * width, 3 * width);
        factors[i] = weighted ? weights[row + i] : 1;
      }
      for (double[] state : PlainStates.of(given, factors, u)) {
        for (int i = 0; i < width; i++) {
          all[row * width + i] = (float) state[i];
        }
        row++;
      }
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65})
  void statesOfEveryWidthAreThoseOfALoop(int width) {
    Ragged x = sequences(width);
    Tensor u = recurrent(width);
    assertThat(x.gru(u).values().toArray()).containsExactly(plain(x, u, true), within(1e-5f));
    assertThat(x.unweighted().gru(u).values().toArray())
        .containsExactly(plain(x, u, false), within(1e-5f));
  }

  @Test
  void anElementOfWeightZeroLeavesTheStateAsItWas() {
    Tensor gates = TensorTest.random(1, 3, 6);
    Ragged x = Ragged.of(gates, Levels.ofLengths(new int[] {3}));
    float[] states =
        x.weighted(Tensor.of(Shape.of(3), 1, 0, 0)).gru(recurrent(2)).values().toArray();
    assertThat(Arrays.copyOfRange(states, 2, 4)).isEqualTo(Arrays.copyOf(states, 2));
    assertThat(Arrays.copyOfRange(states, 4, 6)).isEqualTo(Arrays.copyOf(states, 2));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 8, 17})
  void gradientsOfAllInputsAreNumbersAndNoneReachesSpareRows(int width) {
    Ragged x = sequences(width);
    Tensor u = recurrent(width);
    Tensor loss = x.gru(u).pool(SequencePooling.LAST).square().sum();
    Tensor weights = x.weights().orElseThrow();
    List<Tensor> slopes = Tensor.gradients(loss, List.of(x.values(), weights, u));
    float[] ofGates = slopes.get(0).toArray();
    float[] ofWeights = slopes.get(1).toArray();
    assertThat(size(ofGates, 0)).isFinite().isPositive();
    assertThat(size(ofWeights, 0)).isFinite().isPositive();
    assertThat(size(slopes.get(2).toArray(), 0)).isFinite().isPositive();
    assertThat(size(ofGates, ROWS * 3 * width)).isZero();
    assertThat(size(ofWeights, ROWS)).isZero();
  }

  private static double size(float[] values, int from) {
    double size = 0;
    for (int i = from; i < values.length; i++) {
      size += Math.abs(values[i]);
    }
    return size;
  }

  @Test
  void gradientsOfFewRowsAgreeWithFiniteDifferences() {
    int width = 3;
    Levels levels = Levels.ofLengths(new int[] {2, 0, 3});
    Tensor gates = TensorTest.random(4, 5, 3 * width);
    Tensor weights = TensorTest.random(5, 5);
    Tensor u = recurrent(width);
    TensorTest.checkGradient(
        x -> Ragged.of(x, levels).weighted(weights).gru(u).values(), gates, 5, 3 * width);
    TensorTest.checkGradient(x -> Ragged.of(gates, levels).weighted(x).gru(u).values(), weights, 5);
    TensorTest.checkGradient(
        x -> Ragged.of(gates, levels).weighted(weights).gru(x).values(), u, width, 3 * width);
  }

  private record Run(long memory, float[] gradient) {}

  /** A unit over a unit, as DIEN has them. */
  private static Run trained(int threads, long budget) {
    int width = 6;
    Levels levels = Levels.ofLengths(new Random(3).ints(120, 0, 9).toArray());
    Tensor values = TensorTest.random(4, levels.rows(), width);
    Tensor narrow = TensorTest.random(5, width, 3 * width);
    Tensor u = recurrent(width);
    try (Device device = Device.cpu(threads, 16 << 20, budget)) {
      Ragged x = Ragged.of(values, levels);
      Ragged first = x.with(x.values().matmul(narrow)).gru(u);
      Tensor shares = first.values().sum(1).sigmoid();
      Ragged second = first.with(first.values().matmul(narrow)).weighted(shares).gru(u);
      Tensor loss = second.pool(SequencePooling.LAST).square().sum();
      List<Tensor> slopes = Tensor.gradients(loss, List.of(values, narrow, u));
      try (Computation step = Computation.of(device, slopes, Map.of())) {
        step.run();
        float[] all = new float[(levels.rows() + 6 * width) * width];
        int at = 0;
        for (int i = 0; i < slopes.size(); i++) {
          step.copyOutput(i, all, at);
          at += slopes.get(i).shape().elements();
        }
        return new Run(step.memory(), all);
      }
    }
  }

  @Test
  void threadsAndATightBudgetChangeNoBits() {
    Run whole = trained(1, 16 << 20);
    List<Run> others = new ArrayList<>();
    others.add(trained(2, 16 << 20));
    others.add(trained(3, 16 << 20));
    Run tight = trained(2, whole.memory * 7 / 8);
    assertThat(tight.memory).isLessThanOrEqualTo(whole.memory * 7 / 8);
    others.add(tight);
    for (Run other : others) {
      assertThat(other.gradient).containsExactly(whole.gradient);
    }
  }

  @Test
  void shapesThatDoNotFitAndOffsetsOutsideTheRowsAreRefused() {
    Ragged x = Ragged.of(TensorTest.random(1, 4, 6), Levels.ofLengths(new int[] {1, 3}));
    assertThatThrownBy(() -> x.gru(TensorTest.random(2, 3, 9)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("gru: got gates F32[4, 6], expected F32[4, 9]");
    assertThatThrownBy(() -> x.gru(TensorTest.random(2, 2, 5)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("gru: got recurrent weights F32[2, 5], expected F32[2, 6]");
    Ragged wrong = Ragged.of(TensorTest.random(1, 4, 6), Tensor.ofInts(Shape.of(3), 0, 2, 5));
    assertThatThrownBy(() -> wrong.gru(recurrent(2)).values().toArray())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("gru: got offset 5 at place 2");
  }
}
