package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Rates of items beside a plain count of the gaps between them. */
final class ItemRatesTest {
  private static final Schema SCHEMA =
      new Schema(List.of("y"), List.of(), List.of(Slot.ragged("item")));

  private static Batch batch(long... ids) {
    Batch batch = new Batch(SCHEMA, ids.length);
    for (long id : ids) {
      batch.setLabel(0, 1);
      batch.addId(0, id);
      batch.endRow();
    }
    return batch;
  }

  /** Counts a batch; the rate of each row's item, and the numbers behind them. */
  private static float[] count(Device device, ItemRates rates, Batch batch) {
    return count(device, rates, batch, batch.size());
  }

  /** The same for a batch whose rows from {@code own} on are drawn items. */
  private static float[] count(Device device, ItemRates rates, Batch batch, int own) {
    int rows = batch.size();
    try (Variable numbers = Variable.zeros(device, "numbers", Shape.of(rows));
        Variable logs = Variable.zeros(device, "rates", Shape.of(rows))) {
      rates.count(batch, own, numbers.memory().address(), logs.memory().address());
      float[] result = new float[2 * rows];
      for (int row = 0; row < rows; row++) {
        result[row] = (float) Math.exp(logs.toArray()[row]);
        result[rows + row] = numbers.toArray()[row];
      }
      return result;
    }
  }

  @Test
  void theRateIsRowsABatchAndEqualItemsHaveOneNumber() {
    try (Device device = Device.cpu(1, 1L << 26)) {
      ItemRates rates = ItemRates.of(new Parameters(device, 1), SCHEMA, "item", Optional.empty());
      float[] first = count(device, rates, batch(5, 9, 5, 5));
      assertThat(first).containsExactly(new float[] {3, 1, 3, 3, 0, 1, 0, 0}, within(1e-5f));
      for (int i = 0; i < 3; i++) {
        count(device, rates, batch(1, 2));
      }
      // The gaps of 9 and 5 are 4 and twice 2; 7 is new after 5 batches.
      float[] later = count(device, rates, batch(9, 5, 5, 7));
      assertThat(later)
          .containsExactly(new float[] {0.25f, 0.5f, 0.5f, 0.2f, 0, 1, 1, 2}, within(1e-5f));
    }
  }

  @Test
  void ratesOfARandomStreamAreThoseOfThePlainCount() {
    record Plain(double gap, long seen, double gaps) {}
    Random random = new Random(6);
    Map<Long, Plain> plain = new HashMap<>();
    try (Device device = Device.cpu(1, 1L << 26)) {
      ItemRates rates = ItemRates.of(new Parameters(device, 1), SCHEMA, "item", Optional.empty());
      for (long step = 1; step <= 400; step++) {
        long[] ids = random.longs(64, 0, 1000).map(x -> x * x / 5000).toArray();
        float[] got = count(device, rates, batch(ids));
        Map<Long, Integer> counts = new HashMap<>();
        for (long id : ids) {
          counts.merge(id, 1, Integer::sum);
        }
        for (Map.Entry<Long, Integer> entry : counts.entrySet()) {
          int count = entry.getValue();
          Plain before = plain.get(entry.getKey());
          if (before == null) {
            plain.put(entry.getKey(), new Plain((double) step / count, step, 0));
            continue;
          }
          double all = Math.min(50, before.gaps() + count);
          double gap = (step - before.seen()) / (double) count;
          double counted = before.gaps() == 0 ? gap : Math.min(gap, 10 * before.gap());
          double mean = before.gap() + Math.min(1, count / all) * (counted - before.gap());
          plain.put(entry.getKey(), new Plain(mean, step, all));
        }
        for (int row = 0; row < ids.length; row++) {
          double expected = 1 / plain.get(ids[row]).gap();
          assertThat((double) got[row]).isCloseTo(expected, within(1e-3 * expected));
        }
      }
    }
  }

  @Test
  void anItemThatIsNewOrWasAwayForLongIsSoonKnown() {
    try (Device device = Device.cpu(1, 1L << 26)) {
      ItemRates rates = ItemRates.of(new Parameters(device, 1), SCHEMA, "item", Optional.empty());
      for (int i = 0; i < 5000; i++) {
        count(device, rates, i < 100 ? batch(1, 3) : batch(1));
      }
      float first = count(device, rates, batch(1, 2))[1];
      float second = count(device, rates, batch(1, 2))[1];
      assertThat(first).isCloseTo(1f / 5001, within(1e-6f));
      assertThat(second).isCloseTo(1, within(1e-5f));
      count(device, rates, batch(1, 3));
      float back = count(device, rates, batch(1, 3))[1];
      assertThat(back).isBetween(0.8f, 0.9f);
    }
  }

  @Test
  void clearedRatesBeginAnew() {
    try (Device device = Device.cpu(1, 1L << 26)) {
      ItemRates rates = ItemRates.of(new Parameters(device, 1), SCHEMA, "item", Optional.empty());
      float[] fresh = count(device, rates, batch(1, 2, 1));
      count(device, rates, batch(2, 2));
      rates.clear();
      assertThat(count(device, rates, batch(1, 2, 1))).isEqualTo(fresh);
    }
  }

  @Test
  void rowsWithoutAnItemShareANumberAndRowsWithTwoAreRefused() {
    Batch some = new Batch(SCHEMA, 3);
    for (int ids : new int[] {0, 1, 0}) {
      some.setLabel(0, 0);
      for (int i = 0; i < ids; i++) {
        some.addId(0, 4);
      }
      some.endRow();
    }
    Batch twice = new Batch(SCHEMA, 1);
    twice.setLabel(0, 0);
    twice.addId(0, 4);
    twice.addId(0, 5);
    twice.endRow();
    try (Device device = Device.cpu(1, 1L << 26)) {
      ItemRates rates = ItemRates.of(new Parameters(device, 1), SCHEMA, "item", Optional.empty());
      float[] got = count(device, rates, some);
      assertThat(new float[] {got[3], got[4], got[5]}).containsExactly(0, 1, 0);
      assertThatThrownBy(() -> count(device, rates, twice))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got 2 values of item in row 0 of a batch (the first are 4 and 5)");
      Parameters others = new Parameters(device, 1);
      assertThatThrownBy(() -> ItemRates.of(others, SCHEMA, "ad", Optional.empty()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got ad as the column that names items, expected one of");
    }
  }

  @Test
  void drawnItemsAreNotCountedAndRaiseTheRateOfAllItemsOfThePool() {
    try (Device device = Device.cpu(1, 1L << 26)) {
      Parameters parameters = new Parameters(device, 1);
      ItemPool pool =
          ItemPool.of(
              parameters,
              SCHEMA,
              PartColumns.without(List.of(), SCHEMA, "item", "user"),
              "item",
              new Matching.Sampled(6, 10));
      ItemRates rates = ItemRates.of(parameters, SCHEMA, "item", Optional.of(pool));
      ItemRates alone = ItemRates.of(new Parameters(device, 1), SCHEMA, "item", Optional.empty());
      count(device, rates, batch(5, 9, 5));
      count(device, alone, batch(5, 9, 5));
      for (int i = 0; i < 3; i++) {
        count(device, rates, batch(1));
        count(device, alone, batch(1));
      }
      // Three items are in the pool, so each is drawn twice a batch; 7 is not there yet.
      float[] got = count(device, rates, batch(9, 7, 5, 1, 5), 2);
      float[] without = count(device, alone, batch(9, 7));
      assertThat(got)
          .containsExactly(
              new float[] {
                without[0] + 2, without[1], 1 / 4f + 2, 1 + 2, 1 / 4f + 2, 0, 1, 2, 3, 2
              },
              within(1e-5f));
      assertThat(pool.size()).isEqualTo(4);
      // The gap of 5, whose rows came in batch 1, is over all 5 batches to here.
      float[] later = count(device, rates, batch(5));
      assertThat(later[0]).isCloseTo(count(device, alone, batch(5))[0] + 6 / 4f, within(1e-5f));
    }
  }
}
