package dev.tern.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PairedMetricsTest {
  private record Row(float first, float second, float label) {}

  private static PairedMetrics.Result result(List<Row> rows) {
    PairedMetrics metrics = new PairedMetrics();
    rows.forEach(row -> metrics.add(row.first(), row.second(), row.label()));
    return metrics.result();
  }

  /** Two models that see the same thing in part; with few values there are ties. */
  private static List<Row> rows(int count, int values, double share, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      float label = random.nextInt(3) == 0 ? 1 : 0;
      double common = random.nextGaussian();
      double first = common + share * label + random.nextGaussian();
      double second = common + label + random.nextGaussian();
      rows.add(new Row(rounded(first, values), rounded(second, values), label));
    }
    return rows;
  }

  private static float rounded(double score, int values) {
    return Math.round(score * values / 4) * 4f / values;
  }

  private static double psi(float one, float zero) {
    return one > zero ? 1 : one == zero ? 0.5 : 0;
  }

  private static double mean(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum / values.length;
  }

  private static double covariance(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (a[i] - mean(a)) * (b[i] - mean(b));
    }
    return sum / (a.length - 1);
  }

  /** The structural components of DeLong over all pairs: of rows labelled 1, of rows labelled 0. */
  private static double[][] components(
      List<Row> ones, List<Row> zeros, ToDoubleFunction<Row> score) {
    double[] ofOnes = new double[ones.size()];
    double[] ofZeros = new double[zeros.size()];
    for (int i = 0; i < ones.size(); i++) {
      for (int j = 0; j < zeros.size(); j++) {
        double psi =
            psi(
                (float) score.applyAsDouble(ones.get(i)),
                (float) score.applyAsDouble(zeros.get(j)));
        ofOnes[i] += psi / zeros.size();
        ofZeros[j] += psi / ones.size();
      }
    }
    return new double[][] {ofOnes, ofZeros};
  }

  /** The formula of the paper: S = S10 / m + S01 / n, and the variance S11 + S22 - 2 S12. */
  @ParameterizedTest
  @ValueSource(ints = {4, 7, 20, 150})
  void aucsAndTheirDeviationAreThoseOfDeLongOverAllPairs(int count) {
    for (int values : new int[] {2, 5, 1 << 16}) {
      for (long seed = 1; seed <= 3; seed++) {
        List<Row> rows = rows(count, values, 0.6, seed);
        List<Row> ones = rows.stream().filter(row -> row.label() == 1).toList();
        List<Row> zeros = rows.stream().filter(row -> row.label() == 0).toList();
        if (ones.size() < 2 || zeros.size() < 2) {
          continue;
        }
        double[][] a = components(ones, zeros, Row::first);
        double[][] b = components(ones, zeros, Row::second);
        double first = covariance(a[0], a[0]) / ones.size() + covariance(a[1], a[1]) / zeros.size();
        double second =
            covariance(b[0], b[0]) / ones.size() + covariance(b[1], b[1]) / zeros.size();
        double both = covariance(a[0], b[0]) / ones.size() + covariance(a[1], b[1]) / zeros.size();
        double variance = Math.max(0, first + second - 2 * both);
        PairedMetrics.Difference auc = result(rows).auc();
        String as = "%d rows of %d values, seed %d".formatted(count, values, seed);
        assertThat(auc.first()).as(as).isCloseTo(mean(a[0]), within(1e-12));
        assertThat(auc.second()).as(as).isCloseTo(mean(b[0]), within(1e-12));
        assertThat(auc.value()).as(as).isCloseTo(mean(a[1]) - mean(b[1]), within(1e-12));
        assertThat(auc.deviation()).as(as).isCloseTo(Math.sqrt(variance), within(1e-8));
        assertThat((auc.high() - auc.low()) / 2)
            .as(as)
            .isCloseTo(1.959964 * auc.deviation(), within(1e-12));
      }
    }
  }

  @Test
  void figuresOfEachModelAreThoseOfItsOwnMetrics() {
    List<Row> rows = rows(500, 20, 0.5, 9);
    Metrics first = new Metrics();
    Metrics second = new Metrics();
    for (Row row : rows) {
      first.addLogit(row.first(), row.label(), 1, 0);
      second.addLogit(row.second(), row.label(), 1, 0);
    }
    PairedMetrics.Result result = result(rows);
    assertThat(result.rows()).isEqualTo(500);
    assertThat(result.positives()).isEqualTo(first.result().positives());
    assertThat(result.auc().first()).isEqualTo(first.result().auc());
    assertThat(result.auc().second()).isEqualTo(second.result().auc());
    assertThat(result.logLoss().first()).isCloseTo(first.result().logLoss(), within(1e-13));
    assertThat(result.logLoss().second()).isCloseTo(second.result().logLoss(), within(1e-13));
  }

  /** All pairs of a constant model tie. */
  @Test
  void besideAConstantModelTheDeviationIsThatOfTheAucAlone() {
    List<Row> rows = new ArrayList<>();
    Metrics alone = new Metrics();
    for (Row row : rows(400, 1 << 16, 1, 4)) {
      rows.add(new Row(row.first(), 0, row.label()));
      alone.addLogit(row.first(), row.label(), 1, 0);
    }
    PairedMetrics.Difference auc = result(rows).auc();
    assertThat(auc.second()).isEqualTo(0.5);
    assertThat(auc.deviation()).isCloseTo(alone.result().aucDeviation(), within(1e-13));
  }

  @Test
  void theDeviationOfTheLossIsThatOfTheRowsDifferences() {
    List<Row> rows = rows(200, 1 << 16, 0.5, 5);
    double[] differences =
        rows.stream()
            .mapToDouble(row -> loss(row.first(), row.label()) - loss(row.second(), row.label()))
            .toArray();
    PairedMetrics.Difference loss = result(rows).logLoss();
    assertThat(loss.value()).isCloseTo(mean(differences), within(1e-12));
    assertThat(loss.deviation())
        .isCloseTo(Math.sqrt(covariance(differences, differences) / 200), within(1e-12));
  }

  private static double loss(double logit, double label) {
    double probability = 1 / (1 + Math.exp(-logit));
    return -Math.log(label == 1 ? probability : 1 - probability);
  }

  /** Of pairs of equally good models a share of 5 percent must look different at 5 percent. */
  @Test
  void equallyGoodModelsDifferByChanceAsOftenAsThePValueSays() {
    int auc = 0;
    int loss = 0;
    int samples = 1500;
    for (int s = 0; s < samples; s++) {
      PairedMetrics.Result result = result(rows(150, 1 << 16, 1, 100 + s));
      auc += result.auc().pValue() < 0.05 ? 1 : 0;
      loss += result.logLoss().pValue() < 0.05 ? 1 : 0;
    }
    assertThat(auc / (double) samples).isBetween(0.03, 0.075);
    assertThat(loss / (double) samples).isBetween(0.03, 0.075);
  }

  /** Figures of rows that all have one weight, which is not taken for 1. */
  @Test
  void equalWeightsGiveTheFiguresOfRowsWithout() {
    for (int values : new int[] {5, 1 << 16}) {
      List<Row> rows = rows(300, values, 0.5, 11);
      PairedMetrics.Result expected = result(rows);
      PairedMetrics metrics = new PairedMetrics();
      rows.forEach(row -> metrics.add(row.first(), row.second(), row.label(), 2.5f));
      PairedMetrics.Result got = metrics.result();
      assertThat(got.rows()).isEqualTo(300);
      assertThat(got.positives()).isEqualTo(expected.positives());
      requireClose(got.auc(), expected.auc());
      requireClose(got.logLoss(), expected.logLoss());
      PairedMetrics ones = new PairedMetrics();
      rows.forEach(row -> ones.add(row.first(), row.second(), row.label(), 1));
      ones.add(0, 0, 1, 0);
      assertThat(ones.result()).isEqualTo(expected);
    }
  }

  private static void requireClose(
      PairedMetrics.Difference got, PairedMetrics.Difference expected) {
    assertThat(got.first()).isCloseTo(expected.first(), within(1e-12));
    assertThat(got.second()).isCloseTo(expected.second(), within(1e-12));
    assertThat(got.deviation()).isCloseTo(expected.deviation(), within(1e-12));
  }

  @Test
  void figuresOfWeightedRowsAreThoseOfEachModelsOwnMetrics() {
    SplittableRandom random = new SplittableRandom(12);
    Metrics first = new Metrics();
    Metrics second = new Metrics();
    PairedMetrics metrics = new PairedMetrics();
    for (Row row : rows(500, 20, 0.5, 13)) {
      float weight = random.nextInt(4);
      first.addLogit(row.first(), row.label(), weight, 0);
      second.addLogit(row.second(), row.label(), weight, 0);
      metrics.add(row.first(), row.second(), row.label(), weight);
    }
    PairedMetrics.Result got = metrics.result();
    assertThat(got.auc().first()).isCloseTo(first.result().auc(), within(1e-12));
    assertThat(got.auc().second()).isCloseTo(second.result().auc(), within(1e-12));
    assertThat(got.logLoss().first()).isCloseTo(first.result().logLoss(), within(1e-12));
    assertThat(got.logLoss().second()).isCloseTo(second.result().logLoss(), within(1e-12));
  }

  /** All pairs of a constant model tie. */
  @Test
  void besideAConstantModelTheDeviationOfWeightedRowsIsThatOfTheAucAlone() {
    SplittableRandom random = new SplittableRandom(14);
    Metrics alone = new Metrics();
    PairedMetrics metrics = new PairedMetrics();
    for (Row row : rows(400, 30, 1, 4)) {
      float weight = (float) random.nextDouble();
      alone.addLogit(row.first(), row.label(), weight, 0);
      metrics.add(row.first(), 0, row.label(), weight);
    }
    PairedMetrics.Difference auc = metrics.result().auc();
    assertThat(auc.second()).isCloseTo(0.5, within(1e-12));
    assertThat(auc.deviation()).isCloseTo(alone.result().aucDeviation(), within(1e-12));
  }

  /** Rows labelled 0 that were kept at a rate that depends on a score, with one over it. */
  @Test
  void equallyGoodModelsDifferByChanceAsOftenAsThePValueSaysWithWeights() {
    int auc = 0;
    int loss = 0;
    int samples = 1500;
    for (int s = 0; s < samples; s++) {
      SplittableRandom random = new SplittableRandom(5000 + s);
      PairedMetrics metrics = new PairedMetrics();
      for (Row row : rows(400, 1 << 16, 1, 200 + s)) {
        double kept = row.label() == 1 ? 1 : row.first() + row.second() > 0 ? 0.6 : 0.2;
        if (random.nextDouble() < kept) {
          metrics.add(row.first(), row.second(), row.label(), (float) (1 / kept));
        }
      }
      auc += metrics.result().auc().pValue() < 0.05 ? 1 : 0;
      loss += metrics.result().logLoss().pValue() < 0.05 ? 1 : 0;
    }
    assertThat(auc / (double) samples).isBetween(0.03, 0.075);
    assertThat(loss / (double) samples).isBetween(0.03, 0.075);
  }

  @Test
  void theVarianceOfAWeightedMeanByHand() {
    float[] none = new float[2];
    WeightedPairs.Rows rows = new WeightedPairs.Rows(none, none, new float[] {3, 1}, 2);
    assertThat(rows.mean(new double[] {1, 3})).isEqualTo(1.5);
    assertThat(rows.variance(new double[] {1, 3})).isEqualTo(0.5625);
  }

  @Test
  void weightedRowsThatDoNotTellGiveNoNumber() {
    PairedMetrics metrics = new PairedMetrics();
    metrics.add(1, 2, 1, 3);
    assertThat(metrics.result().auc().value()).isNaN();
    assertThat(metrics.result().logLoss().value())
        .isCloseTo(loss(1, 1) - loss(2, 1), within(1e-12));
    assertThat(metrics.result().logLoss().deviation()).isNaN();
    metrics.add(0, 3, 0, 2);
    assertThat(metrics.result().auc().first()).isEqualTo(1);
    assertThat(metrics.result().auc().deviation()).isNaN();
    for (float weight : new float[] {-1, Float.NaN, Float.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> metrics.add(1, 1, 1, weight))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the weight %s in row 2, expected a finite number", weight);
    }
  }

  @Test
  void aModelBesideItselfDoesNotDiffer() {
    List<Row> rows =
        rows(50, 9, 1, 3).stream()
            .map(row -> new Row(row.first(), row.first(), row.label()))
            .toList();
    for (PairedMetrics.Difference same : List.of(result(rows).auc(), result(rows).logLoss())) {
      assertThat(same.value()).isZero();
      assertThat(same.low()).isZero();
      assertThat(same.high()).isZero();
      assertThat(same.pValue()).isEqualTo(1);
    }
  }

  @Test
  void rowsThatDoNotTellGiveNoNumber() {
    PairedMetrics.Result none = result(List.of());
    assertThat(none.rows()).isZero();
    assertThat(none.auc().value()).isNaN();
    assertThat(none.auc().pValue()).isNaN();
    assertThat(none.logLoss().value()).isNaN();
    assertThat(none.logLoss().pValue()).isNaN();
    PairedMetrics.Result one = result(List.of(new Row(1, 2, 1)));
    assertThat(one.auc().value()).isNaN();
    assertThat(one.logLoss().value()).isCloseTo(loss(1, 1) - loss(2, 1), within(1e-12));
    assertThat(one.logLoss().pValue()).isNaN();
    PairedMetrics.Result two = result(List.of(new Row(1, 2, 1), new Row(0, 3, 0)));
    assertThat(two.auc().first()).isEqualTo(1);
    assertThat(two.auc().second()).isZero();
    assertThat(two.auc().deviation()).isNaN();
    assertThat(two.auc().pValue()).isNaN();
    PairedMetrics.Result ones = result(List.of(new Row(1, 2, 1), new Row(0, 3, 1)));
    assertThat(ones.auc().value()).isNaN();
    assertThat(ones.logLoss().pValue()).isBetween(0.0, 1.0);
  }

  @Test
  void infiniteScoresAreOrderedAndZerosAreEqual() {
    float inf = Float.POSITIVE_INFINITY;
    PairedMetrics.Result result =
        result(List.of(new Row(inf, -0.0f, 1), new Row(-inf, 0.0f, 0), new Row(-inf, -1, 0)));
    assertThat(result.auc().first()).isEqualTo(1);
    assertThat(result.auc().second()).isEqualTo(0.75);
    assertThat(result.logLoss().first()).isZero();
  }

  @Test
  void millionsOfRowsAreCountedExactly() {
    PairedMetrics metrics = new PairedMetrics();
    int count = 200_000;
    for (int i = 0; i < count; i++) {
      metrics.add(i / 4, -(i / 4), i % 2);
    }
    double groups = count / 4;
    double expected = (4 * groups * (groups - 1) / 2 + 2 * groups) / (4 * groups * groups);
    assertThat(metrics.result().auc().first()).isEqualTo(expected);
    assertThat(metrics.result().auc().second()).isCloseTo(1 - expected, within(1e-15));
  }

  @Test
  void rowsThatMeanNothingAreRefused() {
    PairedMetrics metrics = new PairedMetrics();
    metrics.add(1, 1, 1);
    for (Row row : List.of(new Row(Float.NaN, 0, 1), new Row(0, Float.NaN, 1), new Row(0, 0, 2))) {
      assertThatThrownBy(() -> metrics.add(row.first(), row.second(), row.label()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("in row 1, expected numbers, and 0 or 1");
    }
  }

  /** Values of a library of C. */
  @ParameterizedTest
  @CsvSource({
    "0, 1.0",
    "0.1, 0.920344325445942",
    "0.5, 0.6170750774519738",
    "1, 0.31731050786291415",
    "1.959964, 0.04999999819288482",
    "2.5, 0.012419330651552278",
    "2.83, 0.004654800413463109",
    "3, 0.0026997960632601913",
    "4, 6.334248366623993e-05",
    "5, 5.733031437583892e-07",
    "8, 1.2441921148543639e-15",
    "10, 1.5239706048321186e-23",
    "20, 5.507248237212663e-89"
  })
  void tailsOfTheNormalDistributionAreKnown(double z, double probability) {
    assertThat(NormalTail.bothSides(z)).isCloseTo(probability, within(3e-13 * probability));
    assertThat(NormalTail.bothSides(-z)).isEqualTo(NormalTail.bothSides(z));
  }

  @Test
  void tailsOfWhatIsNoNumberOrInfinite() {
    assertThat(NormalTail.bothSides(Double.NaN)).isNaN();
    assertThat(NormalTail.bothSides(Double.NEGATIVE_INFINITY)).isZero();
  }
}
