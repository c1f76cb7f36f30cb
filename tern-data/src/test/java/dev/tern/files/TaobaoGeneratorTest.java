package dev.tern.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Rows with sequences whose labels are drawn from a known model. */
final class TaobaoGeneratorTest {
  private static final long ALL = 1L << 40;

  /** Of labels that were drawn before there was an affinity. */
  private static final int DIGEST = -1450613247;

  private static Batch rows(TaobaoGenerator generator, long first, int count) {
    Batch all = new Batch(generator.schema(), count);
    try (DataReader reader = generator.open(first, count)) {
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          all.appendRows(batch, 0, batch.size());
        }
      }
    }
    return all;
  }

  private static List<Long> ids(Batch batch, int slot, int row) {
    List<Long> ids = new ArrayList<>();
    for (int i = batch.offsets(slot)[row]; i < batch.offsets(slot)[row + 1]; i++) {
      ids.add(batch.ids(slot)[i]);
    }
    return ids;
  }

  @Test
  void aRowDependsOnItsNumberAlone() {
    TaobaoGenerator generator = TaobaoGenerator.of(3, 0.001, ALL);
    Batch all = rows(generator, 0, 300);
    Batch some = rows(TaobaoGenerator.of(3, 0.001, ALL), 100, 50);
    for (int row = 0; row < 50; row++) {
      for (int slot = 0; slot < 5; slot++) {
        assertThat(ids(some, slot, row)).isEqualTo(ids(all, slot, row + 100));
      }
      assertThat(some.labels()[2 * row]).isEqualTo(all.labels()[2 * (row + 100)]);
    }
    assertThat(ids(rows(TaobaoGenerator.of(4, 0.001, ALL), 0, 1), 3, 0))
        .isNotEqualTo(ids(all, 3, 0));
  }

  @Test
  void historiesHaveOneLengthAndAnItemHasOneCategory() {
    Batch batch = rows(TaobaoGenerator.of(1, 0.001, ALL), 0, 2000);
    Map<Long, Long> categories = new HashMap<>();
    int empty = 0;
    int longest = 0;
    for (int row = 0; row < batch.size(); row++) {
      List<Long> items = ids(batch, 3, row);
      List<Long> kinds = ids(batch, 4, row);
      assertThat(items).hasSameSizeAs(kinds);
      for (int i = 0; i < items.size(); i++) {
        assertThat(categories.computeIfAbsent(items.get(i), _ -> -1L)).isIn(-1L, kinds.get(i));
        categories.put(items.get(i), kinds.get(i));
      }
      empty += items.isEmpty() ? 1 : 0;
      longest = Math.max(longest, items.size());
      boolean click = batch.labels()[2 * row] == 1;
      assertThat(batch.labels()[2 * row + 1]).isIn(click ? List.of(0f, 1f) : List.of(0f));
    }
    assertThat(longest).isEqualTo(50);
    assertThat(empty).isBetween(150, 250);
    assertThat(batch.dense()[0]).isZero();
  }

  @Test
  void theOptimumIsThatOfTheTrueProbabilities() {
    TaobaoGenerator generator = TaobaoGenerator.of(1, 0.001, ALL);
    Batch batch = rows(generator, 500, 4000);
    int clicks = 0;
    int purchases = 0;
    for (int row = 0; row < batch.size(); row++) {
      clicks += (int) batch.labels()[2 * row];
      purchases += (int) batch.labels()[2 * row + 1];
    }
    Optimum click = generator.optimum(0, 500, 4000, done -> {});
    Optimum buy = generator.optimum(1, 500, 4000, done -> {});
    assertThat(click.rows()).isEqualTo(4000);
    assertThat(click.positiveRate()).isCloseTo(clicks / 4000.0, within(1e-9));
    assertThat(click.auc()).isBetween(0.80, 0.86);
    assertThat(buy.rows()).isEqualTo(clicks);
    assertThat(buy.positiveRate()).isCloseTo((double) purchases / clicks, within(1e-9));
    assertThat(buy.auc()).isBetween(0.65, 0.75);
    Map<String, Optimum> both = new LinkedHashMap<>();
    both.put("click", click);
    both.put("buy", buy);
    assertThat(Optimum.toJson(both)).contains("\"click\" : {", "\"rows\" : 4000", "\"buy\" : {");
  }

  /** How much more often clicked rows of a high click rate are bought than those of a low one. */
  private static double purchasesByRate(double affinity) {
    TaobaoTeacher teacher = new TaobaoTeacher(1, 0.001, ALL, affinity);
    TaobaoTeacher.Row row = new TaobaoTeacher.Row();
    int[] rows = new int[2];
    int[] purchases = new int[2];
    for (int number = 0; number < 40_000; number++) {
      teacher.draw(number, row);
      if (teacher.clicks(number, row)) {
        int half = row.clickRate < 0.45 ? 0 : 1;
        rows[half]++;
        purchases[half] += teacher.buys(number, row) ? 1 : 0;
      }
    }
    return (double) purchases[1] / rows[1] - (double) purchases[0] / rows[0];
  }

  @Test
  void purchasesDependOnWhatDrawsClicksAsFarAsAffinitySays() {
    assertThat(purchasesByRate(0)).isBetween(0.05, 0.2);
    assertThat(purchasesByRate(1)).isBetween(0.35, 0.5);
    assertThat(purchasesByRate(2)).isBetween(0.55, 0.75);
  }

  @Test
  void affinityChangesPurchasesAloneAndTheirOptimum() {
    TaobaoGenerator apart = TaobaoGenerator.of(1, 0.001, ALL);
    TaobaoGenerator related = apart.withAffinity(1);
    Batch left = rows(apart, 0, 2000);
    Batch right = rows(related, 0, 2000);
    int changed = 0;
    for (int row = 0; row < 2000; row++) {
      assertThat(right.labels()[2 * row]).isEqualTo(left.labels()[2 * row]);
      changed += right.labels()[2 * row + 1] == left.labels()[2 * row + 1] ? 0 : 1;
      for (int slot = 0; slot < 5; slot++) {
        assertThat(ids(right, slot, row)).isEqualTo(ids(left, slot, row));
      }
    }
    assertThat(right.dense()).startsWith(left.dense());
    assertThat(changed).isBetween(50, 200);
    assertThat(related.optimum(0, 0, 4000, done -> {}).auc())
        .isEqualTo(apart.optimum(0, 0, 4000, done -> {}).auc());
    Optimum optimum = related.optimum(1, 0, 4000, done -> {});
    assertThat(optimum.auc()).isBetween(0.80, 0.88);
    assertThat(optimum.positiveRate()).isBetween(0.38, 0.48);
  }

  @Test
  void withoutAffinityRowsAreThoseOfEarlierVersions() {
    Batch batch = rows(TaobaoGenerator.of(1, 0.001, ALL), 0, 1000);
    assertThat(Arrays.hashCode(Arrays.copyOf(batch.labels(), 2000))).isEqualTo(DIGEST);
    Batch same = rows(TaobaoGenerator.of(1, 0.001, ALL).withAffinity(0), 0, 1000);
    assertThat(same.labels()).isEqualTo(batch.labels());
  }

  @Test
  void eachDayReplacesOneInTwentyItems() {
    TaobaoGenerator generator = TaobaoGenerator.of(1, 0.001, 3000);
    List<Set<Long>> days = new ArrayList<>();
    for (int day = 0; day < 21; day++) {
      Batch batch = rows(generator, 3000L * day, 3000);
      assertThat(batch.dense()[0]).isEqualTo(day);
      Set<Long> items = new HashSet<>();
      for (int i = 0; i < batch.idCount(3); i++) {
        items.add(batch.ids(3)[i]);
      }
      days.add(items);
    }
    Set<Long> left = new HashSet<>(days.get(0));
    left.retainAll(days.get(1));
    double all = days.get(0).size();
    assertThat(left.size() / all).isBetween(0.85, 0.96);
    left.retainAll(days.get(20));
    assertThat(left).isEmpty();
  }

  @Test
  void worldsOfImpossibleSizesAreRefused() {
    assertThatThrownBy(() -> TaobaoGenerator.of(1, 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got scale 0.0");
    assertThatThrownBy(() -> TaobaoGenerator.of(1, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got 0 rows a day");
    assertThatThrownBy(() -> TaobaoGenerator.of(1, 1, 1).open(-1, 5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("from row -1");
    for (double affinity : new double[] {-0.1, 10.1, Double.NaN}) {
      assertThatThrownBy(() -> TaobaoGenerator.of(1, 1, 1).withAffinity(affinity))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got affinity " + affinity);
    }
  }
}
