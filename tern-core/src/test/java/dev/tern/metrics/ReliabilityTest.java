package dev.tern.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.metrics.Reliability.Bin;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class ReliabilityTest {
  private record Row(float score, float label) {}

  private static Metrics ofLogits(List<Row> rows) {
    Metrics metrics = new Metrics();
    for (Row row : rows) {
      metrics.addLogit(row.score(), row.label(), 1, 0);
    }
    return metrics;
  }

  private static Metrics ofProbabilities(List<Row> rows) {
    Metrics metrics = new Metrics();
    for (Row row : rows) {
      metrics.addProbabilities(new float[] {row.score()}, new float[] {row.label()}, 1);
    }
    return metrics;
  }

  private static double sigmoid(double logit) {
    return 1 / (1 + Math.exp(-logit));
  }

  /** Puts each run of equal scores into the bin of its middle, row by row. */
  private static List<Bin> plain(List<Row> rows, int bins) {
    List<Row> sorted = rows.stream().sorted(Comparator.comparing(Row::score)).toList();
    List<List<Row>> cut = new ArrayList<>();
    for (int b = 0; b < bins; b++) {
      cut.add(new ArrayList<>());
    }
    for (Row row : sorted) {
      long below = sorted.stream().filter(other -> other.score() < row.score()).count();
      long same = sorted.stream().filter(other -> other.score() == row.score()).count();
      cut.get((int) ((2 * below + same) * bins / (2 * sorted.size()))).add(row);
    }
    return cut.stream()
        .filter(bin -> !bin.isEmpty())
        .map(bin ->
            new Bin(
                bin.size(),
                bin.stream().filter(row -> row.label() == 1).count(),
                bin.stream().mapToDouble(row -> sigmoid(row.score())).average().orElseThrow()))
        .toList();
  }

  private static double plainError(List<Bin> bins) {
    double sum = 0;
    long rows = 0;
    for (Bin bin : bins) {
      sum += Math.abs(bin.positives() - bin.rows() * bin.prediction());
      rows += bin.rows();
    }
    return sum / rows;
  }

  @Test
  void theBinsAreThoseOfAPlainCount() {
    for (int count : new int[] {1, 2, 3, 14, 15, 16, 400}) {
      for (int values : new int[] {1, 2, 9, 1 << 20}) {
        for (int bins : new int[] {1, 2, 15, 100}) {
          SplittableRandom random = new SplittableRandom(31L * count + values + bins);
          List<Row> rows = new ArrayList<>();
          for (int i = 0; i < count; i++) {
            float logit = (random.nextInt(values) - values / 2) * 4f / values;
            rows.add(new Row(logit, random.nextDouble() < sigmoid(logit) ? 1 : 0));
          }
          Reliability got = ofLogits(rows).reliability(bins);
          List<Bin> expected = plain(rows, bins);
          String as = "%d rows of %d values in %d bins".formatted(count, values, bins);
          assertThat(got.bins()).as(as).hasSameSizeAs(expected);
          for (int b = 0; b < expected.size(); b++) {
            assertThat(got.bins().get(b).rows()).as(as).isEqualTo(expected.get(b).rows());
            assertThat(got.bins().get(b).positives()).as(as).isEqualTo(expected.get(b).positives());
            assertThat(got.bins().get(b).prediction())
                .as(as)
                .isCloseTo(expected.get(b).prediction(), within(1e-12));
          }
          assertThat(got.error()).as(as).isCloseTo(plainError(expected), within(1e-12));
          assertThat(got.rows()).isEqualTo(count);
        }
      }
    }
  }

  @Test
  void theExampleOfTheDocumentationHolds() {
    List<Row> rows =
        List.of(new Row(0.6f, 1), new Row(0.9f, 0), new Row(0.1f, 0), new Row(0.2f, 0));
    Reliability got = ofProbabilities(rows).reliability(2);
    assertThat(got.bins()).hasSize(2);
    assertThat(got.bins().get(0).prediction()).isCloseTo(0.15, within(1e-7));
    assertThat(got.bins().get(1).prediction()).isCloseTo(0.75, within(1e-7));
    assertThat(got.bins().get(1).rate()).isEqualTo(0.5);
    assertThat(got.error()).isCloseTo(0.2, within(1e-7));
  }

  @Test
  void rowsOfEqualScoreAreOneBin() {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      rows.add(new Row(0.25f, i % 4 == 0 ? 1 : 0));
    }
    Reliability got = ofProbabilities(rows).reliability(15);
    assertThat(got.bins()).containsExactly(new Bin(100, 25, 0.25));
    assertThat(got.error()).isZero();
  }

  @Test
  void calibrationMayBeOneWhereTheErrorIsLarge() {
    Metrics metrics = ofProbabilities(List.of(new Row(0.25f, 1), new Row(0.75f, 0)));
    assertThat(metrics.result().calibration()).isEqualTo(1);
    assertThat(metrics.reliability(2).error()).isEqualTo(0.75);
    assertThat(metrics.reliability(1).error()).isZero();
  }

  @Test
  void binsDoNotDependOnTheOrderOfRows() {
    List<Row> rows = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 1000; i++) {
      rows.add(new Row((float) random.nextGaussian(), random.nextInt(2)));
    }
    assertThat(ofLogits(rows.reversed()).reliability(15)).isEqualTo(ofLogits(rows).reliability(15));
  }

  @Test
  void aRowOfAWeightStandsForSoManyRowsAndASoftLabelForItsShare() {
    SplittableRandom random = new SplittableRandom(8);
    Metrics soft = Metrics.ofSoftLabels();
    Metrics plain = new Metrics();
    for (int i = 0; i < 200; i++) {
      float logit = random.nextInt(40) / 10f - 2;
      int views = 1 + random.nextInt(6);
      int clicks = random.nextInt(views + 1);
      soft.addLogit(logit, (float) clicks / views, views, 0);
      for (int view = 0; view < views; view++) {
        plain.addLogit(logit, view < clicks ? 1 : 0, 1, 0);
      }
    }
    Reliability got = soft.reliability(15);
    Reliability expected = plain.reliability(15);
    assertThat(got.bins()).hasSameSizeAs(expected.bins());
    for (int b = 0; b < expected.bins().size(); b++) {
      Bin bin = expected.bins().get(b);
      assertThat(got.bins().get(b).rows()).isCloseTo(bin.rows(), within(1e-3));
      assertThat(got.bins().get(b).positives()).isCloseTo(bin.positives(), within(1e-3));
      assertThat(got.bins().get(b).prediction()).isCloseTo(bin.prediction(), within(1e-5));
    }
    assertThat(got.error()).isCloseTo(expected.error(), within(1e-5));
  }

  @Test
  void noRowsHaveNoBinsAndNoError() {
    Reliability none = new Metrics().reliability(15);
    assertThat(none.bins()).isEmpty();
    assertThat(none.error()).isNaN();
  }

  @Test
  void infiniteLogitsAreCertainties() {
    float inf = Float.POSITIVE_INFINITY;
    Reliability got =
        ofLogits(List.of(new Row(inf, 1), new Row(-inf, 0), new Row(inf, 0))).reliability(2);
    assertThat(got.bins()).containsExactly(new Bin(1, 0, 0), new Bin(2, 1, 1));
    assertThat(got.error()).isCloseTo(1.0 / 3, within(1e-15));
  }

  /** The ends of Wilson's interval are the rates p with |rate - p| = z sqrt(p (1 - p) / rows). */
  @Test
  void theIntervalOfARateIsThatOfWilson() {
    for (long rows : new long[] {1, 2, 10, 1000}) {
      for (long positives = 0; positives <= rows; positives += Math.max(1, rows / 7)) {
        Bin bin = new Bin(rows, positives, 0.5);
        for (double end : new double[] {bin.low(), bin.high()}) {
          assertThat(Math.abs(bin.rate() - end))
              .as("%d of %d", positives, rows)
              .isCloseTo(1.959964 * Math.sqrt(end * (1 - end) / rows), within(1e-9));
        }
        assertThat(bin.low()).isLessThanOrEqualTo(bin.rate()).isNotNegative();
        assertThat(bin.high()).isGreaterThanOrEqualTo(bin.rate()).isLessThanOrEqualTo(1);
      }
    }
    assertThat(new Bin(10, 1, 0).low()).isCloseTo(0.018, within(5e-4));
    assertThat(new Bin(10, 1, 0).high()).isCloseTo(0.404, within(5e-4));
  }

  @Test
  void intervalsHoldTheTrueRateInAbout95Of100Samples() {
    SplittableRandom random = new SplittableRandom(6);
    int held = 0;
    for (int s = 0; s < 2000; s++) {
      long positives = 0;
      for (int i = 0; i < 200; i++) {
        positives += random.nextInt(10) == 0 ? 1 : 0;
      }
      Bin bin = new Bin(200, positives, 0);
      held += bin.low() <= 0.1 && 0.1 <= bin.high() ? 1 : 0;
    }
    assertThat(held / 2000.0).isBetween(0.93, 0.97);
  }

  @Test
  void aNumberOfBinsOutOfRangeIsRefused() {
    for (int bins : new int[] {0, -1, 10_001}) {
      assertThatThrownBy(() -> new Metrics().reliability(bins))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("reliability: got " + bins + " bins, expected 1 to 10000; 15 are usual");
    }
  }

  @Test
  void scoresOfTwoKindsAreRefusedUntilRowsAreForgotten() {
    Metrics metrics = ofProbabilities(List.of(new Row(0.5f, 1)));
    metrics.addLogits(new float[] {0.5f}, new float[] {1}, 1);
    assertThatThrownBy(() -> metrics.reliability(15))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("expected one of both");
    metrics.clear();
    metrics.addLogits(new float[] {0}, new float[] {1}, 1);
    assertThat(metrics.reliability(15).bins()).containsExactly(new Bin(1, 1, 0.5));
  }
}
