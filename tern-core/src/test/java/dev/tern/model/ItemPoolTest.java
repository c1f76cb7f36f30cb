package dev.tern.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.nn.Parameters;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Items that are drawn come with the columns that they were added with. */
final class ItemPoolTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("y"),
          List.of("age", "price"),
          List.of(
              Slot.oneHot("user"),
              new Slot("tags", 0, "tags", true),
              Slot.oneHot("item"),
              Slot.ragged("kinds")));

  private static final PartColumns COLUMNS =
      PartColumns.ofItems(SCHEMA, List.of("item", "tags", "kinds", "price"));

  private static ItemPool pool(Parameters parameters, int negatives, int most) {
    Matching.Sampled sampled = new Matching.Sampled(negatives, most);
    return ItemPool.of(parameters, SCHEMA, COLUMNS, "item", sampled);
  }

  /** A row of a user with an item, whose other columns follow from its id. */
  private static Batch row(long item) {
    Batch batch = new Batch(SCHEMA, 1);
    batch.setLabel(0, 1);
    batch.setDense(0, 33);
    batch.setDense(1, price(item));
    batch.addId(0, 77);
    batch.addId(2, item);
    for (int i = 0; i < tags(item); i++) {
      batch.addId(1, item * i, 0.1f + i);
      batch.addId(3, ~item - i);
    }
    batch.endRow();
    return batch;
  }

  private static float price(long item) {
    return (float) Math.sin(item);
  }

  private static int tags(long item) {
    return (int) Math.floorMod(item, 5L);
  }

  private static Batch drawn(ItemPool pool, long seed) {
    Batch to = new Batch(SCHEMA, 1);
    pool.draw(to, seed);
    return to;
  }

  /** The items of all rows, each with its own columns. */
  private static long[] items(Batch drawn) {
    long[] items = drawn.ids(2).clone();
    for (int row = 0; row < drawn.size(); row++) {
      long item = items[row];
      Batch expected = row(item);
      assertThat(drawn.idCount(2, row)).isEqualTo(1);
      assertThat(drawn.labels()[row]).isZero();
      assertThat(drawn.dense()[2 * row]).as("a number of the user").isZero();
      assertThat(drawn.idCount(0, row)).as("the user").isZero();
      assertThat(drawn.dense()[2 * row + 1]).isEqualTo(price(item));
      for (int slot : new int[] {1, 3}) {
        int from = drawn.offsets(slot)[row];
        int to = drawn.offsets(slot)[row + 1];
        assertThat(Arrays.copyOfRange(drawn.ids(slot), from, to))
            .isEqualTo(Arrays.copyOf(expected.ids(slot), tags(item)));
        if (slot == 1) {
          assertThat(Arrays.copyOfRange(drawn.weights(slot), from, to))
              .isEqualTo(Arrays.copyOf(expected.weights(slot), tags(item)));
        }
      }
    }
    return Arrays.copyOf(items, drawn.size());
  }

  private static final long[] FAR = {
    0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 22, (1L << 44) - 1, 0x0123_4567_89AB_CDEFL
  };

  @Test
  void drawnItemsHaveTheColumnsThatTheyCameWith() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      ItemPool pool = pool(new Parameters(device, 1), 400, 50);
      for (long item : FAR) {
        pool.add(row(item), 0, item);
      }
      pool.add(row(5), 0, 1); // 1 is there already, and stays as it is.
      Map<Long, Integer> counts = new HashMap<>();
      for (long item : items(drawn(pool, 9))) {
        counts.merge(item, 1, Integer::sum);
      }
      assertThat(counts.keySet())
          .containsExactlyInAnyOrder(Arrays.stream(FAR).boxed().toArray(Long[]::new));
      assertThat(counts.values()).allMatch(count -> count > 25 && count < 85);
      assertThat(pool.share(1)).isEqualTo(400 / 8f);
      assertThat(pool.share(2)).isZero();
      assertThat(items(drawn(pool, 9))).isEqualTo(items(drawn(pool, 9)));
      assertThat(items(drawn(pool, 9))).isNotEqualTo(items(drawn(pool, 10)));
    }
  }

  @Test
  void theLastItemsThatWereNewAreKept() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      ItemPool pool = pool(new Parameters(device, 1), 200, 7);
      for (long item = 0; item < 1000; item++) {
        pool.add(row(item * item), 0, item * item);
        pool.add(row(item * item), 0, item * item);
        Set<Long> kept = new HashSet<>();
        for (long last = item; last >= 0 && last > item - pool.size(); last--) {
          kept.add(last * last);
        }
        assertThat(pool.size()).isEqualTo((int) Math.min(item + 1, 7));
        if (item % 50 < 3) {
          assertThat(Arrays.stream(items(drawn(pool, item))).boxed().toList())
              .allMatch(kept::contains);
        }
      }
    }
  }

  @Test
  void aRestoredPoolDrawsTheSameAndGoesOnAlike() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 1);
      ItemPool pool = pool(parameters, 30, 7);
      Parameters others = new Parameters(device, 1);
      ItemPool restored = pool(others, 30, 7);
      for (long item = 0; item < 12; item++) {
        pool.add(row(item), 0, item);
      }
      others.statistics().getFirst().set(parameters.statistics().getFirst().toArray());
      for (long item = 12; item < 40; item++) {
        assertThat(items(drawn(restored, item))).isEqualTo(items(drawn(pool, item)));
        pool.add(row(item), 0, item);
        restored.add(row(item), 0, item);
        assertThat(others.statistics().getFirst().toArray())
            .isEqualTo(parameters.statistics().getFirst().toArray());
      }
      pool.clear();
      assertThat(pool.size()).isZero();
      assertThat(pool.share(39)).isZero();
      assertThat(parameters.statistics().getFirst().toArray()).containsOnly(0);
    }
  }

  @Test
  void aRowWithoutAnItemIsOneToo() {
    Batch none = new Batch(SCHEMA, 1);
    none.setLabel(0, 0);
    none.setDense(0, 1);
    none.setDense(1, 2);
    none.endRow();
    try (Device device = Device.cpu(1, 1L << 24)) {
      ItemPool pool = pool(new Parameters(device, 1), 3, 1);
      pool.add(none, 0, ItemPool.NO_ITEM);
      pool.add(none, 0, ItemPool.NO_ITEM);
      assertThat(pool.size()).isEqualTo(1);
      Batch drawn = drawn(pool, 1);
      assertThat(drawn.idCount(2)).isZero();
      assertThat(drawn.dense()).startsWith(0, 2, 0, 2, 0, 2);
      pool.add(row(4), 0, 4);
      assertThat(items(drawn(pool, 1))).containsOnly(4);
    }
  }

  @Test
  void damagedMemoryIsAnError() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 1);
      ItemPool pool = pool(parameters, 3, 5);
      for (long item = 0; item < 4; item++) {
        pool.add(row(item), 0, item);
      }
      float[] sound = parameters.statistics().getFirst().toArray();
      for (float value : new float[] {-1, 0.5f, 7, 1e9f, -1e9f, 3e38f}) {
        for (int at = 0; at < 5; at++) {
          float[] damaged = sound.clone();
          damaged[at] = value;
          if (at < 4 && (int) value == (int) sound[at]) {
            continue;
          }
          Parameters others = new Parameters(device, 1);
          ItemPool restored = pool(others, 3, 5);
          Variable memory = others.statistics().getFirst();
          memory.set(damaged);
          if (at != 4) { // That is a part of an id.
            for (int again = 0; again < 2; again++) {
              assertThatThrownBy(() -> restored.share(1))
                  .as("%s at %d", value, at)
                  .isInstanceOf(DataException.class)
                  .hasMessageContaining("items.pool: got");
            }
          }
        }
      }
    }
  }

  @Test
  void aPoolThatIsTooLargeOrTooSmallIsRefused() {
    try (Device device = Device.cpu(1, 1L << 24)) {
      Parameters parameters = new Parameters(device, 1);
      assertThatThrownBy(() -> pool(parameters, 1, 1 << 20))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got a pool of 1,048,576 items of 35 floats, expected 16,777,216")
          .hasMessageContaining("take a pool of 479,349 items");
      ItemPool small = pool(parameters, 1, 1);
      Batch wide = new Batch(SCHEMA, 1);
      wide.setLabel(0, 0);
      wide.setDense(0, 0);
      wide.setDense(1, 0);
      for (int i = 0; i < 12; i++) {
        wide.addId(3, i);
      }
      wide.endRow();
      assertThatThrownBy(() -> small.add(wide, 0, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("in row 0 of a batch, expected the 35 of the pool at most");
    }
    assertThatThrownBy(() -> new Matching.Sampled(-1, 5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got -1 negatives of a pool of 5 items");
  }
}
