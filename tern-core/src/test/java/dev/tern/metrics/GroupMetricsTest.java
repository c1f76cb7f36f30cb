package dev.tern.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Figures of groups beside examples by hand, and beside a plain count. */
final class GroupMetricsTest {
  private record Row(long group, float score, int label) {}

  private static GroupMetrics.Result result(int at, List<Row> rows) {
    GroupMetrics metrics = new GroupMetrics(at);
    rows.forEach(row -> metrics.add(row.group, row.score, row.label));
    return metrics.result();
  }

  @Test
  void figuresOfTwoGroupsByHand() {
    // Group 7: labels by score 0, 1, 0, 1. Group -3: 1, 0. Group 5 has one label alone.
    List<Row> rows =
        List.of(
            new Row(7, 0.9f, 0),
            new Row(-3, -0.5f, 0),
            new Row(7, 0.8f, 1),
            new Row(7, -0.2f, 1),
            new Row(5, 3, 0),
            new Row(7, 0.1f, 0),
            new Row(-3, 2, 1));
    GroupMetrics.Result result = result(2, rows);
    assertThat(result.counts().groups()).isEqualTo(3);
    assertThat(result.counts().mixed()).isEqualTo(2);
    assertThat(result.counts().positive()).isEqualTo(2);
    // AUC 1/4 of 4 rows with 2 positives, and 1 of 2 rows with 1 positive.
    assertThat(result.auc().byGroups()).isCloseTo((0.25 + 1) / 2, within(1e-12));
    assertThat(result.auc().byRows()).isCloseTo((4 * 0.25 + 2) / 6, within(1e-12));
    assertThat(result.auc().byPositives()).isCloseTo((2 * 0.25 + 1) / 3, within(1e-12));
    double second = 1 / (Math.log(3) / Math.log(2));
    assertThat(result.order().ndcg()).isCloseTo((second / (1 + second) + 1) / 2, within(1e-12));
    assertThat(result.order().recall()).isCloseTo((0.5 + 1) / 2, within(1e-12));
    assertThat(result.order().hitRate()).isEqualTo(1);
    assertThat(result.order().reciprocalRank()).isCloseTo((0.5 + 1) / 2, within(1e-12));
  }

  @Test
  void equalScoresCountHalfInAucAndAreOrderedAsBadlyAsPossible() {
    List<Row> rows = List.of(new Row(1, 0, 1), new Row(1, -0f, 0), new Row(1, 0, 0));
    GroupMetrics.Result result = result(1, rows);
    assertThat(result.auc().byGroups()).isEqualTo(0.5);
    assertThat(result.order().hitRate()).isZero();
    assertThat(result.order().reciprocalRank()).isCloseTo(1 / 3.0, within(1e-12));
  }

  @Test
  void randomRowsHaveTheFiguresOfAPlainCount() {
    Random random = new Random(6);
    for (int run = 0; run < 30; run++) {
      List<Row> rows = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        float score = random.nextBoolean() ? random.nextInt(5) - 2 : (float) random.nextGaussian();
        rows.add(
            new Row(random.nextLong(run + 2) * Long.MAX_VALUE / 40, score, random.nextInt(4) / 3));
      }
      GroupMetrics.Result expected = plain(3, rows);
      assertThat(result(3, rows)).isEqualTo(expected);
      Collections.shuffle(rows, random);
      assertThat(result(3, rows)).isEqualTo(expected);
    }
  }

  private static GroupMetrics.Result plain(int at, List<Row> rows) {
    Map<Long, List<Row>> groups = new TreeMap<>();
    rows.forEach(row -> groups.computeIfAbsent(row.group, _ -> new ArrayList<>()).add(row));
    double[] sums = new double[9];
    long mixed = 0;
    long positive = 0;
    for (List<Row> group : groups.values()) {
      group.sort(Comparator.<Row>comparingDouble(row -> -row.score).thenComparing(Row::label));
      long ones = group.stream().filter(row -> row.label == 1).count();
      if (ones == 0) {
        continue;
      }
      positive++;
      double wins = 0;
      for (Row one : group) {
        for (Row zero : group) {
          if (one.label == 1 && zero.label == 0) {
            wins += one.score > zero.score ? 1 : one.score == zero.score ? 0.5 : 0;
          }
        }
      }
      long zeros = group.size() - ones;
      if (zeros > 0) {
        double auc = wins / ((double) ones * zeros);
        mixed++;
        sums[0] += group.size();
        sums[1] += auc * group.size();
        sums[2] += ones;
        sums[3] += auc * ones;
        sums[4] += auc;
      }
      int[] labels = group.stream().mapToInt(Row::label).toArray();
      int[] best = labels.clone();
      Arrays.sort(best);
      double gain = 0;
      double ideal = 0;
      int found = 0;
      for (int rank = 1; rank <= Math.min(at, labels.length); rank++) {
        double share = Math.log(2) / Math.log(rank + 1.0);
        gain += labels[rank - 1] * share;
        ideal += best[best.length - rank] * share;
        found += labels[rank - 1];
      }
      sums[5] += gain / ideal;
      sums[6] += (double) found / ones;
      sums[7] += found > 0 ? 1 : 0;
      int first = 0;
      while (labels[first] == 0) {
        first++;
      }
      sums[8] += 1.0 / (first + 1);
    }
    return new GroupMetrics.Result(
        new GroupMetrics.Counts(groups.size(), mixed, positive),
        new GroupMetrics.Auc(sums[1] / sums[0], sums[3] / sums[2], sums[4] / mixed),
        new GroupMetrics.Order(
            sums[5] / positive, sums[6] / positive, sums[7] / positive, sums[8] / positive));
  }

  @Test
  void aWeightedRowHasTheFiguresOfSoManyRows() {
    Random random = new Random(7);
    for (int at : new int[] {1, 3, 10, 1000}) {
      GroupMetrics weighted = new GroupMetrics(at);
      List<Row> repeated = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        Row row = new Row(random.nextInt(12), random.nextInt(9), random.nextInt(4) / 3);
        int times = random.nextInt(5);
        weighted.add(row.group, row.score, row.label, times);
        repeated.addAll(Collections.nCopies(times, row));
      }
      requireClose(weighted.result(), result(at, repeated));
    }
  }

  private static void requireClose(GroupMetrics.Result got, GroupMetrics.Result expected) {
    assertThat(got.counts()).isEqualTo(expected.counts());
    double[] a = figures(got);
    double[] b = figures(expected);
    for (int i = 0; i < a.length; i++) {
      assertThat(a[i]).as("figure " + i).isCloseTo(b[i], within(1e-12));
    }
  }

  private static double[] figures(GroupMetrics.Result result) {
    GroupMetrics.Auc auc = result.auc();
    GroupMetrics.Order order = result.order();
    return new double[] {
      auc.byRows(),
      auc.byPositives(),
      auc.byGroups(),
      order.ndcg(),
      order.recall(),
      order.hitRate(),
      order.reciprocalRank()
    };
  }

  @Test
  void aPartOfARowTakesAPartOfAPlace() {
    // By score: label 0 of weight 1.5, label 1 of weight 1, label 0 of weight 2.
    GroupMetrics metrics = new GroupMetrics(2);
    metrics.add(1, 2, 1, 1);
    metrics.add(1, 3, 0, 1.5f);
    metrics.add(1, 1, 0, 2);
    metrics.add(2, 1, 1, 0);
    GroupMetrics.Result result = metrics.result();
    assertThat(result.counts()).isEqualTo(new GroupMetrics.Counts(1, 1, 1));
    assertThat(result.auc().byRows()).isCloseTo(2 / 3.5, within(1e-12));
    // Half of it is on place 2, whose gain is 1 / log2(3); the best gain is that of place 1.
    assertThat(result.order().ndcg()).isCloseTo(0.5 * Math.log(2) / Math.log(3), within(1e-12));
    assertThat(result.order().recall()).isEqualTo(0.5);
    assertThat(result.order().hitRate()).isEqualTo(1);
    assertThat(result.order().reciprocalRank()).isEqualTo(1 / 2.5);
  }

  @Test
  void weightsOfOneGiveTheFiguresOfRowsWithoutToTheBit() {
    GroupMetrics one = new GroupMetrics(3);
    List<Row> rows = new ArrayList<>();
    Random random = new Random(8);
    for (int i = 0; i < 2000; i++) {
      rows.add(new Row(random.nextInt(90), random.nextInt(50), random.nextInt(4) / 3));
      one.add(rows.get(i).group, rows.get(i).score, rows.get(i).label, 1);
    }
    assertThat(one.result()).isEqualTo(result(3, rows));
    one.add(0, 0, 1, 0);
    assertThat(one.result()).isEqualTo(result(3, rows));
    // A weight behind many rows without one counts them as they came.
    one.add(1000, 0, 1, 2);
    rows.add(new Row(1000, 0, 1));
    rows.add(new Row(1000, 0, 1));
    requireClose(one.result(), result(3, rows));
  }

  @Test
  void hugeAndTinyWeightsGiveFigures() {
    GroupMetrics metrics = new GroupMetrics(10);
    metrics.add(1, 2, 0, Float.MAX_VALUE);
    metrics.add(1, 1, 1, Float.MAX_VALUE);
    metrics.add(2, 2, 1, Float.MIN_VALUE);
    metrics.add(2, 1, 0, Float.MIN_VALUE);
    double[] expected = {0, 0, 0.5, 0.5, 0.5, 0.5, 0.5};
    assertThat(figures(metrics.result())).containsExactly(expected, within(1e-60));
  }

  @Test
  void withoutAGroupOfBothLabelsThereIsNoAuc() {
    GroupMetrics.Result none = result(10, List.of());
    assertThat(none.counts().groups()).isZero();
    assertThat(none.auc().byGroups()).isNaN();
    GroupMetrics.Result ones = result(10, List.of(new Row(1, 2, 1), new Row(2, 1, 0)));
    assertThat(ones.auc().byGroups()).isNaN();
    assertThat(ones.order().recall()).isEqualTo(1);
  }

  @Test
  void wrongRowsAreRefused() {
    GroupMetrics metrics = new GroupMetrics(1);
    assertThatThrownBy(() -> metrics.add(1, Float.NaN, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("in row 0, expected a number");
    assertThatThrownBy(() -> metrics.add(1, 1, 0.5f))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("label 0.5");
    for (float weight : new float[] {-1, Float.NaN, Float.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> metrics.add(1, 1, 1, weight))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got the weight %s in row 0, expected a finite number", weight);
    }
    GroupMetrics many = new GroupMetrics(Integer.MAX_VALUE);
    many.add(1, 1, 1);
    assertThat(many.result().order().recall()).isEqualTo(1);
    assertThatThrownBy(() -> many.add(1, 1, 1, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the first 2147483647 rows beside weights");
    assertThatThrownBy(() -> new GroupMetrics(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got the first 0 rows");
  }
}
