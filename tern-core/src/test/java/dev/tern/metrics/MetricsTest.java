package dev.tern.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MetricsTest {
  private static Metrics.Result of(float[] logits, float[] labels) {
    Metrics metrics = new Metrics();
    metrics.addLogits(logits, labels, logits.length);
    return metrics.result();
  }

  /** Every pair of a row labelled 1 and one labelled 0. */
  private static double bruteForceAuc(float[] scores, float[] labels) {
    double wins = 0;
    long pairs = 0;
    for (int p = 0; p < scores.length; p++) {
      for (int n = 0; n < scores.length; n++) {
        if (labels[p] == 1 && labels[n] == 0) {
          pairs++;
          wins += scores[p] > scores[n] ? 1 : scores[p] == scores[n] ? 0.5 : 0;
        }
      }
    }
    return wins / pairs;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 3000})
  void aucEqualsBruteForceWithAndWithoutTies(int count) {
    for (int values : new int[] {1, 2, 5, 100, 1 << 20}) {
      long seed = 31L * count + values;
      SplittableRandom random = new SplittableRandom(seed);
      float[] logits = new float[count];
      float[] labels = new float[count];
      for (int i = 0; i < count; i++) {
        logits[i] = (random.nextInt(values) - values / 2) / 7f;
        labels[i] = random.nextInt(3) == 0 ? 1 : 0;
      }
      assertThat(of(logits, labels).auc())
          .as("seed %d", seed)
          .isEqualTo(Double.valueOf(bruteForceAuc(logits, labels)));
    }
  }

  @Test
  void aucOfKnownCases() {
    assertThat(of(new float[] {1, 2, 3, 4}, new float[] {0, 0, 1, 1}).auc()).isEqualTo(1);
    assertThat(of(new float[] {1, 2, 3, 4}, new float[] {1, 1, 0, 0}).auc()).isEqualTo(0);
    assertThat(of(new float[] {5, 5, 5, 5}, new float[] {1, 0, 1, 0}).auc()).isEqualTo(0.5);
    assertThat(of(new float[] {1, 2, 2, 3}, new float[] {0, 1, 0, 1}).auc()).isEqualTo(0.875);
    assertThat(of(new float[] {-0.0f, 0.0f}, new float[] {0, 1}).auc()).isEqualTo(0.5);
    assertThat(of(new float[] {0.0f, -0.0f}, new float[] {0, 1}).auc()).isEqualTo(0.5);
    float inf = Float.POSITIVE_INFINITY;
    assertThat(of(new float[] {-inf, inf, inf}, new float[] {0, 1, 0}).auc()).isEqualTo(0.75);
  }

  @Test
  void aucOfOneClassIsUndefined() {
    assertThat(of(new float[] {1, 2}, new float[] {1, 1}).auc()).isNaN();
    assertThat(of(new float[] {1, 2}, new float[] {0, 0}).auc()).isNaN();
    assertThat(of(new float[] {}, new float[] {}).auc()).isNaN();
  }

  @Test
  void aucOfMillionsOfRowsIsExact() {
    int count = 2_000_000;
    float[] logits = new float[count];
    float[] labels = new float[count];
    for (int i = 0; i < count; i++) {
      logits[i] = i / 4;
      labels[i] = i % 2;
    }
    // Groups of four rows tie, two of each label: wins are all pairs of groups in order, ties half.
    double groups = count / 4;
    double pairs = 4 * groups * groups;
    assertThat(of(logits, labels).auc())
        .isEqualTo((4 * groups * (groups - 1) / 2 + 2 * groups) / pairs);
  }

  @Test
  void logLossOfLogitsIsThatOfTheirProbabilities() {
    float[] logits = {-3, -0.5f, 0, 0.25f, 2, 5};
    float[] labels = {0, 1, 1, 0, 1, 0};
    double loss = 0;
    double predicted = 0;
    for (int i = 0; i < logits.length; i++) {
      double probability = 1 / (1 + Math.exp(-logits[i]));
      loss -= Math.log(labels[i] == 1 ? probability : 1 - probability) / logits.length;
      predicted += probability;
    }
    Metrics.Result result = of(logits, labels);
    assertThat(result.logLoss()).isCloseTo(loss, within(1e-14));
    assertThat(result.calibration()).isCloseTo(predicted / 3, within(1e-14));
    assertThat(result.rows()).isEqualTo(6);
    assertThat(result.positives()).isEqualTo(3);
    assertThat(result.positiveRate()).isEqualTo(0.5);
  }

  @Test
  void theDeviationOfTheAucIsThatOfDeLong() {
    SplittableRandom random = new SplittableRandom(3);
    int count = 300;
    float[] logits = new float[count];
    float[] labels = new float[count];
    for (int i = 0; i < count; i++) {
      labels[i] = random.nextInt(4) == 0 ? 1 : 0;
      // Few values, so that there are ties.
      logits[i] = Math.round(4 * (random.nextGaussian() + labels[i])) / 4f;
    }
    double variance = 0;
    for (int label = 0; label < 2; label++) {
      List<Double> shares = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        double wins = 0;
        int others = 0;
        for (int j = 0; j < count && labels[i] == label; j++) {
          double order = Math.signum(logits[i] - logits[j]) * (2 * label - 1);
          others += labels[j] == label ? 0 : 1;
          wins += labels[j] == label ? 0 : (1 + order) / 2;
        }
        if (labels[i] == label) {
          shares.add(wins / others);
        }
      }
      double mean = shares.stream().mapToDouble(v -> v).average().orElseThrow();
      double squares = shares.stream().mapToDouble(v -> (v - mean) * (v - mean)).sum();
      variance += squares / (shares.size() - 1) / shares.size();
    }
    Metrics.Result result = of(logits, labels);
    assertThat(result.aucDeviation()).isCloseTo(Math.sqrt(variance), within(1e-12));
    assertThat(result.aucLow()).isCloseTo(result.auc() - 1.96 * Math.sqrt(variance), within(1e-5));
    assertThat(result.aucHigh()).isCloseTo(result.auc() + 1.96 * Math.sqrt(variance), within(1e-5));
  }

  @Test
  void theDeviationOfTheAucIsThatOfManySamples() {
    SplittableRandom random = new SplittableRandom(4);
    List<Double> aucs = new ArrayList<>();
    double deviation = 0;
    int samples = 400;
    for (int s = 0; s < samples; s++) {
      float[] logits = new float[400];
      float[] labels = new float[400];
      for (int i = 0; i < 400; i++) {
        labels[i] = i % 4 == 0 ? 1 : 0;
        logits[i] = (float) (random.nextGaussian() + labels[i]);
      }
      Metrics.Result result = of(logits, labels);
      aucs.add(result.auc());
      deviation += result.aucDeviation() / samples;
    }
    double mean = aucs.stream().mapToDouble(v -> v).average().orElseThrow();
    double squares = aucs.stream().mapToDouble(v -> (v - mean) * (v - mean)).sum();
    // A deviation of 400 samples is itself known to 4 percent.
    assertThat(Math.sqrt(squares / (samples - 1)) / deviation).isCloseTo(1, within(0.15));
  }

  @Test
  void normalizedEntropyIsOneForTheRateAlone() {
    float logit = (float) Math.log(0.25 / 0.75);
    float[] logits = {logit, logit, logit, logit};
    assertThat(of(logits, new float[] {0, 1, 0, 0}).normalizedEntropy()).isCloseTo(1, within(1e-6));
    assertThat(of(logits, new float[] {0, 0, 0, 0}).normalizedEntropy()).isNaN();
    assertThat(of(new float[] {1, -1}, new float[] {1, 0}).normalizedEntropy())
        .isCloseTo(Math.log1p(Math.exp(-1)) / Math.log(2), within(1e-12));
  }

  @Test
  void relativeCrossEntropyIsWhatScoresSaveOfTheRatesLoss() {
    float logit = (float) Math.log(0.25 / 0.75);
    float[] labels = {0, 1, 0, 0};
    assertThat(of(new float[] {logit, logit, logit, logit}, labels).relativeCrossEntropy())
        .isCloseTo(0, within(1e-4));
    Metrics.Result result = of(new float[] {-1, 1, -1, -1}, labels);
    double loss = Math.log1p(Math.exp(-1));
    double ofRate = -0.25 * Math.log(0.25) - 0.75 * Math.log(0.75);
    assertThat(result.relativeCrossEntropy())
        .isCloseTo(100 * (ofRate - loss) / ofRate, within(1e-9));
    assertThat(of(new float[] {9, -9}, new float[] {0, 1}).relativeCrossEntropy()).isNegative();
    assertThat(of(new float[] {1, 1}, new float[] {1, 1}).relativeCrossEntropy()).isNaN();
  }

  @Test
  void logLossOfExtremeLogitsIsStable() {
    assertThat(of(new float[] {1e30f, -1e30f}, new float[] {1, 0}).logLoss()).isZero();
    assertThat(of(new float[] {-100}, new float[] {1}).logLoss()).isEqualTo(100);
    assertThat(of(new float[] {100}, new float[] {0}).logLoss()).isEqualTo(100);
    assertThat(of(new float[] {-100}, new float[] {0}).logLoss())
        .isCloseTo(Math.exp(-100), within(1e-58));
    float inf = Float.POSITIVE_INFINITY;
    assertThat(of(new float[] {inf, -inf}, new float[] {1, 0}).logLoss()).isZero();
    assertThat(of(new float[] {inf}, new float[] {0}).logLoss()).isInfinite();
    assertThat(of(new float[] {inf, -inf}, new float[] {1, 0}).calibration()).isEqualTo(1);
  }

  @Test
  void probabilitiesAgreeWithLogits() {
    float[] probabilities = {0.1f, 0.9f, 0.5f, 0.25f};
    float[] labels = {0, 1, 1, 0};
    float[] logits = new float[4];
    for (int i = 0; i < 4; i++) {
      logits[i] = (float) Math.log(probabilities[i] / (1 - probabilities[i]));
    }
    Metrics metrics = new Metrics();
    metrics.addProbabilities(probabilities, labels, 4);
    Metrics.Result expected = of(logits, labels);
    assertThat(metrics.result().auc()).isEqualTo(expected.auc());
    assertThat(metrics.result().logLoss()).isCloseTo(expected.logLoss(), within(1e-6));
    assertThat(metrics.result().calibration()).isCloseTo(expected.calibration(), within(1e-6));
  }

  @Test
  void figuresDoNotDependOnHowCallsCutRows() {
    long seed = 8;
    SplittableRandom random = new SplittableRandom(seed);
    float[] logits = new float[5000];
    float[] labels = new float[5000];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) random.nextGaussian();
      labels[i] = random.nextInt(2);
    }
    Metrics.Result whole = of(logits, labels);
    Metrics pieces = new Metrics();
    for (int at = 0; at < logits.length; ) {
      int to = Math.min(logits.length, at + random.nextInt(200));
      pieces.addLogits(
          Arrays.copyOfRange(logits, at, to), Arrays.copyOfRange(labels, at, to), to - at);
      at = to;
      pieces.result();
    }
    assertThat(pieces.result()).as("seed %d", seed).isEqualTo(whole);
  }

  @Test
  void clearForgetsAllRows() {
    Metrics metrics = new Metrics();
    metrics.addLogits(new float[] {3, 1}, new float[] {0, 1}, 2);
    metrics.clear();
    assertThat(metrics.result().rows()).isZero();
    assertThat(metrics.result().logLoss()).isNaN();
    assertThat(metrics.result().calibration()).isNaN();
    metrics.addLogits(new float[] {1, 3}, new float[] {0, 1}, 2);
    assertThat(metrics.result()).isEqualTo(of(new float[] {1, 3}, new float[] {0, 1}));
  }

  @Test
  void rowsThatMeanNothingAreRefused() {
    float nan = Float.NaN;
    Metrics metrics = new Metrics();
    assertThatThrownBy(() -> metrics.addLogits(new float[] {1, nan}, new float[] {1, 1}, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "metrics: got the score NaN in row 1 (1 of this call), expected a number; look for"
                + " huge values among the features of the row, or lower the learning rate where"
                + " training diverged");
    assertThatThrownBy(() -> metrics.addLogits(new float[] {1}, new float[] {2}, 1))
        .hasMessageContaining("got the label 2.0 in row 1 (0 of this call), expected 0 or 1");
    assertThatThrownBy(() -> metrics.addLogits(new float[] {1}, new float[] {nan}, 1))
        .hasMessageContaining("expected 0 or 1");
    for (float probability : new float[] {-0.1f, 1.1f, nan}) {
      assertThatThrownBy(
              () -> metrics.addProbabilities(new float[] {probability}, new float[] {1}, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("expected 0 to 1");
    }
  }

  private static Metrics.Result weighted(float[] logits, float[] labels, float[] weights) {
    Metrics metrics = Metrics.ofSoftLabels();
    metrics.addLogits(logits, labels, weights, logits.length);
    return metrics.result();
  }

  @Test
  void aWeightedRowCountsAsSoManyRows() {
    SplittableRandom random = new SplittableRandom(8);
    for (int values : new int[] {2, 5, 1000}) {
      List<float[]> rows = new ArrayList<>();
      Metrics repeated = new Metrics();
      for (int i = 0; i < 200; i++) {
        float logit = (random.nextInt(values) - values / 2) / 3f;
        float label = random.nextInt(3) == 0 ? 1 : 0;
        int times = random.nextInt(4);
        rows.add(new float[] {logit, label, times});
        for (int k = 0; k < times; k++) {
          repeated.addLogits(new float[] {logit}, new float[] {label}, 1);
        }
      }
      requireSameFigures(weighted(column(rows, 0), column(rows, 1), column(rows, 2)), repeated);
    }
  }

  @Test
  void aSoftLabelIsARowOfEachLabel() {
    SplittableRandom random = new SplittableRandom(9);
    List<float[]> rows = new ArrayList<>();
    Metrics repeated = new Metrics();
    for (int i = 0; i < 150; i++) {
      float logit = (random.nextInt(20) - 10) / 3f;
      int shown = 1 + random.nextInt(8);
      int clicked = random.nextInt(shown + 1);
      rows.add(new float[] {logit, (float) clicked / shown, shown});
      for (int k = 0; k < shown; k++) {
        repeated.addLogits(new float[] {logit}, new float[] {k < clicked ? 1 : 0}, 1);
      }
    }
    requireSameFigures(weighted(column(rows, 0), column(rows, 1), column(rows, 2)), repeated);
  }

  private static float[] column(List<float[]> rows, int column) {
    float[] values = new float[rows.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = rows.get(i)[column];
    }
    return values;
  }

  private static void requireSameFigures(Metrics.Result got, Metrics repeated) {
    Metrics.Result expected = repeated.result();
    assertThat(got.auc()).isCloseTo(expected.auc(), within(1e-6));
    assertThat(got.logLoss()).isCloseTo(expected.logLoss(), within(1e-6));
    assertThat(got.calibration()).isCloseTo(expected.calibration(), within(1e-6));
    assertThat(got.positiveRate()).isCloseTo(expected.positiveRate(), within(1e-6));
    assertThat(got.normalizedEntropy()).isCloseTo(expected.normalizedEntropy(), within(1e-6));
    assertThat(got.aucDeviation()).isNaN();
  }

  @Test
  void weightsOfOneGiveTheFiguresOfRowsWithoutToTheBit() {
    float[] logits = {-3, -0.5f, 0, 0.25f, 0, 5};
    float[] labels = {0, 1, 1, 0, 0, 1};
    Metrics metrics = new Metrics();
    metrics.addLogits(logits, labels, new float[] {1, 1, 1, 1, 1, 1}, 6);
    assertThat(metrics.result()).isEqualTo(of(logits, labels));
  }

  @Test
  void theFiguresOfKnownWeightedRows() {
    // Pairs won: 2 x 1 of 2 x (1 + 3), and the half of 2 x 3.
    float[] logits = {1, 0, 1, -4};
    float inf = Float.POSITIVE_INFINITY;
    Metrics.Result result = weighted(logits, new float[] {1, 0, 0, 1}, new float[] {2, 1, 3, 0});
    assertThat(result.auc()).isCloseTo(5 / 8.0, within(1e-15));
    assertThat(result.positiveRate()).isCloseTo(2 / 6.0, within(1e-15));
    assertThat(result.rows()).isEqualTo(4);
    assertThat(result.positives()).isEqualTo(2);
    Metrics.Result none = weighted(new float[] {inf, 1}, new float[] {0, 1}, new float[] {0, 1});
    assertThat(none.logLoss()).isCloseTo(Math.log1p(Math.exp(-1)), within(1e-15));
    assertThat(none.auc()).isNaN();
    Metrics.Result infinite =
        weighted(new float[] {-inf, inf}, new float[] {0, 1}, new float[] {2, 1});
    assertThat(infinite.logLoss()).isZero();
    assertThat(infinite.auc()).isEqualTo(1);
    assertThat(weighted(new float[] {1}, new float[] {1}, new float[] {0}).logLoss()).isNaN();
  }

  @Test
  void howSureTheAucOfWeightedRowsIsDoesNotDependOnTheirUnit() {
    SplittableRandom random = new SplittableRandom(10);
    Metrics plain = new Metrics();
    Metrics tenfold = new Metrics();
    Metrics uneven = new Metrics();
    for (int i = 0; i < 2000; i++) {
      float label = random.nextInt(3) == 0 ? 1 : 0;
      float logit = (float) (label + random.nextGaussian());
      plain.addLogit(logit, label, 1, 0);
      tenfold.addLogit(logit, label, 10, 0);
      uneven.addLogit(logit, label, random.nextInt(10) == 0 ? 10 : 0.1f, 0);
    }
    double expected = plain.result().aucDeviation();
    assertThat(tenfold.result().aucDeviation()).isCloseTo(expected, within(1e-12));
    // A tenth of the rows has nearly all of the weight.
    assertThat(uneven.result().aucDeviation() / expected).isBetween(2.5, 3.8);
  }

  @Test
  void weightsThatMeanNothingAreRefused() {
    Metrics metrics = new Metrics();
    for (float weight : new float[] {-1, Float.NaN, Float.POSITIVE_INFINITY}) {
      assertThatThrownBy(
              () -> metrics.addLogits(new float[] {1}, new float[] {1}, new float[] {weight}, 1))
          .hasMessageContaining(
              "got the weight %s in row 0 (0 of this call), expected a finite number", weight);
    }
    assertThatThrownBy(
            () -> Metrics.ofSoftLabels().addLogits(new float[] {1}, new float[] {1.5f}, 1))
        .hasMessageContaining("got the label 1.5 in row 0 (0 of this call), expected 0 to 1");
  }
}
