package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.data.DataReader;
import dev.tern.files.Rows.Row;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CriteoGeneratorTest {
  private static List<Row> rows(CriteoGenerator generator, long first, long count) {
    try (DataReader reader = generator.open(first, count)) {
      return Rows.read(reader);
    }
  }

  @Test
  void aRowDependsOnSeedScaleAndItsNumberAlone() {
    List<Row> all = rows(CriteoGenerator.of(3, 0.01), 0, 5000);
    assertThat(rows(CriteoGenerator.of(3, 0.01), 4200, 800)).isEqualTo(all.subList(4200, 5000));
    try (DataReader reader = CriteoGenerator.of(3, 0.01).open(0, 5000)) {
      assertThat(reader.skip(4200)).isEqualTo(4200);
      assertThat(Rows.read(reader)).isEqualTo(all.subList(4200, 5000));
    }
    assertThat(rows(CriteoGenerator.of(4, 0.01), 0, 10)).doesNotContainAnyElementsOf(all);
  }

  @Test
  void theOptimumIsThatOfTheTrueProbabilities() {
    CriteoGenerator generator = CriteoGenerator.of(5, 0.001);
    List<Row> rows = rows(generator, 100, 700);
    double loss = 0;
    double ordered = 0;
    double pairs = 0;
    for (int i = 0; i < rows.size(); i++) {
      double p = generator.probability(100 + i);
      boolean positive = rows.get(i).labels().getFirst() == 1;
      loss -= Math.log(positive ? p : 1 - p);
      for (int j = 0; positive && j < rows.size(); j++) {
        if (rows.get(j).labels().getFirst() == 0) {
          double q = generator.probability(100 + j);
          pairs++;
          ordered += q < p ? 1 : q == p ? 0.5 : 0;
        }
      }
    }
    Optimum optimum = generator.optimum(0, 100, 700, done -> {});
    assertThat(optimum.rows()).isEqualTo(700);
    assertThat(optimum.auc()).isCloseTo(ordered / pairs, within(1e-12));
    assertThat(optimum.logLoss()).isCloseTo(loss / 700, within(1e-12));
    assertThat(Optimum.toJson(Map.of("label", optimum)))
        .contains("\"rows\" : 700", "\"auc\" : " + optimum.auc());
  }

  @Test
  void labelsFollowTheirProbabilities() {
    CriteoGenerator generator = CriteoGenerator.of(6, 0.01);
    List<Row> rows = rows(generator, 0, 20_000);
    double excess = 0;
    double variance = 0;
    for (int i = 0; i < rows.size(); i++) {
      double p = generator.probability(i);
      excess += rows.get(i).labels().getFirst() - p;
      variance += p * (1 - p);
    }
    assertThat(excess / Math.sqrt(variance)).isBetween(-4.0, 4.0);
    Optimum optimum = generator.optimum(0, 0, 20_000, done -> {});
    assertThat(optimum.auc()).isCloseTo(0.80, within(0.015));
    assertThat(optimum.positiveRate()).isCloseTo(0.25, within(0.015));
  }

  @Test
  void idsOfSlotsAreDistinctAndFrequentOnesCarryMostRows() {
    CriteoGenerator generator = CriteoGenerator.of(7, 0.01);
    int[] cardinalities = generator.cardinalities();
    List<Row> rows = rows(generator, 0, 5000);
    long first = 0;
    for (int slot = 0; slot < 26; slot++) {
      int s = slot;
      long start = first;
      long end = first + cardinalities[slot];
      assertThat(rows).allMatch(row -> row.ids().get(s).size() == 1);
      assertThat(rows)
          .allMatch(
              row -> row.ids().get(s).getFirst() >= start && row.ids().get(s).getFirst() < end);
      long head = rows.stream().filter(row -> row.ids().get(s).getFirst() < start + 10).count();
      assertThat(head).as("C" + (slot + 1)).isGreaterThan(1500);
      first = end;
    }
    assertThat(CriteoGenerator.of(7, 1).cardinalities()).startsWith(1460, 583, 10_131_227);
  }

  @Test
  void aSetOfOneLabelHasNoAuc() {
    Optimum none = CriteoGenerator.of(1, 0.01).optimum(0, 0, 0, done -> {});
    assertThat(none.auc()).isNaN();
    assertThat(Optimum.toJson(Map.of("label", none))).contains("\"auc\" : null");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, 100.5, Double.NaN})
  void aScaleOutOfRangeIsRefused(double scale) {
    assertThatThrownBy(() -> CriteoGenerator.of(1, scale))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected above 0 to 100");
  }
}
