package dev.tern.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The loss of pairs in a batch beside its formula in plain Java. */
final class InBatchSoftmaxTest {
  private static final int D = 5;

  private record Pairs(
      int rows, float[] users, float[] items, float[] numbers, float[] rates, float[] rewards) {
    static Pairs random(int rows, int distinct, Random random) {
      return random(rows, 0, distinct, random);
    }

    /** Pairs with further items behind those of rows. */
    static Pairs random(int rows, int drawn, int distinct, Random random) {
      int all = rows + drawn;
      float[] numbers = new float[all];
      float[] rates = new float[all];
      float[] rewards = new float[rows];
      for (int i = 0; i < all; i++) {
        numbers[i] = random.nextInt(distinct);
        rates[i] = numbers[i] / 7;
      }
      for (int i = 0; i < rows; i++) {
        rewards[i] = random.nextInt(3) == 0 ? 0 : random.nextFloat();
      }
      return new Pairs(
          rows, normal(random, rows * D), normal(random, all * D), numbers, rates, rewards);
    }

    private static float[] normal(Random random, int count) {
      float[] values = new float[count];
      for (int i = 0; i < count; i++) {
        values[i] = (float) random.nextGaussian();
      }
      return values;
    }

    Tensor loss(Tensor u, Tensor v) {
      Shape ofItems = Shape.of(numbers.length);
      return InBatchSoftmax.loss(
          u,
          v,
          Tensor.of(ofItems, numbers),
          Tensor.of(ofItems, rates),
          Tensor.of(Shape.of(rows), rewards));
    }

    Tensor vectors(float[] values) {
      return Tensor.of(Shape.of(values.length / D, D), values);
    }

    double plain() {
      double sum = 0;
      double all = 0;
      for (int i = 0; i < rows; i++) {
        double own = Math.exp(score(i, i));
        double bottom = own;
        for (int j = 0; j < numbers.length; j++) {
          bottom += numbers[i] == numbers[j] ? 0 : Math.exp(score(i, j));
        }
        sum -= rewards[i] * Math.log(own / bottom);
        all += rewards[i];
      }
      return all == 0 ? 0 : sum / all;
    }

    private double score(int i, int j) {
      double dot = 0;
      for (int d = 0; d < D; d++) {
        dot += (double) users[i * D + d] * items[j * D + d];
      }
      return dot - rates[j];
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 9, 15, 16, 17, 33, 64})
  void theLossFollowsItsFormula(int rows) {
    Random random = new Random(rows);
    for (int distinct : new int[] {1, 3, 1000}) {
      Pairs pairs = Pairs.random(rows, distinct, random);
      float loss = pairs.loss(pairs.vectors(pairs.users), pairs.vectors(pairs.items)).item();
      assertThat((double) loss).isCloseTo(pairs.plain(), within(2e-5 * (1 + pairs.plain())));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 8, 17})
  void itemsBehindThoseOfRowsAreNegativesOfEveryRow(int rows) {
    Random random = new Random(rows);
    for (int drawn : new int[] {1, 5, 64}) {
      for (int distinct : new int[] {1, 3, 1000}) {
        Pairs pairs = Pairs.random(rows, drawn, distinct, random);
        float loss = pairs.loss(pairs.vectors(pairs.users), pairs.vectors(pairs.items)).item();
        assertThat((double) loss).isCloseTo(pairs.plain(), within(2e-5 * (1 + pairs.plain())));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 6})
  void gradientsAgreeWithFiniteDifferences(int drawn) {
    Pairs pairs = Pairs.random(9, drawn, 5, new Random(2));
    Tensor users = pairs.vectors(pairs.users);
    Tensor items = pairs.vectors(pairs.items);
    List<Tensor> gradients = Tensor.gradients(pairs.loss(users, items), List.of(users, items));
    for (int of = 0; of < 2; of++) {
      float[] values = of == 0 ? pairs.users : pairs.items;
      float[] gradient = gradients.get(of).toArray();
      for (int i = 0; i < values.length; i++) {
        float before = values[i];
        values[i] = before + 1e-3f;
        double more = pairs.plain();
        values[i] = before - 1e-3f;
        double less = pairs.plain();
        values[i] = before;
        assertThat((double) gradient[i]).isCloseTo((more - less) / 2e-3, within(2e-4));
      }
    }
  }

  @Test
  void theExampleOfTheDocumentationHolds() {
    Shape two = Shape.of(2);
    float loss =
        InBatchSoftmax.loss(
                Tensor.of(Shape.of(2, 1), 1, 1),
                Tensor.of(Shape.of(2, 1), 2, 1),
                Tensor.of(two, 0, 1),
                Tensor.zeros(two),
                Tensor.of(two, 1, 0))
            .item();
    assertThat(loss).isCloseTo(0.3133f, within(1e-4f));
  }

  @Test
  void withoutRewardsOrNegativesTheLossAndItsGradientsAreZero() {
    Pairs lonely = Pairs.random(6, 1, new Random(3));
    Pairs idle = Pairs.random(6, 6, new Random(4));
    Arrays.fill(idle.rewards, 0);
    for (Pairs pairs : List.of(lonely, idle)) {
      Tensor users = pairs.vectors(pairs.users);
      Tensor items = pairs.vectors(pairs.items);
      Tensor loss = pairs.loss(users, items);
      assertThat(loss.item()).isZero();
      for (Tensor gradient : Tensor.gradients(loss, List.of(users, items))) {
        assertThat(gradient.toArray()).containsOnly(0);
      }
    }
  }

  @Test
  void hugeScoresGiveFiniteLosses() {
    Pairs pairs = Pairs.random(8, 8, new Random(5));
    Tensor users = pairs.vectors(pairs.users).mul(1e4f);
    Tensor items = pairs.vectors(pairs.items);
    Tensor loss = pairs.loss(users, items);
    assertThat(loss.item()).isFinite().isPositive();
    for (Tensor gradient : Tensor.gradients(loss, List.of(users, items))) {
      for (float value : gradient.toArray()) {
        assertThat(value).isFinite();
      }
    }
  }

  @Test
  void normalizedVectorsHaveLengthOneAndZeroStaysZero() {
    Tensor x = Tensor.of(Shape.of(3, 2), 3, 4, 0, 0, -1e-3f, 0);
    assertThat(InBatchSoftmax.normalized(x).toArray())
        .containsExactly(new float[] {0.6f, 0.8f, 0, 0, -1, 0}, within(1e-6f));
  }
}
